/** The history of sign-ins: all sign-ins for administrators, and their own for users. */

import { requireAdministrator } from '../../../accounts/users.ts';
import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import type { Reader } from '../../../database/database.ts';
import { countSignIns, listSignIns, type SignInFilter as Filter } from '../../../sessions/sign-in-reads.ts';
import type { SignIn as SignInRow, SignInMethod, SignInResult } from '../../../sessions/sign-in-buffer.ts';
import { builder, User } from '../builder.ts';
import { defineConnection, pageArguments } from '../connections/relay-connection-types.ts';
import { KeysetConnection, toTimeAndId, type KeysetList } from '../connections/relay-connection.ts';
import { readTogether, readUserNodes, type UserNode } from './people-batch.ts';
import { notInViewOrKey, requireAccountDetails, Viewer } from './people-types.ts';

interface SignInNode extends SignInRow {
  /** The users of all sign-ins of a page are read together. */
  readonly userOf: (id: string | null) => PromiseOrValue<UserNode | null>;
}

const methodTexts = {
  PASSWORD: { description: 'A user name and a password.' },
  SINGLE_SIGN_ON: { description: 'Single sign-on with OpenID Connect.' },
  PASSKEY: { description: 'A passkey.' },
  API_KEY: {
    description:
      'An API key. Only its first use from an address in 24 hours is recorded, not every request. After thousands of such uses in a day, the server counts further ones in summaries.',
  },
} satisfies Record<SignInMethod, { description: string }>;

const resultTexts = {
  SUCCESS: { description: 'The user signed in.' },
  WRONG_CREDENTIALS: { description: 'The user name, the password or another credential was wrong.' },
  SECOND_FACTOR_REQUIRED: {
    description:
      'The password was right, but the second factor was missing. When the user completes the login from the same address within 15 minutes, only the `SUCCESS` remains.',
  },
  WRONG_SECOND_FACTOR: { description: 'The password was right, but the second factor was wrong.' },
  THROTTLED: { description: 'The server refused the attempt after too many failures, without checking it.' },
  DISABLED: { description: 'The credentials were right, but the user is disabled.' },
  REFUSED: { description: 'The server refused the sign-in for another reason. See `detail`.' },
} satisfies Record<SignInResult, { description: string }>;

const Method = builder.enumType('SignInMethod', {
  description: 'How a user signs in.',
  values: methodTexts,
});
const Result = builder.enumType('SignInResult', {
  description: 'The result of an attempt to sign in.',
  values: resultTexts,
});

/** Only administrators and the user of the sign-in receive a SignIn. */
const SignIn = builder.objectRef<SignInNode>('SignIn').implement({
  description:
    'An attempt to sign in, or a summary of several attempts. After 30 failed attempts from one address within 15 minutes, the server counts further ones in summaries.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id, a UUID that never changes.' }),
    at: t.expose('at', { type: 'DateTime', description: 'The time of the attempt, or of the first one.' }),
    lastAt: t.expose('lastAt', {
      type: 'DateTime',
      description: 'The time of the last attempt. Equal to `at`, except in a summary.',
    }),
    count: t.exposeInt('count', { description: 'The number of attempts: 1, except in a summary.' }),
    method: t.expose('method', { type: Method, description: 'How the client tried to sign in.' }),
    result: t.expose('result', { type: Result, description: 'The result.' }),
    userId: t.exposeID('userId', {
      nullable: true,
      description: 'The id of the user. Null if no user had the name, and in a summary of several users.',
    }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The user. Also null if the user no longer exists.',
      resolve: ({ userId, userOf }) => userOf(userId),
    }),
    username: t.exposeString('username', {
      nullable: true,
      description:
        'The name of the user at that time. Null if no user had the name that the client sent: such a name is not stored, because it may be a password.',
    }),
  }),
});

builder.objectFields(SignIn, (t) => ({
  sessionId: t.exposeID('sessionId', {
    nullable: true,
    description: 'The id of the session that started. Null for failed attempts and API keys.',
  }),
  address: t.exposeString('address', {
    nullable: true,
    description:
      'The IP address of the client, if known. In a summary, the range of addresses, for example 2001:db8::/64, or null for several ranges.',
  }),
  agent: t.exposeString('agent', {
    nullable: true,
    description: 'The `User-Agent` header. Null in a summary.',
  }),
  detail: t.exposeString('detail', { nullable: true, description: 'The reason of the result, if known.' }),
}));

const SignInConnection = defineConnection(SignIn, 'sign-ins');

const SignInFilter = builder.inputType('SignInFilter', {
  description: 'Conditions that a sign-in must meet, all at the same time.',
  fields: (t) => ({
    userId: t.id({
      description: 'Sign-ins of this user, with the failed attempts under the name of the user.',
    }),
    methods: t.field({ type: [Method], description: 'Sign-ins with one of these methods.' }),
    results: t.field({ type: [Result], description: 'Sign-ins with one of these results.' }),
    from: t.field({ type: 'DateTime', description: 'Sign-ins at this time or later.' }),
    until: t.field({ type: 'DateTime', description: 'Sign-ins before this time.' }),
  }),
});

builder.queryField('signIns', (t) =>
  t.field({
    type: SignInConnection,
    description: `The sign-ins of all users and the failed attempts, newest first. A failed attempt appears after about a second. Only for administrators. ${notInViewOrKey}`,
    args: {
      filter: t.arg({ type: SignInFilter, description: 'Return only the sign-ins that match this filter.' }),
      ...pageArguments(t.arg),
    },
    resolve: (_, { filter, ...page }, { access, reader, viewer }) => {
      requireAdministrator(access);
      requireAccountDetails(viewer, access);
      return new KeysetConnection(signInList(reader, toFilter(filter)), page);
    },
  }),
);

builder.objectField(Viewer, 'signIns', (t) =>
  t.field({
    type: SignInConnection,
    description: `The sign-ins of the user and the failed attempts under the name of the user, newest first. ${notInViewOrKey}`,
    args: pageArguments(t.arg),
    resolve: (viewer, page, { access, reader }) => {
      requireAccountDetails(viewer, access);
      return new KeysetConnection(signInList(reader, { userId: viewer.userId }), page);
    },
  }),
);

function toFilter(filter: (typeof SignInFilter)['$inferInput'] | null | undefined): Filter {
  const { userId, methods, results, from, until } = filter ?? {};
  return {
    userId: userId ?? undefined,
    methods: methods ?? undefined,
    results: results ?? undefined,
    from: from ?? undefined,
    until: until ?? undefined,
  };
}

function signInList(reader: Reader, filter: Filter): KeysetList<SignInNode> {
  return {
    name: `sign-ins ${JSON.stringify(filter)}`,
    keyOf: ({ at, id }) => `${at} ${id}`,
    read: ({ after, limit }) => {
      const position = toTimeAndId(after);
      const slice = { after: position && { at: position.time, id: position.id }, limit };
      return whenDone(listSignIns(reader, filter, slice), (signIns) => toNodes(reader, signIns));
    },
    count: () => countSignIns(reader, filter),
  };
}

function toNodes(reader: Reader, signIns: readonly SignInRow[]): readonly SignInNode[] {
  const userOf = readTogether(
    signIns.map(({ userId }) => userId),
    (ids) => readUserNodes(reader, ids),
  );
  return signIns.map((signIn) => ({ ...signIn, userOf }));
}
