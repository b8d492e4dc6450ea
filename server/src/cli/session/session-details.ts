/** Reads sessions, the viewer's own or those that administrators see, and displays them. */

import { facts } from '../terminal/format-fields.ts';
import { table } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { pageInfo, type Page, type ReadPage } from '../api/pages.ts';
import type { ApiConnection, NamedUser } from '../api/resolve-names.ts';
import { toMinute, toSecond } from '../terminal/format-time.ts';

export interface SessionDetails {
  readonly id: string;
  readonly user: NamedUser;
  readonly createdAt: string;
  readonly refreshedAt: string;
  readonly expiresAt: string;
  readonly address: string | null;
  readonly agent: string | null;
  readonly isCurrent: boolean;
}

export interface Refresh {
  readonly at: string;
  readonly address: string | null;
  readonly agent: string | null;
  readonly replays: number;
  readonly replayedAt: string | null;
  readonly replayAddress: string | null;
  readonly replayAgent: string | null;
}

export type SessionWithRefreshes = SessionDetails & { readonly refreshes: readonly Refresh[] };

export const sessionFields =
  'id user { id username } createdAt refreshedAt expiresAt address agent isCurrent';
export const refreshFields = 'at address agent replays replayedAt replayAddress replayAgent';

/** The sessions of the viewer, the newest login first. */
export function ownSessionReader<Session>(
  { client, signal }: ApiConnection,
  fields: string,
): ReadPage<Session> {
  const query = `query ($first: Int, $after: String) {
    viewer { sessions(first: $first, after: $after) { items { ${fields} } ${pageInfo} } }
  }`;
  return async (slice) => {
    type Answer = { viewer: { sessions: Page<Session> } };
    return (await client.query<Answer>(query, { ...slice }, { signal })).viewer.sessions;
  };
}

/** The sessions of all users or of one user, the newest first. For administrators. */
export function sessionReader<Session>(
  { client, signal }: ApiConnection,
  fields: string,
  userId?: string,
): ReadPage<Session> {
  const query = `query ($userId: ID, $first: Int, $after: String) {
    sessions(userId: $userId, first: $first, after: $after) { items { ${fields} } ${pageInfo} }
  }`;
  return async (slice) => {
    const variables = { userId, ...slice };
    return (await client.query<{ sessions: Page<Session> }>(query, variables, { signal })).sessions;
  };
}

export function sessionTable(sessions: readonly SessionDetails[]): string {
  const rows = sessions.map((session) => [
    `${session.id}${session.isCurrent ? ' *' : ''}`,
    escapeControls(session.user.username),
    toMinute(session.createdAt),
    toMinute(session.refreshedAt),
    escapeControls(session.address ?? ''),
    escapeControls(session.agent ?? ''),
  ]);
  const headings = ['Id', 'User', 'Since (UTC)', 'Refreshed (UTC)', 'Address', 'Device'];
  return table(headings, rows, 'No sessions found.');
}

export function sessionFacts(session: SessionWithRefreshes): string {
  const head = facts([
    ['Id', `${session.id}${session.isCurrent ? ' (current)' : ''}`],
    ['User', escapeControls(session.user.username)],
    ['Since', `${toMinute(session.createdAt)} UTC`],
    ['Refreshed', `${toMinute(session.refreshedAt)} UTC`],
    ['Ends', `${toMinute(session.expiresAt)} UTC, unless it is refreshed earlier`],
    ['Address', escapeControls(session.address ?? '')],
    ['Device', escapeControls(session.agent ?? '')],
  ]);
  if (session.refreshes.length === 0) return `${head}\n\nNot refreshed in the last seven days.`;
  const rows = session.refreshes.map((refresh) => [
    toSecond(refresh.at),
    escapeControls(refresh.address ?? ''),
    escapeControls(refresh.agent ?? ''),
    replaysOf(refresh),
  ]);
  return `${head}\n\n${table(['Refreshed (UTC)', 'Address', 'Device', 'Spent token reused'], rows)}`;
}

function replaysOf({ replays, replayedAt, replayAddress, replayAgent }: Refresh): string {
  if (replays === 0) return '';
  const times = replays === 1 ? 'once' : `${replays} times`;
  const by = [replayAddress, replayAgent].filter((each) => each !== null).map(escapeControls);
  return [`${times}, ${replays === 1 ? 'at' : 'last at'} ${toSecond(replayedAt)}`, ...by].join(', ');
}
