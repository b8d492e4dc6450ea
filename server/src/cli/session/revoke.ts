/** `espalier session revoke`: ends sessions at once, on every node and with their open sockets. */

import { EspalierError } from '@espalier/client';
import { UsageError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { ExitError } from '../failures.ts';
import { print, printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { findUser, type ApiConnection } from '../api/resolve-names.ts';

interface Payload {
  readonly revokeSessions: { readonly endedSessions: number };
}

const one = `mutation ($input: RevokeSessionInput!) { revokeSession(input: $input) { revokedSessionId } }`;
const several = `mutation ($input: RevokeSessionsInput!) { revokeSessions(input: $input) { endedSessions } }`;
const currentSession = '{ viewer { session { id } } }';

export const revokeSession = command({
  words: [
    {
      name: 'id',
      about: 'The id of a session, from espalier session ls',
      isOptional: true,
      isRepeatable: true,
    },
  ],
  options: {
    allOthers: { about: 'Revoke all your sessions except the current one' },
    user: {
      value: 'name',
      about: 'Revoke all sessions of this user (name or id:<id>); other users: for administrators',
    },
    json,
  },
  settings: connectionSettings,
  details:
    'Users can revoke their own sessions, administrators all sessions. Clients of a revoked session must log in again.',
  async run({ words: ids, options: { allOthers, user, json: isJson }, flags }) {
    if ([ids.length > 0, allOthers, user !== undefined].filter(Boolean).length !== 1) {
      throw new UsageError('Specify either the ids of sessions, --all-others or --user <name>.');
    }
    await withConnection({ flags }, async (connection) => {
      const count =
        ids.length > 0 ? await revokeEach(connection, ids) : await revokeAll(connection, { allOthers, user });
      await (isJson ? printJson({ endedSessions: count }) : print(`Sessions ended: ${count}.`));
      if (ids.length > 0 && count < new Set(ids).size) throw new ExitError(1);
    });
  },
});

async function revokeAll(
  connection: ApiConnection,
  { allOthers, user }: { readonly allOthers: boolean; readonly user: string | undefined },
): Promise<number> {
  const { client, signal } = connection;
  const input = allOthers ? { keepCurrent: true } : { userId: (await findUser(connection, user!)).id };
  return (await client.mutate<Payload>(several, { input }, { signal })).revokeSessions.endedSessions;
}

/** A missing session is reported and does not stop the others. The own session is revoked last. */
async function revokeEach({ client, signal }: ApiConnection, ids: readonly string[]): Promise<number> {
  const { viewer } = await client.query<{ viewer: { session: { id: string } } }>(
    currentSession,
    {},
    { signal },
  );
  const isOwn = (id: string) => Number(id === viewer.session.id);
  let count = 0;
  for (const id of [...new Set(ids)].sort((a, b) => isOwn(a) - isOwn(b))) {
    try {
      await client.mutate(one, { input: { id } }, { signal });
      count++;
    } catch (error) {
      if (!(error instanceof EspalierError && error.code === 'NOT_FOUND')) throw error;
      console.error(`espalier: There is no session ${escapeControls(id)}, or it has ended already.`);
    }
  }
  return count;
}
