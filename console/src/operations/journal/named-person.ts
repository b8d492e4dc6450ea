/** Reads the name of a user or group by the id in the address. */

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
