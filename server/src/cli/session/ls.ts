/** `espalier session ls`: who is logged in, with what, and since when. */

import { UsageError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson } from '../output.ts';
import { everyItem } from '../pages.ts';
import { findUser, type Asking } from '../resolve-names.ts';
import {
  ownSessionReader,
  sessionFields,
  sessionReader,
  sessionTable,
  type SessionDetails,
} from './session-details.ts';

export const listSessions = command({
  options: {
    user: { value: 'name', about: 'Those of this user, by name or id:<id>; for administrators' },
    all: { about: 'Those of everybody; for administrators' },
    json,
  },
  settings: connectionSettings,
  details: 'Your own, the newest login first; * is the one that asks. Those that have ended are not shown.',
  async run({ options: { user, all, json: isJson }, flags }) {
    if (all && user !== undefined) throw new UsageError('--all and --user are both given: take one of them.');
    await withConnection({ flags }, async (asking) => {
      const sessions = all || user !== undefined ? await ofOthers(asking, user) : await own(asking);
      await (isJson ? printJson(sessions) : print(sessionTable(sessions)));
    });
  },
});

function own(asking: Asking): Promise<readonly SessionDetails[]> {
  return everyItem(ownSessionReader<SessionDetails>(asking, sessionFields));
}

async function ofOthers(asking: Asking, user: string | undefined): Promise<readonly SessionDetails[]> {
  const userId = user === undefined ? undefined : (await findUser(asking, user)).id;
  return everyItem(sessionReader<SessionDetails>(asking, sessionFields, userId));
}
