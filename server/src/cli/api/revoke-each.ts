/** Revokes sessions or API keys by their ids. */

import { isClientError } from '../failures.ts';
import { escaped } from '../terminal/output.ts';
import { mutate, type ApiConnection } from './resolve-names.ts';

const kinds = {
  session: { mutation: 'revokeSession', reason: 'it has ended already' },
  'API key': { mutation: 'revokeApiKey', reason: 'you may not revoke it' },
} as const;

/**
 * Returns the number of revoked sessions or keys. Reports a missing one and continues with the others. Revokes the session or the
 * key of this command last.
 */
export async function revokeEach(
  connection: ApiConnection,
  kind: keyof typeof kinds,
  ids: ReadonlySet<string>,
): Promise<number> {
  const { mutation, reason } = kinds[kind];
  const ownId = await readOwnId(connection);
  const isOwn = (id: string) => Number(id === ownId);
  let count = 0;
  for (const id of [...ids].sort((a, b) => isOwn(a) - isOwn(b))) {
    try {
      await mutate(connection, mutation, { id }, '__typename');
      count++;
    } catch (error) {
      // The server revokes the key of this command, and then refuses it the response.
      if (isOwn(id) && isClientError(error, 'INVALID_API_KEY')) {
        count++;
        continue;
      }
      if (!isClientError(error, 'NOT_FOUND')) throw error;
      console.error(escaped`espalier: There is no ${kind} ${id}, or ${reason}.`);
    }
  }
  return count;
}

/** The id of the session or the key with which this command authenticates. */
async function readOwnId({ client, signal }: ApiConnection): Promise<string | undefined> {
  type Credential = { readonly id: string } | null;
  type Answer = { readonly viewer: { readonly session: Credential; readonly apiKey: Credential } };
  const { viewer } = await client.query<Answer>(
    '{ viewer { session { id } apiKey { id } } }',
    {},
    { signal },
  );
  return (viewer.session ?? viewer.apiKey)?.id;
}
