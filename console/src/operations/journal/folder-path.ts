/** Where a folder is now, for people who would not know it by its id. */

import { queries, useGraph } from '../../graph/use-graph.ts';

const document = /* GraphQL */ `
  query PathOfFolder($id: ID!) {
    folder(id: $id) {
      path
    }
  }
`;

interface Found {
  readonly folder: { readonly path: string } | null;
}

function about(id: string | undefined) {
  return ['folder', id, 'path'] as const;
}

/** Undefined until it is known; null if it is not on the tree. */
export function useFolderPath(id: string | undefined): string | null | undefined {
  const { data } = useGraph<Found>(about(id), document, { id }, { enabled: id !== undefined });
  return data && (data.folder?.path ?? null);
}

/** It need not be asked for again. */
export function rememberPath(id: string, path: string): void {
  queries.setQueryData<Found>(about(id), { folder: { path } });
}
