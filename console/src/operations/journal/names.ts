/** Reads the names of users and groups and the paths of folders by the ids in the address. */

import { useMemo } from 'react';
import { queries, useGraph } from '../../graph/use-graph.ts';
import type { PickedPerson } from '../../ui/person-picker.tsx';

const userDocument = /* GraphQL */ `
  query NamedUser($id: ID!) {
    user(id: $id) {
      name: username
    }
  }
`;
const groupDocument = /* GraphQL */ `
  query NamedGroup($id: ID!) {
    group(id: $id) {
      name
    }
  }
`;

type NameResult = Partial<Record<PickedPerson['kind'], { readonly name: string } | null>>;

/** Null without an id. The label is the id while the name is loading, and if the user or group was deleted. */
export function usePerson(kind: PickedPerson['kind'], id: string | undefined): PickedPerson | null {
  const { data } = useGraph<NameResult>(
    ['people', 'named', kind, id],
    kind === 'user' ? userDocument : groupDocument,
    { id },
    { enabled: id !== undefined },
  );
  const name = data?.[kind]?.name;
  return useMemo(() => (id === undefined ? null : { kind, id, name: name ?? `id:${id}` }), [kind, id, name]);
}

/** Caches a name that is already loaded. */
export function rememberPerson(person: PickedPerson | null): void {
  if (!person) return;
  const { kind, id, name } = person;
  queries.setQueryData<NameResult>(['people', 'named', kind, id], { [kind]: { name } });
}

const pathDocument = /* GraphQL */ `
  query PathOfFolder($id: ID!) {
    folder(id: $id) {
      path
    }
  }
`;

interface FolderResult {
  readonly folder: { readonly path: string } | null;
}

function pathKey(id: string | undefined) {
  return ['folder', id, 'path'] as const;
}

/** Undefined while it is loading, null if the folder is not in the tree. */
export function useFolderPath(id: string | undefined): string | null | undefined {
  const { data } = useGraph<FolderResult>(pathKey(id), pathDocument, { id }, { enabled: id !== undefined });
  return data && (data.folder?.path ?? null);
}

/** Caches a path that is already loaded. */
export function rememberPath(id: string, path: string): void {
  queries.setQueryData<FolderResult>(pathKey(id), { folder: { path } });
}
