/** The queries of the tree. Runs in Node, too: the benchmark sends the same requests. */

import type { Client } from '@espalier/client';
import { folderRowFields, type FolderRow } from '../../graph/folder-row.ts';
import type { IndexRange } from './level.ts';

const rootDocument =
  /* GraphQL */ `
    query TreeRoot {
      folder {
        ...FolderRow
      }
    }
  ` + folderRowFields;

const stretchDocument =
  /* GraphQL */ `
    query TreeStretch($id: ID!, $skip: Int!, $first: Int!) {
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

const wayDocument =
  /* GraphQL */ `
    query TreeWay($id: ID!) {
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

const beginningDocument = /* GraphQL */ `
  query TreeBeginning($id: ID!, $text: String!) {
    folder(id: $id) {
      folders(first: 1, filter: { nameStartsWith: $text }) {
        items {
          id
        }
      }
    }
  }
`;

export interface PlacedRow extends FolderRow {
  readonly position: number;
}

/** A folder with those above it, the root first. */
export type Way = PlacedRow & { readonly ancestors: readonly PlacedRow[] };

interface FolderPage {
  readonly totalCount: number;
  readonly items: readonly FolderRow[];
}

/** Null for what is not there, or not to be seen. */
export interface TreeQueries {
  root(signal: AbortSignal): Promise<FolderRow>;
  stretch(id: string, stretch: IndexRange, signal: AbortSignal): Promise<FolderPage | null>;
  way(id: string, signal?: AbortSignal): Promise<Way | null>;
  /** The first inside a folder whose name begins so. */
  beginning(id: string, text: string): Promise<string | null>;
}

/** The loader reads a level in pages of this size. */
export const levelPageSize = 100;

export function createTreeQueries(client: Pick<Client, 'query'>): TreeQueries {
  return {
    async root(signal) {
      return (await client.query<{ folder: FolderRow }>(rootDocument, {}, { signal })).folder;
    },
    async stretch(id, { from, to }, signal) {
      const variables = { id, skip: from, first: to - from };
      const { folder } = await client.query<{ folder: { folders: FolderPage } | null }>(
        stretchDocument,
        variables,
        { signal },
      );
      return folder?.folders ?? null;
    },
    async way(id, signal) {
      return (await client.query<{ folder: Way | null }>(wayDocument, { id }, signal ? { signal } : {}))
        .folder;
    },
    async beginning(id, text) {
      const { folder } = await client.query<{ folder: { folders: { items: { id: string }[] } } | null }>(
        beginningDocument,
        { id, text },
      );
      return folder?.folders.items[0]?.id ?? null;
    },
  };
}
