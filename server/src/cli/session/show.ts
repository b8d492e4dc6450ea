/** `espalier session show`: one session, with its refreshes and whether a spent token came back. */

import { EspalierError } from '@espalier/client';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson, escapeControls } from '../output.ts';
import { pagesOf, type ReadPage } from '../pages.ts';
import type { Asking } from '../resolve-names.ts';
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
  words: [{ name: 'id', about: 'The id of a session, as espalier session ls shows it' }],
  options: { json },
  settings: connectionSettings,
  details: `Of your own, and for administrators of everybody. The last twenty refreshes within seven days, the newest first, and
whether a refresh token that was spent came back: soon after, that is a lost reply or a second tab; later it is theft, and
ends the session.`,
  async run({ words: [id], options, flags }) {
    await withConnection({ flags }, async (asking) => {
      const session = await findSession(asking, id!);
      await (options.json ? printJson(session) : print(sessionFacts(session)));
    });
  },
});

/** There is no field for one session: it is looked for among one's own, then among those that administrators see. */
async function findSession(asking: Asking, id: string): Promise<SessionWithRefreshes> {
  const own = await findIn(ownSessionReader(asking, fields), id);
  if (own) return own;
  const found = (await isAdministrator(asking)) && (await findIn(sessionReader(asking, fields), id));
  if (found) return found;
  throw new EspalierError(
    'NOT_FOUND',
    `There is no session ${escapeControls(id)} that you may see, or it has ended.`,
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

async function isAdministrator({ client, signal }: Asking): Promise<boolean> {
  const query = '{ viewer { user { isAdministrator } } }';
  const { viewer } = await client.query<{ viewer: { user: { isAdministrator: boolean } } }>(
    query,
    {},
    { signal },
  );
  return viewer.user.isAdministrator;
}
