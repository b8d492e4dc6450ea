/** The GraphQL queries of the tree. This file also runs in Node, because the benchmark sends the same requests. */

import type { Client } from '@espalier/client';
import { folderRowFields, type FolderRow } from '../../graph/folder-change.ts';
import type { IndexRange } from './level.ts';

const rootDocument =
  /* GraphQL */ `
    query TreeRoot {
      folder {
        ...FolderRow
      }
    }
  ` + folderRowFields;

const rangeDocument =
  /* GraphQL */ `
    query TreeRange($id: ID!, $skip: Int!, $first: Int!) {
      folder(id: $id) {
        folders(first: $first, skip: $skip) {
          totalCount
          items {
            ...FolderRow
          }
        }
      }
    }
  ` + folderRowFields;

const pathDocument =
  /* GraphQL */ `
    query TreePath($id: ID!) {
      folder(id: $id) {
        ...FolderRow
        position
        ancestors {
          ...FolderRow
          position
        }
      }
    }
  ` + folderRowFields;

const prefixDocument = /* GraphQL */ `
  query TreePrefix($id: ID!, $text: String!) {
    folder(id: $id) {
      folders(first: 1, filter: { nameStartsWith: $text }) {
        items {
          id
        }
      }
    }
  }
`;

interface PositionedFolder extends FolderRow {
  readonly position: number;
}

/** A folder with its ancestors, the root first. */
export type FolderPath = PositionedFolder & { readonly ancestors: readonly PositionedFolder[] };

interface FolderPage {
  readonly totalCount: number;
  readonly items: readonly FolderRow[];
}

/** `readRange`, `readPath` and `findByPrefix` return null for a folder that does not exist or is not visible. */
export interface TreeQueries {
  readRoot(signal: AbortSignal): Promise<FolderRow>;
  readRange(id: string, range: IndexRange, signal?: AbortSignal): Promise<FolderPage | null>;
  readPath(id: string, signal?: AbortSignal): Promise<FolderPath | null>;
  /** Returns the id of the first child whose name starts with the text. Null if there is none. */
  findByPrefix(id: string, text: string): Promise<string | null>;
}

/** `TreeLoader` reads a level in pages of this size. */
export const levelPageSize = 100;

export function createTreeQueries(client: Pick<Client, 'query'>): TreeQueries {
  return {
    async readRoot(signal) {
      return (await client.query<{ folder: FolderRow }>(rootDocument, {}, { signal })).folder;
    },
    async readRange(id, { from, to }, signal) {
      const variables = { id, skip: from, first: to - from };
      const { folder } = await client.query<{ folder: { folders: FolderPage } | null }>(
        rangeDocument,
        variables,
        signal ? { signal } : {},
      );
      return folder?.folders ?? null;
    },
    async readPath(id, signal) {
      return (
        await client.query<{ folder: FolderPath | null }>(pathDocument, { id }, signal ? { signal } : {})
      ).folder;
    },
    async findByPrefix(id, text) {
      const { folder } = await client.query<{ folder: { folders: { items: { id: string }[] } } | null }>(
        prefixDocument,
        { id, text },
      );
      return folder?.folders.items[0]?.id ?? null;
    },
  };
}
