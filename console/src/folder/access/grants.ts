/** The grants that hold for a folder, and changing them: shown at once, and taken back by Undo. */

import type { Grantee } from '../../actions/access-actions.ts';
import { updateQueryOptimistically } from '../../actions/optimistic-update.ts';
import { readGrantedLevel } from '../../actions/grants.ts';
import { grantCall, grantTask, revokeTask, type GrantTarget } from '../../actions/grants.ts';
import { perform, performOrReport } from '../../actions/perform.ts';
import type { AccessLevel } from '../../graph/live.tsx';
import { useAllPages } from '../../graph/use-pages.ts';
import type { Page } from '../../graph/use-pages.ts';
import { formatLevel } from '../../ui/access-level.tsx';
import type { PickedPerson } from '../../ui/person-picker.tsx';

export interface Grant {
  readonly folder: { readonly id: string; readonly title: string };
  readonly user: { readonly id: string; readonly username: string } | null;
  readonly group: { readonly id: string; readonly name: string } | null;
  readonly level: AccessLevel;
  readonly grantedAt: string;
}

interface Access {
  readonly folder: { readonly access: Omit<Page<Grant>, 'totalCount'> } | null;
}

/** What `Grant` asks for: append it to the documents that read grants, and spread `...GrantOnFolder`. */
export const folderGrantFields = /* GraphQL */ `
  fragment GrantOnFolder on Grant {
    folder {
      id
      title
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

/** Those on the folder and on its ancestors, the nearest first. */
export function useGrants(folderId: string) {
  return useAllPages<Access, Grant>(
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

export function isOf({ user, group }: Grant, { kind, id }: PickedPerson): boolean {
  return kind === 'user' ? user?.id === id : group?.id === id;
}

function granteeOf({ kind, id }: PickedPerson): Grantee {
  return kind === 'user' ? { userId: id } : { groupId: id };
}

function placeOf(folderId: string, person: PickedPerson): GrantTarget {
  return { folderId, grantee: granteeOf(person), subject: `the grant to ${person.name}` };
}

/** Tells a refusal by a message. */
export async function changeLevel(folderId: string, grant: Grant, level: AccessLevel): Promise<void> {
  if (level === grant.level) return;
  const person = personOf(grant);
  await performOrReport({
    ...grantTask(placeOf(folderId, person), level, grant.level),
    doneText: `${person.name} has ${formatLevel(level)} here now, instead of ${formatLevel(grant.level)}`,
    optimisticUpdate: () =>
      foreseeGrants(folderId, (grants) =>
        grants.map((one) => (isSame(one, grant) ? { ...one, level } : one)),
      ),
  });
}

/** Tells a refusal by a message. */
export async function takeAway(folderId: string, grant: Grant): Promise<void> {
  const person = personOf(grant);
  await performOrReport({
    ...revokeTask(placeOf(folderId, person), grant.level),
    doneText: `Took ${formatLevel(grant.level)} from ${person.name}; what is inherited holds again`,
    optimisticUpdate: () => foreseeGrants(folderId, (grants) => grants.filter((one) => !isSame(one, grant))),
  });
}

/** Rejects with the refusal, for a form to tell. */
export async function give(folderId: string, person: PickedPerson, level: AccessLevel): Promise<void> {
  const place = placeOf(folderId, person);
  // What is on the screen may be older than what somebody else has granted.
  const before = await readGrantedLevel(place);
  await perform({
    ...grantTask(place, level, before),
    doneText: `${person.name} has ${formatLevel(level)} here now`,
  });
}

/** What a form would do, for "copy as". */
export function givingCall(folderId: string, person: PickedPerson, level: AccessLevel) {
  return grantCall(placeOf(folderId, person), level);
}

function isSame(one: Grant, other: Grant): boolean {
  return one.folder.id === other.folder.id && isOf(one, personOf(other));
}

function foreseeGrants(folderId: string, change: (grants: readonly Grant[]) => readonly Grant[]): () => void {
  return updateQueryOptimistically<readonly Grant[]>(['folder', folderId, 'access'], change);
}
