/** Giving a level of access on a folder and taking it away, each with the way back from it. */

import type { AccessLevel } from '../graph/folder-row.ts';
import { type Page, readAllPages, maxPageSize } from '../graph/pages.ts';
import type { GraphQueryKey } from '../graph/use-graph.ts';
import { whileSignedIn } from '../session/session-data.ts';
import { client } from '../session/client.ts';
import { grantAccess, revokeAccess, type Grantee } from './access-actions.ts';
import type { UndoStep } from './task.ts';

/** A grant that is there, or could be. */
export interface GrantTarget {
  readonly folderId: string;
  readonly grantee: Grantee;
  /** As in a sentence: `the grant to ada`. */
  readonly what: string;
}

type Grantable = Omit<GrantTarget, 'what'>;

export function grantCall({ folderId, grantee }: Grantable, level: AccessLevel) {
  return { action: grantAccess, variables: { input: { folderId, ...grantee, level } } };
}

/** `before` is what was granted there until now: null, if nothing was. */
export function grantTask(place: GrantTarget, level: AccessLevel, before: AccessLevel | null) {
  return {
    ...grantCall(place, level),
    stale: staleOf(place),
    back: () => [backStep(place, { left: level, before })],
  };
}

export function revokeTask(place: GrantTarget, before: AccessLevel) {
  return { ...revokingTask(place), back: () => [backStep(place, { left: null, before })] };
}

function revokingTask(place: Grantable) {
  const { folderId, grantee } = place;
  return {
    action: revokeAccess,
    variables: { input: { folderId, ...grantee } },
    stale: staleOf(place),
  };
}

function staleOf({ folderId }: Grantable): readonly GraphQueryKey[] {
  return [['people'], ['folder', folderId]];
}

/** As long as the level is the one that was left. */
function backStep(
  place: GrantTarget,
  { left, before }: Readonly<Record<'left' | 'before', AccessLevel | null>>,
): UndoStep {
  return {
    subject: place.what,
    task: () =>
      before === null ? revokingTask(place) : { ...grantCall(place, before), staleQueries: staleOf(place) },
    isUnchanged: async () => (await readGrantedLevel(place)) === left,
  };
}

const grantsDocument = /* GraphQL */ `
  query GrantsOn($id: ID!, $first: Int, $after: String) {
    folder(id: $id) {
      access(first: $first, after: $after) {
        items {
          user {
            id
          }
          group {
            id
          }
          level
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`;

interface Grant {
  readonly user: { readonly id: string } | null;
  readonly group: { readonly id: string } | null;
  readonly level: AccessLevel;
}

interface Grants {
  readonly folder: { readonly access: Omit<Page<Grant>, 'totalCount'> } | null;
}

interface Asked {
  readonly folderId: string;
  readonly grantee: Grantee;
}

/** By a grant on the folder itself; null if there is none. */

export async function readGrantedLevel({ folderId, grantee }: Asked): Promise<AccessLevel | null> {
  const { userId, groupId } = grantee;
  const grants = await readAllPages(async (after) => {
    const variables = { id: folderId, first: maxPageSize, after };
    const { folder } = await whileSignedIn(client.query<Grants>(grantsDocument, variables));
    return folder && folder.access;
  });
  const isTheirs = (one: Grant) =>
    userId === undefined ? one.group?.id === groupId : one.user?.id === userId;
  return grants.find(isTheirs)?.level ?? null;
}
