/** `espalier session show`: shows a session with its refreshes and replays of spent tokens. */

import { EspalierError } from '@espalier/client';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { pagesOf, type ReadPage } from '../api/pages.ts';
import type { ApiConnection } from '../api/resolve-names.ts';
import {
  ownSessionReader,
  refreshFields,
  sessionFacts,
  sessionFields,
  sessionReader,
  type SessionWithRefreshes,
} from './session-details.ts';

const fields = `${sessionFields} refreshes { ${refreshFields} }`;
/** Each has up to twenty refreshes. */
const pageSize = 200;

export const showSession = command({
  words: [{ name: 'id', about: 'The id of a session, from espalier session ls' }],
  options: { json },
  settings: connectionSettings,
  details: `Users can show their own sessions, administrators all sessions. Lists the last twenty refreshes within seven days, the newest
first, and whether a client reused a spent refresh token. Reuse soon after the refresh is a lost response or a second tab. Later
reuse means theft and ends the session.`,
  async run({ words: [id], options, flags }) {
    await withConnection({ flags }, async (connection) => {
      const session = await findSession(connection, id!);
      await (options.json ? printJson(session) : print(sessionFacts(session)));
    });
  },
});

/** The schema has no field for one session. Searches the viewer's own sessions, then those that administrators see. */
async function findSession(connection: ApiConnection, id: string): Promise<SessionWithRefreshes> {
  const own = await findIn(ownSessionReader(connection, fields), id);
  if (own) return own;
  const found = (await isAdministrator(connection)) && (await findIn(sessionReader(connection, fields), id));
  if (found) return found;
  throw new EspalierError(
    'NOT_FOUND',
    `There is no active session ${escapeControls(id)}, or you do not have access to it.`,
  );
}

async function findIn(
  read: ReadPage<SessionWithRefreshes>,
  id: string,
): Promise<SessionWithRefreshes | undefined> {
  for await (const page of pagesOf(read, { pageSize })) {
    const found = page.find((session) => session.id === id);
    if (found) return found;
  }
  return undefined;
}

async function isAdministrator({ client, signal }: ApiConnection): Promise<boolean> {
  const query = '{ viewer { user { isAdministrator } } }';
  const { viewer } = await client.query<{ viewer: { user: { isAdministrator: boolean } } }>(
    query,
    {},
    { signal },
  );
  return viewer.user.isAdministrator;
}
