/** Grants together with whom they are for: any number of them costs two statements. */

import type { Grant } from '../../access/grants.ts';
import { readGroups, type Group } from '../../accounts/groups.ts';
import { whenDone, type PromiseOrValue, type Reader } from '../../database/database.ts';
import { readUserNodes, type UserNode } from '../people/people-level.ts';

export interface GrantNode {
  readonly grant: Grant;
  /** Either of them; neither if they have been deleted meanwhile. */
  readonly user: UserNode | null;
  readonly group: Group | null;
}

export function toGrantNodes(reader: Reader, grants: readonly Grant[]): PromiseOrValue<GrantNode[]> {
  const idsOf = (kind: Grant['subject']['kind']) => [
    ...new Set(grants.filter(({ subject }) => subject.kind === kind).map(({ subject }) => subject.id)),
  ];
  return whenDone(readUserNodes(reader, idsOf('user')), (users) =>
    whenDone(readGroups(reader, idsOf('group')), (groups) =>
      grants.map((grant) => ({
        grant,
        user: users.get(grant.subject.id) ?? null,
        group: groups.get(grant.subject.id) ?? null,
      })),
    ),
  );
}
