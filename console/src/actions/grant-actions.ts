/** Grants and revokes access levels on folders, with undo. */

import type { AccessLevel } from '../graph/folder-change.ts';
import { maxPageSize, readAllPages, type Page } from '../graph/pages.ts';
import { peopleQueries, type GraphQueryKey } from '../graph/use-graph.ts';
import { client } from '../session/client.ts';
import { whileSignedIn } from '../session/session-data.ts';
import { grantAccess, revokeAccess, type Grantee } from './access-actions.ts';
import type { AnyTask, UndoStep } from './task.ts';

interface GrantKey {
  readonly folderId: string;
  readonly grantee: Grantee;
}

/** A folder and a grantee, with the text that names the grant in messages. */
export interface DescribedGrant extends GrantKey {
  /** The name of the grant in messages, for example `the grant to ada`. */
  readonly subject: string;
}

export function grantCall({ folderId, grantee }: GrantKey, level: AccessLevel) {
  return { action: grantAccess, variables: { input: { folderId, ...grantee, level } } };
}

/** `previousLevel` is null for a new grant. */
export function grantTask(grant: DescribedGrant, level: AccessLevel, previousLevel: AccessLevel | null) {
  return {
    ...grantCall(grant, level),
    staleQueries: staleQueriesOf(grant),
    undoSteps: () => [createUndoStep(grant, { after: level, before: previousLevel })],
  } satisfies AnyTask;
}

export function revokeTask(grant: DescribedGrant, before: AccessLevel) {
  return {
    ...revokeTaskWithoutUndo(grant),
    undoSteps: () => [createUndoStep(grant, { after: null, before })],
  } satisfies AnyTask;
}

/** Like `revokeTask`, but without undo steps. The undo of a new grant runs this task. */
function revokeTaskWithoutUndo(grant: GrantKey) {
  const { folderId, grantee } = grant;
  return {
    action: revokeAccess,
    variables: { input: { folderId, ...grantee } },
    staleQueries: staleQueriesOf(grant),
  } satisfies AnyTask;
}

function staleQueriesOf({ folderId }: GrantKey): readonly GraphQueryKey[] {
  return [...peopleQueries, ['folder', folderId]];
}

/** Restores `before`, if the level is still `after`. */
function createUndoStep(
  grant: DescribedGrant,
  { after, before }: Readonly<Record<'after' | 'before', AccessLevel | null>>,
): UndoStep {
  return {
    subject: grant.subject,
    task: () =>
      before === null
        ? revokeTaskWithoutUndo(grant)
        : { ...grantCall(grant, before), staleQueries: staleQueriesOf(grant) },
    isUnchanged: async () => (await readGrantedLevel(grant)) === after,
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

interface GrantsResponse {
  readonly folder: { readonly access: Omit<Page<Grant>, 'totalCount'> } | null;
}

/**
 * Reads the level that a grant on the folder itself gives, or null. Grants have no version, so an undo compares levels instead.
 */
export async function readGrantedLevel({ folderId, grantee }: GrantKey): Promise<AccessLevel | null> {
  const { userId, groupId } = grantee;
  const grants = await readAllPages(async (after) => {
    const variables = { id: folderId, first: maxPageSize, after };
    const { folder } = await whileSignedIn(client.query<GrantsResponse>(grantsDocument, variables));
    return folder && folder.access;
  });
  const isOfGrantee = ({ user, group }: Grant) =>
    userId === undefined ? group?.id === groupId : user?.id === userId;
  return grants.find(isOfGrantee)?.level ?? null;
}
