/** The filter of the sign-ins, and its forms in the address, in GraphQL and on the command line. */

import type { Call } from '../../actions/action.ts';

export const methodLabels = {
  PASSWORD: 'Password',
  SINGLE_SIGN_ON: 'Single sign-on',
  PASSKEY: 'Passkey',
  API_KEY: 'API key',
} as const;

export const resultLabels = {
  SUCCESS: 'Success',
  WRONG_CREDENTIALS: 'Wrong credentials',
  SECOND_FACTOR_REQUIRED: 'Second factor missing',
  WRONG_SECOND_FACTOR: 'Wrong second factor',
  THROTTLED: 'Too many attempts',
  DISABLED: 'User disabled',
  REFUSED: 'Refused',
} as const;

export type SignInMethod = keyof typeof methodLabels;
export type SignInResult = keyof typeof resultLabels;

export interface SignInFilter {
  readonly userId?: string;
  readonly method?: SignInMethod;
  /** `FAILED` selects every result except `SUCCESS`. */
  readonly result?: SignInResult | 'FAILED';
  readonly from?: string;
  readonly until?: string;
}

export const allMethods = Object.keys(methodLabels) as SignInMethod[];
export const allResults = Object.keys(resultLabels) as SignInResult[];
const failures = allResults.filter((result) => result !== 'SUCCESS');

/** Ignores values in the address that are not valid. */
export function readFilter(query: URLSearchParams): SignInFilter {
  const method = allMethods.find((each) => formatName(each) === query.get('method'));
  const result = (['FAILED', ...allResults] as const).find(
    (each) => formatName(each) === query.get('result'),
  );
  const values = {
    userId: query.get('user'),
    method,
    result,
    from: timeIn(query.get('from')),
    until: timeIn(query.get('until')),
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value));
}

/** Returns the argument of `setQuery`. Missing fields become null, which removes them from the address. */
export function toQuery({
  userId,
  method,
  result,
  from,
  until,
}: SignInFilter): Record<string, string | null> {
  return {
    user: userId ?? null,
    method: method ? formatName(method) : null,
    result: result ? formatName(result) : null,
    from: from ?? null,
    until: until ?? null,
  };
}

/** Returns the filter of the schema. */
export function toGraphFilter({ method, result, ...others }: SignInFilter) {
  return {
    ...others,
    ...(method && { methods: [method] }),
    ...(result && { results: result === 'FAILED' ? failures : [result] }),
  };
}

/** Returns the arguments of `espalier` that print the same sign-ins. */
export function createSignInArguments({ userId, method, result, from, until }: SignInFilter): string[] {
  const flag = (name: string, value: string | undefined) => (value === undefined ? [] : [`--${name}`, value]);
  return [
    'sign-in',
    'ls',
    ...(userId === undefined ? ['--all'] : ['--user', `id:${userId}`]),
    ...flag('method', method && formatName(method)),
    ...(result === 'FAILED' ? ['--failed'] : flag('result', result && formatName(result))),
    ...flag('from', from),
    ...flag('until', until),
  ];
}

/** Returns the query for "copy as". */
export function createSignInCall(filter: SignInFilter): Call {
  const variables = { filter: toGraphFilter(filter), first: 50 };
  const action: Call<typeof variables>['action'] = {
    label: 'List sign-ins',
    document: /* GraphQL */ `
      query ($filter: SignInFilter, $first: Int, $after: String) {
        signIns(filter: $filter, first: $first, after: $after) {
          items {
            at
            username
            method
            result
            count
            lastAt
            address
            agent
            detail
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    `,
    cliArguments: () => createSignInArguments(filter),
  };
  return { action, variables };
}

/** Formats a value for the address and the command line, for example `wrong-credentials`. */
function formatName(value: string): string {
  return value.toLowerCase().replaceAll('_', '-');
}

function timeIn(text: string | null): string | undefined {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}
