/** Reads and changes the grants of a folder. Changes are shown immediately and can be undone. */

import type { Grantee } from '../../actions/access-actions.ts';
import { updateQueryOptimistically } from '../../actions/optimistic-update.ts';
import {
  grantCall,
  grantTask,
  readGrantedLevel,
  revokeTask,
  type DescribedGrant,
} from '../../actions/grant-actions.ts';
import { perform, performOrReport } from '../../actions/perform.ts';
import type { AccessLevel } from '../../graph/live.tsx';
import { useAllPages, type Page } from '../../graph/use-pages.ts';
import { formatLevel } from '../../ui/access-level.tsx';
import type { PickedPerson } from '../../ui/person-picker.tsx';

export interface Grant {
  readonly folder: { readonly id: string; readonly name: string };
  readonly user: { readonly id: string; readonly username: string } | null;
  readonly group: { readonly id: string; readonly name: string } | null;
  readonly level: AccessLevel;
  readonly grantedAt: string;
}

interface AccessResponse {
  readonly folder: { readonly access: Omit<Page<Grant>, 'totalCount'> } | null;
}

/** The fragment that reads a `Grant`. Append it to a document and spread `...GrantOnFolder`. */
export const folderGrantFields = /* GraphQL */ `
  fragment GrantOnFolder on Grant {
    folder {
      id
      name
    }
    user {
      id
      username
    }
    group {
      id
      name
    }
    level
    grantedAt
  }
`;

const accessDocument =
  /* GraphQL */ `
    query AccessTo($id: ID!, $first: Int, $after: String) {
      folder(id: $id) {
        access(inherited: true, first: $first, after: $after) {
          items {
            ...GrantOnFolder
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  ` + folderGrantFields;

/** The grants on the folder and on its ancestors, the nearest first. */
export function useGrants(folderId: string) {
  return useAllPages<AccessResponse, Grant>(
    ['folder', folderId, 'access'],
    accessDocument,
    { id: folderId },
    ({ folder }) => folder && folder.access,
  );
}

export function personOf({ user, group }: Pick<Grant, 'user' | 'group'>): PickedPerson {
  return user
    ? { kind: 'user', id: user.id, name: user.username }
    : { kind: 'group', id: group?.id ?? '', name: group?.name ?? '' };
}

export function isGrantTo({ user, group }: Grant, { kind, id }: PickedPerson): boolean {
  return kind === 'user' ? user?.id === id : group?.id === id;
}

function granteeOf({ kind, id }: PickedPerson): Grantee {
  return kind === 'user' ? { userId: id } : { groupId: id };
}

function describeGrant(folderId: string, person: PickedPerson): DescribedGrant {
  return { folderId, grantee: granteeOf(person), subject: `the grant to ${person.name}` };
}

/** Reports an error as a toast. */
export async function changeLevel(folderId: string, grant: Grant, level: AccessLevel): Promise<void> {
  if (level === grant.level) return;
  const person = personOf(grant);
  await performOrReport({
    ...grantTask(describeGrant(folderId, person), level, grant.level),
    doneText: `${person.name} now has ${formatLevel(level)} here instead of ${formatLevel(grant.level)}`,
    optimisticUpdate: () =>
      updateGrantsOptimistically(folderId, (grants) =>
        grants.map((each) => (isSameGrant(each, grant) ? { ...each, level } : each)),
      ),
  });
}

/** Reports an error as a toast. */
export async function revokeGrant(folderId: string, grant: Grant): Promise<void> {
  const person = personOf(grant);
  await performOrReport({
    ...revokeTask(describeGrant(folderId, person), grant.level),
    doneText: `Removed ${formatLevel(grant.level)} from ${person.name}; inherited access applies`,
    optimisticUpdate: () =>
      updateGrantsOptimistically(folderId, (grants) => grants.filter((each) => !isSameGrant(each, grant))),
  });
}

/** Rejects with the server's error, which the form displays. */
export async function grantLevel(folderId: string, person: PickedPerson, level: AccessLevel): Promise<void> {
  const grant = describeGrant(folderId, person);
  // Another user may have changed the grant since it was displayed.
  const before = await readGrantedLevel(grant);
  await perform({
    ...grantTask(grant, level, before),
    doneText: `${person.name} now has ${formatLevel(level)} here`,
  });
}

/** The call of the form, for "copy as". */
export function createGrantCall(folderId: string, person: PickedPerson, level: AccessLevel) {
  return grantCall(describeGrant(folderId, person), level);
}

function isSameGrant(one: Grant, other: Grant): boolean {
  return one.folder.id === other.folder.id && isGrantTo(one, personOf(other));
}

function updateGrantsOptimistically(
  folderId: string,
  change: (grants: readonly Grant[]) => readonly Grant[],
): () => void {
  return updateQueryOptimistically<readonly Grant[]>(['folder', folderId, 'access'], change);
}
