/** Methods for access to folders: who has access to a folder. */

import type { DocumentRunner } from './calls.ts';
import { EspalierError } from './errors.ts';
import type { EffectiveAccess } from './folder.ts';
import { pageFields, readPages, type ListOptions, type Page } from './pages.ts';

export interface PersonalFolders {
  /** Lists everyone who has access to a folder, ordered by user name. Requires MANAGE on the folder. */
  effectiveAccess(id: string, options?: ListOptions): AsyncIterableIterator<EffectiveAccess>;
}

const defaultPageSize = 100;

/** An element of `effectiveAccess` in a GraphQL result. */
type AccessResult = Omit<EffectiveAccess, 'grant'> & {
  readonly grant:
    | (Omit<NonNullable<EffectiveAccess['grant']>, 'folderId'> & { readonly folder: { readonly id: string } })
    | null;
};

export function createPersonalFolders(client: DocumentRunner): PersonalFolders {
  return {
    async *effectiveAccess(id, options = {}) {
      const query = `query($id:ID!,$first:Int,$after:String){folder(id:$id){effectiveAccess(first:$first,after:$after){items{user{id username} level grant{level folder{id} group{id name}}}${pageFields}}}}`;
      type Data = { folder: { effectiveAccess: Page<AccessResult> } | null };
      const read = async (page: object) => {
        const { folder } = await client.query<Data, object>(query, { id, ...page }, options);
        if (!folder) throw new EspalierError('NOT_FOUND', `There is no folder ${id}.`);
        return folder.effectiveAccess;
      };
      for await (const { grant, ...access } of readPages(options, defaultPageSize, read)) {
        if (!grant) yield { ...access, grant };
        else
          yield { ...access, grant: { level: grant.level, folderId: grant.folder.id, group: grant.group } };
      }
    },
  };
}
