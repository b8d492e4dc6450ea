/** Cancels an import whose request may already be on the server. */

import type { Client } from '../client.ts';

/**
 * Uses the idempotency key of the import for a change without effect. The alias `importFolders` is required, because the digest
 * of a key includes the path of the change in the response.
 */
const mutation = `mutation($input: UpdateFolderInput!) { importFolders: updateFolder(input: $input) { folder { id } } }`;

/** Options of `cancelImport`. */
export interface CancelOptions {
  /** The `idempotencyKey` of the call that imports. */
  readonly idempotencyKey: string;
  /** The folder that the call imports into. */
  readonly parentId: string;
}

/**
 * Cancels an import whose request may already be on the server. Returns true if nothing was imported: the server then refuses the
 * import from now on. Returns false if the import was complete before. Rejects if the client cannot reach the server.
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
    // The key was used for the import. This entry point has no class of errors of its own.
    if (error instanceof Error && 'code' in error && error.code === 'BAD_INPUT') return false;
    throw error;
  }
}
