/** Reads the current path of a folder by its id. */

import { queries, useGraph } from '../../graph/use-graph.ts';

const document = /* GraphQL */ `
  query PathOfFolder($id: ID!) {
    folder(id: $id) {
      path
    }
  }
`;

interface FolderResult {
  readonly folder: { readonly path: string } | null;
}

function about(id: string | undefined) {
  return ['folder', id, 'path'] as const;
}

/** Undefined while it is loading, null if the folder is not in the tree. */
export function useFolderPath(id: string | undefined): string | null | undefined {
  const { data } = useGraph<FolderResult>(about(id), document, { id }, { enabled: id !== undefined });
  return data && (data.folder?.path ?? null);
}

/** Caches a path that is already loaded. */
export function rememberPath(id: string, path: string): void {
  queries.setQueryData<FolderResult>(about(id), { folder: { path } });
}
