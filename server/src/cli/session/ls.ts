/** `espalier session ls`: lists the active sessions. */

import { UsageError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson } from '../terminal/output.ts';
import { everyItem } from '../api/pages.ts';
import { findUser, type ApiConnection } from '../api/resolve-names.ts';
import {
  ownSessionReader,
  sessionFields,
  sessionReader,
  sessionTable,
  type SessionDetails,
} from './session-details.ts';

export const listSessions = command({
  options: {
    user: { value: 'name', about: 'List the sessions of this user (name or id:<id>); for administrators' },
    all: { about: 'List the sessions of all users; for administrators' },
    json,
  },
  settings: connectionSettings,
  details: 'Lists your active sessions, the newest login first. An asterisk marks the current session.',
  async run({ options: { user, all, json: isJson }, flags }) {
    if (all && user !== undefined) throw new UsageError('Use either --all or --user, not both.');
    await withConnection({ flags }, async (connection) => {
      const sessions = all || user !== undefined ? await ofOthers(connection, user) : await own(connection);
      await (isJson ? printJson(sessions) : print(sessionTable(sessions)));
    });
  },
});

function own(connection: ApiConnection): Promise<readonly SessionDetails[]> {
  return everyItem(ownSessionReader<SessionDetails>(connection, sessionFields));
}

async function ofOthers(
  connection: ApiConnection,
  user: string | undefined,
): Promise<readonly SessionDetails[]> {
  const userId = user === undefined ? undefined : (await findUser(connection, user)).id;
  return everyItem(sessionReader<SessionDetails>(connection, sessionFields, userId));
}
