/** `espalier session`: the sessions of logged-in users. */

import { deviceName } from '@espalier/contract';
import { UsageError } from '../config/start-error.ts';
import { apiCommand } from './api/connection.ts';
import { everyItem, itemsOf, listReader, pageInfo, type ReadPage } from './api/pages.ts';
import { findUser, mutate, type ApiConnection, type NamedUser } from './api/resolve-names.ts';
import { revokeEach } from './api/revoke-each.ts';
import type { Group } from './command.ts';
import { ExitError, failure } from './failures.ts';
import {
  escaped,
  formatFacts,
  print,
  printJson,
  formatTable,
  toMinute,
  toSecond,
} from './terminal/output.ts';

interface SessionDetails {
  readonly id: string;
  readonly user: NamedUser;
  readonly createdAt: string;
  readonly refreshedAt: string;
  readonly expiresAt: string;
  readonly address: string | null;
  readonly agent: string | null;
  readonly isCurrent: boolean;
}

interface Refresh {
  readonly at: string;
  readonly address: string | null;
  readonly agent: string | null;
  readonly replays: number;
  readonly replayedAt: string | null;
  readonly replayAddress: string | null;
  readonly replayAgent: string | null;
}

type SessionWithRefreshes = SessionDetails & { readonly refreshes: readonly Refresh[] };

const fields = 'id user { id username } createdAt refreshedAt expiresAt address agent isCurrent';
const allFields = `${fields} refreshes { at address agent replays replayedAt replayAddress replayAgent }`;

const list = apiCommand({
  about: 'List the active sessions',
  aliases: ['ls'],
  options: {
    user: { value: 'name', about: 'List the sessions of this user (name or id:<id>); for administrators' },
    all: { about: 'List the sessions of all users; for administrators', conflicts: ['user'] },
  },
  details: 'Lists your active sessions, the newest login first. An asterisk marks the current session.',
  examples: ['espalier session list', 'espalier session list --user anna'],
  async run(connection, { options: { user, all } }) {
    const userId = user === undefined ? undefined : (await findUser(connection, user)).id;
    const whose = all || userId !== undefined ? { userId } : 'own';
    const sessions = await everyItem(readSessions<SessionDetails>(connection, fields, whose));
    return { data: sessions, text: () => formatList(sessions) };
  },
});

/** The sessions of the viewer, of one user, or of all users. The last two are for administrators. The newest login comes first. */
function readSessions<Session>(
  connection: ApiConnection,
  wanted: string,
  whose: 'own' | { readonly userId: string | undefined },
): ReadPage<Session> {
  const items = `items { ${wanted} } ${pageInfo}`;
  if (whose === 'own') {
    const query = `query ($first: Int, $after: String) {
      of: viewer { list: sessions(first: $first, after: $after) { ${items} } }
    }`;
    return listReader(connection, query);
  }
  const query = `query ($userId: ID, $first: Int, $after: String) {
    list: sessions(userId: $userId, first: $first, after: $after) { ${items} }
  }`;
  return listReader(connection, query, whose);
}

function formatList(sessions: readonly SessionDetails[]): string {
  const rows = sessions.map((each) => [
    `${each.id}${each.isCurrent ? ' *' : ''}`,
    each.user.username,
    toMinute(each.createdAt),
    toMinute(each.refreshedAt),
    each.address,
    each.agent && deviceName(each.agent),
  ]);
  const headings = ['Id', 'User', 'Since (UTC)', 'Refreshed (UTC)', 'Address', 'Device'];
  return formatTable(headings, rows, 'No sessions found.');
}

const show = apiCommand({
  about: 'Show a session and when its tokens were refreshed',
  words: [{ name: 'id', about: "The id of a session, from 'espalier session list'" }],
  details: `Users can show their own sessions, administrators all sessions. Lists the last twenty refreshes within seven days, the newest
first, and whether a client reused a refresh token. Reuse soon after the refresh is usually due to a lost response or a second
browser tab. The server treats later reuse as theft and ends the session.`,
  examples: ['espalier session show 019a1b2c-3d4e-7f50-8a6b-7c8d9e0f1a2b'],
  async run(connection, { words: [id] }) {
    const session = await findSession(connection, id!);
    return { data: session, text: formatSession(session) };
  },
});

/** The schema has no field for one session. Searches the viewer's own sessions, then those that administrators see. */
async function findSession(connection: ApiConnection, id: string): Promise<SessionWithRefreshes> {
  const { client, signal } = connection;
  type Answer = { viewer: { user: { isAdministrator: boolean }; session: object | null } };
  const query = '{ viewer { user { isAdministrator } session { id } } }';
  const { viewer } = await client.query<Answer>(query, {}, { signal });
  const all = { userId: undefined };
  // An API key has no own sessions.
  const own = viewer.session ? (['own'] as const) : [];
  for (const whose of viewer.user.isAdministrator ? [...own, all] : (['own'] as const)) {
    const read = readSessions<SessionWithRefreshes>(connection, allFields, whose);
    // A small page, because each session has up to twenty refreshes.
    for await (const each of itemsOf(read, { pageSize: 200 })) if (each.id === id) return each;
  }
  throw failure('NOT_FOUND', escaped`There is no active session ${id}, or you do not have access to it.`);
}

function formatSession(shown: SessionWithRefreshes): string {
  const head = formatFacts([
    ['Id', `${shown.id}${shown.isCurrent ? ' (current)' : ''}`],
    ['User', shown.user.username],
    ['Since', `${toMinute(shown.createdAt)} UTC`],
    ['Refreshed', `${toMinute(shown.refreshedAt)} UTC`],
    ['Ends', `${toMinute(shown.expiresAt)} UTC, unless it is refreshed earlier`],
    ['Address', shown.address],
    ['Device', shown.agent],
  ]);
  if (shown.refreshes.length === 0) return `${head}\n\nNot refreshed in the last seven days.`;
  const rows = shown.refreshes.map((refresh) => [
    toSecond(refresh.at),
    refresh.address,
    refresh.agent,
    formatReplays(refresh),
  ]);
  return `${head}\n\n${formatTable(['Refreshed (UTC)', 'Address', 'Device', 'Spent token reused'], rows)}`;
}

function formatReplays({ replays, replayedAt, replayAddress, replayAgent }: Refresh): string {
  if (replays === 0) return '';
  const times = replays === 1 ? 'once' : `${replays} times`;
  const by = [replayAddress, replayAgent].filter((each) => each !== null);
  return [`${times}, ${replays === 1 ? 'at' : 'last at'} ${toSecond(replayedAt)} UTC`, ...by].join(', ');
}

const revoke = apiCommand({
  about: 'Revoke sessions immediately on every node, and close their WebSockets',
  aliases: ['delete', 'rm'],
  words: [
    {
      name: 'id',
      about: "The id of a session, from 'espalier session list'",
      isOptional: true,
      isRepeatable: true,
    },
  ],
  options: {
    allOthers: { about: 'Revoke all your sessions except the current one' },
    user: {
      value: 'name',
      about:
        'Revoke all sessions of this user (name or id:<id>); for another user, you must be an administrator',
    },
  },
  details:
    'Users can revoke their own sessions, administrators all sessions. Clients of a revoked session must log in again.',
  examples: ['espalier session revoke --all-others', 'espalier session revoke --user anna'],
  validate({ words: ids, options: { allOthers, user } }) {
    if ([ids.length > 0, allOthers, user !== undefined].filter(Boolean).length === 1) return;
    throw new UsageError('Specify either the ids of sessions, --all-others or --user <name>.');
  },
  async run(connection, { words, options }) {
    const ids = new Set(words);
    const count =
      ids.size > 0 ? await revokeEach(connection, 'session', ids) : await revokeAll(connection, options);
    if (options.json) await printJson({ endedSessions: count });
    else if (count > 0 || ids.size === 0) await print(`Sessions ended: ${count}.`);
    if (count < ids.size) throw new ExitError(1);
  },
});

async function revokeAll(
  connection: ApiConnection,
  { allOthers, user }: { readonly allOthers: boolean; readonly user: string | undefined },
): Promise<number> {
  const input = allOthers ? { keepCurrent: true } : { userId: (await findUser(connection, user!)).id };
  type Payload = { endedSessions: number };
  return (await mutate<Payload>(connection, 'revokeSessions', input, 'endedSessions')).endedSessions;
}

export const session: Group = { commands: { list, show, revoke } };
