/** `espalier session revoke`: ends sessions at once, on every node and with their open sockets. */

import { EspalierError } from '@espalier/client';
import { UsageError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { ExitError } from '../failures.ts';
import { print, printJson, escapeControls } from '../output.ts';
import { findUser, type Asking } from '../resolve-names.ts';

interface Payload {
  readonly revokeSessions: { readonly endedSessions: number };
}

const one = `mutation ($input: RevokeSessionInput!) { revokeSession(input: $input) { revokedSessionId } }`;
const several = `mutation ($input: RevokeSessionsInput!) { revokeSessions(input: $input) { endedSessions } }`;
const whichAsks = '{ viewer { session { id } } }';

export const revokeSession = command({
  words: [
    {
      name: 'id',
      about: 'The id of a session, as espalier session ls shows it',
      isOptional: true,
      isRepeatable: true,
    },
  ],
  options: {
    allOthers: { about: 'All of your own but the one that asks' },
    user: { value: 'name', about: 'All of this user, by name or id:<id>; of others for administrators' },
    json,
  },
  settings: connectionSettings,
  details: 'Your own, and for administrators those of anybody. Whoever used it has to log in again.',
  async run({ words: ids, options: { allOthers, user, json: isJson }, flags }) {
    if ([ids.length > 0, allOthers, user !== undefined].filter(Boolean).length !== 1) {
      throw new UsageError('Which sessions is told by their ids, by --all-others or by --user <name>.');
    }
    await withConnection({ flags }, async (asking) => {
      const count =
        ids.length > 0 ? await revokeEach(asking, ids) : await revokeAll(asking, { allOthers, user });
      await (isJson ? printJson({ endedSessions: count }) : print(`Sessions that were ended: ${count}.`));
      if (ids.length > 0 && count < new Set(ids).size) throw new ExitError(1);
    });
  },
});

async function revokeAll(
  asking: Asking,
  { allOthers, user }: { readonly allOthers: boolean; readonly user: string | undefined },
): Promise<number> {
  const { client, signal } = asking;
  const input = allOthers ? { keepCurrent: true } : { userId: (await findUser(asking, user!)).id };
  return (await client.mutate<Payload>(several, { input }, { signal })).revokeSessions.endedSessions;
}

/** A missing session is reported and does not stop the others. The own session is revoked last. */
async function revokeEach({ client, signal }: Asking, ids: readonly string[]): Promise<number> {
  const { viewer } = await client.query<{ viewer: { session: { id: string } } }>(whichAsks, {}, { signal });
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
