/** `espalier sign-in`: the history of sign-ins and of failed attempts. */

import { deviceName } from '@espalier/contract';
import { systemClock } from '../clock.ts';
import { wholeNumber } from '../config/setting.ts';
import { UsageError } from '../config/start-error.ts';
import { signInMethods, signInResults } from '../sessions/sign-in-buffer.ts';
import { apiCommand } from './api/connection.ts';
import { parseNames, parseTime, timeAbout, toName } from './api/flag-values.ts';
import { everyItem, listReader, pageInfo, type ReadPage } from './api/pages.ts';
import { findUser, idOf, type ApiConnection } from './api/resolve-names.ts';
import type { Group, Options, Values } from './command.ts';
import { formatTable, toSecond } from './terminal/output.ts';

interface SignIn {
  readonly at: string;
  readonly lastAt: string;
  readonly count: number;
  readonly method: string;
  readonly result: string;
  readonly username: string | null;
  readonly address: string | null;
  readonly agent: string | null;
  readonly detail: string | null;
}

const fields =
  'id at lastAt count method result userId username user { id username } sessionId address agent detail';
const defaultCount = 50;

const filterOptions = {
  method: {
    value: 'method',
    about: 'Show only sign-ins with this method, for example passkey',
    isRepeatable: true,
    completions: signInMethods.map(toName),
  },
  result: {
    value: 'result',
    about: 'Show only sign-ins with this result, for example wrong-credentials',
    isRepeatable: true,
    completions: signInResults.map(toName),
  },
  failed: { about: 'Show only failed attempts', conflicts: ['result'] },
  from: { value: 'time', about: `Show only sign-ins at this time or later: ${timeAbout}` },
  until: { value: 'time', about: 'Show only sign-ins before this time' },
} as const satisfies Options;

const list = apiCommand({
  about: 'List sign-ins and failed attempts',
  aliases: ['ls'],
  options: {
    user: { value: 'name', about: 'List the sign-ins of this user (name or id:<id>); for administrators' },
    all: { about: 'List the sign-ins of all users; for administrators', conflicts: ['user'] },
    ...filterOptions,
    first: {
      value: 'number',
      short: 'n',
      about: `The maximum number of lines; default: ${defaultCount}`,
      kind: wholeNumber(0, 1e9),
    },
  },
  details: `Lists your own sign-ins, the newest first. Administrators can list those of other users, and filter them. A user name that
does not exist is not stored, because it may be a mistyped password. After many failures from one address, one line counts several
attempts.`,
  examples: [
    'espalier sign-in list',
    'espalier sign-in list --user anna --from 7d',
    'espalier sign-in list --all --failed --json',
  ],
  validate({ options }) {
    const filter = readFilter(options, systemClock.now());
    if (options.all || options.user !== undefined) return;
    if (Object.values(filter).every((value) => value === undefined)) return;
    throw new UsageError('Filters require --all or --user <name>.');
  },
  async run(connection, { options }) {
    const { all, user, first = defaultCount } = options;
    const filter = readFilter(options, systemClock.now());
    const userId = await idOf(connection, user, findUser);
    const isOwn = !all && userId === undefined;
    const read = readSignIns(connection, isOwn ? undefined : { ...filter, userId });
    const signIns = first === 0 ? [] : await everyItem(read, { maxItems: first });
    return { data: signIns, text: () => formatList(signIns) };
  },
});

/** Without a filter, reads the sign-ins of the viewer. */
function readSignIns(connection: ApiConnection, filter: object | undefined): ReadPage<SignIn> {
  const items = `items { ${fields} } ${pageInfo}`;
  if (!filter) {
    const query = `query ($first: Int, $after: String) {
      of: viewer { list: signIns(first: $first, after: $after) { ${items} } }
    }`;
    return listReader(connection, query);
  }
  const query = `query ($filter: SignInFilter, $first: Int, $after: String) {
    list: signIns(filter: $filter, first: $first, after: $after) { ${items} }
  }`;
  return listReader(connection, query, { filter });
}

function readFilter({ method, result, failed, from, until }: Values<typeof filterOptions>, now: number) {
  const failures = signInResults.filter((each) => each !== 'SUCCESS');
  const results = failed ? failures : parseNames('result', result, signInResults);
  return {
    methods: parseNames('method', method, signInMethods),
    results,
    from: from === undefined ? undefined : parseTime('--from', from, now),
    until: until === undefined ? undefined : parseTime('--until', until, now),
  };
}

function formatList(signIns: readonly SignIn[]): string {
  const rows = signIns.map(({ at, lastAt, count, username, method, result, detail, address, agent }) => [
    toSecond(at),
    username,
    toName(method),
    toName(result),
    address,
    agent && deviceName(agent),
    [count > 1 && `${count} times until ${toSecond(lastAt)}`, detail].filter(Boolean).join(', '),
  ]);
  const headings = ['At (UTC)', 'User', 'Method', 'Result', 'Address', 'Device', 'Details'];
  return formatTable(headings, rows, 'No sign-ins found.');
}

export const signIn: Group = { commands: { list }, groupDefault: 'list' };
