/** Calls the mutation that creates many folders at once, all or none. */

import type { CallOptions, Client, PathToImport } from '@espalier/client';

export interface ImportInput {
  readonly parentId: string;
  readonly list: readonly PathToImport[];
}

const mutation = 'mutation($input: ImportFoldersInput!) { importFolders(input: $input) { folderCount } }';

/** Returns the number of created folders. */
export async function importList(client: Client, input: ImportInput, options: CallOptions): Promise<number> {
  type Answer = { importFolders: { folderCount: number } };
  const { importFolders } = await client.mutate<Answer, { input: ImportInput }>(mutation, { input }, options);
  return importFolders.folderCount;
}
