/** Cancels an import after its request may have reached the server. */

import type { Client } from '../client.ts';

/**
 * An update without effect. It takes the idempotency key of the import, so that the server no longer accepts the import. The
 * server stores keys by the name of the field in the response, so the alias must be `importFolders`.
 */
const mutation = `mutation($input: UpdateFolderInput!) { importFolders: updateFolder(input: $input) { folder { id } } }`;

/** Options of `cancelImport`. */
export interface CancelOptions {
  /** The `idempotencyKey` of the import call. */
  readonly idempotencyKey: string;
  /** The folder that the call imports into, by its id. */
  readonly parentId: string;
}

/**
 * Cancels an import after its request may have reached the server. Returns true if nothing was imported; the server then rejects
 * the import from now on. Returns false if the import was already complete. Rejects if the client cannot reach the server.
 */
export async function cancelImport(
  client: Pick<Client, 'mutate'>,
  { idempotencyKey, parentId }: CancelOptions,
): Promise<boolean> {
  try {
    type Answer = { importFolders: object | null } | null;
    const variables = { input: { id: parentId } };
    const answer = await client.mutate<Answer, object>(mutation, variables, { idempotencyKey });
    if (!answer?.importFolders)
      throw new Error(
        'The response to the cancel request is empty. Check whether the folders were imported.',
      );
    return true;
  } catch (error) {
    // The import has used the key. `instanceof EspalierError` would load the class into this separate entry point.
    if (error instanceof Error && 'code' in error && error.code === 'BAD_INPUT') return false;
    throw error;
  }
}
