/** Calls the mutation that creates many folders at once, all or none. */

import type { CallOptions, Client } from '@espalier/client';

/** A folder with its path below the parent of the import. */
export interface Entry {
  readonly path: string;
  readonly title?: string | null;
  readonly icon?: string | null;
  readonly description?: string | null;
  readonly properties?: Readonly<Record<string, unknown>> | null;
}

export interface ImportInput {
  readonly parentId: string;
  readonly list: readonly Entry[];
}

const mutation = 'mutation($input: ImportFoldersInput!) { importFolders(input: $input) { folderCount } }';

/** Returns the number of created folders. */
export async function importList(client: Client, input: ImportInput, options: CallOptions): Promise<number> {
  type Answer = { importFolders: { folderCount: number } };
  const { importFolders } = await client.mutate<Answer, { input: ImportInput }>(mutation, { input }, options);
  return importFolders.folderCount;
}
