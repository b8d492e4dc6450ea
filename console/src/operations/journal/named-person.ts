/** Whom an id in the address means. */

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

type Named = Partial<Record<PickedPerson['kind'], { readonly name: string } | null>>;

/** Null without an id. Until the name is known, and if there is none any more, it is the id. */
export function useNamedPerson(kind: PickedPerson['kind'], id: string | undefined): PickedPerson | null {
  const { data } = useGraph<Named>(
    ['people', 'named', kind, id],
    kind === 'user' ? userDocument : groupDocument,
    { id },
    { enabled: id !== undefined },
  );
  const name = data?.[kind]?.name;
  return useMemo(() => (id === undefined ? null : { kind, id, name: name ?? `id:${id}` }), [kind, id, name]);
}

/** Its name need not be asked for again. */
export function rememberPerson(person: PickedPerson | null): void {
  if (!person) return;
  const { kind, id, name } = person;
  queries.setQueryData<Named>(['people', 'named', kind, id], { [kind]: { name } });
}
