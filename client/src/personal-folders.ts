/** Methods that list who has access to a folder, and that read and change the user's own lists of folders. */

import type { CallOptions, DocumentRunner } from './calls.ts';
import { folderNotFound } from './errors.ts';
import {
  detailFields,
  toFolder,
  type EffectiveAccess,
  type FolderDetails,
  type FolderResult,
} from './folder.ts';
import { pageFields, readPages, type ListOptions, type Page } from './pages.ts';

/** The access to a folder, and your shared folders, favorites and recent folders. */
export interface PersonalFolders {
  /** Lists everyone who has access to a folder, ordered by user name. Requires MANAGE on the folder. */
  effectiveAccess(id: string, options?: ListOptions): AsyncIterableIterator<EffectiveAccess>;
  /** Lists the topmost folders that you can read by a grant, ordered by name. Empty for administrators, who need no grants. */
  shared(options?: ListOptions): AsyncIterableIterator<FolderDetails>;
  /** Lists your favorites, ordered by name. */
  favorites(options?: ListOptions): AsyncIterableIterator<FolderDetails>;
  /** Returns your recently visited folders, most recent first. */
  recent(options?: CallOptions): Promise<readonly FolderDetails[]>;
  /** Adds a folder to your favorites, or removes it. Rejects with CONFLICT if you already have 200 favorites. */
  setFavorite(id: string, isFavorite: boolean, options?: CallOptions): Promise<void>;
  /** Puts a folder first in your recent folders. */
  visit(id: string, options?: CallOptions): Promise<void>;
}

const defaultPageSize = 100;

/** An element of `effectiveAccess` in a GraphQL result. */
type AccessResult = Omit<EffectiveAccess, 'grant'> & {
  readonly grant:
    | (Omit<NonNullable<EffectiveAccess['grant']>, 'folderId'> & { readonly folder: { readonly id: string } })
    | null;
};

export function createPersonalFolders(client: DocumentRunner): PersonalFolders {
  const listPersonal = async function* (field: string, options: ListOptions = {}) {
    const query = `query($first:Int,$after:String){viewer{list:${field}(first:$first,after:$after){items{${detailFields}}${pageFields}}}}`;
    type Data = { viewer: { list: Page<FolderResult<FolderDetails>> } };
    const read = async (page: object) => (await client.query<Data, object>(query, page, options)).viewer.list;
    for await (const folder of readPages(options, defaultPageSize, read)) yield toFolder(folder);
  };
  return {
    shared: (options) => listPersonal('sharedFolders', options),
    favorites: (options) => listPersonal('favorites', options),
    async recent(options) {
      type Data = { viewer: { recentFolders: FolderResult<FolderDetails>[] } };
      const query = `{viewer{recentFolders{${detailFields}}}}`;
      const { viewer } = await client.query<Data, object>(query, {}, options);
      return viewer.recentFolders.map((folder) => toFolder(folder));
    },
    async setFavorite(folderId, isFavorite, options) {
      const mutation = 'mutation($input:SetFavoriteInput!){setFavorite(input:$input){__typename}}';
      await client.mutate<unknown, object>(mutation, { input: { folderId, isFavorite } }, options);
    },
    async visit(folderId, options) {
      const mutation = 'mutation($input:VisitFolderInput!){visitFolder(input:$input){__typename}}';
      await client.mutate<unknown, object>(mutation, { input: { folderId } }, options);
    },
    async *effectiveAccess(id, options = {}) {
      const query = `query($id:ID!,$first:Int,$after:String){folder(id:$id){effectiveAccess(first:$first,after:$after){items{user{id username} level grant{level folder{id} group{id name}}}${pageFields}}}}`;
      type Data = { folder: { effectiveAccess: Page<AccessResult> } | null };
      const read = async (page: object) => {
        const { folder } = await client.query<Data, object>(query, { id, ...page }, options);
        if (!folder) throw folderNotFound(id);
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
