/** Reads, changes and revokes the grants of a user or group. Every change can be undone. */

import type { Grantee } from '../actions/access-actions.ts';
import { updateQueryOptimistically } from '../actions/optimistic-update.ts';
import { grantTask, readGrantedLevel, revokeTask, type DescribedGrant } from '../actions/grant-actions.ts';
import { perform, performOrReport } from '../actions/perform.ts';
import type { AccessLevel } from '../graph/live.tsx';
import { useAllPages, type Page } from '../graph/use-pages.ts';
import type { GraphQueryKey } from '../graph/use-graph.ts';
import { formatLevel } from '../ui/access-level.tsx';
import { grantFields, type GrantRow } from './people-data.ts';

interface GrantsAnswer {
  readonly holder: { readonly grants: Omit<Page<GrantRow>, 'totalCount'> } | null;
}

const userGrantsDocument =
  /* GraphQL */ `
    query GrantsOfUser($id: ID!, $first: Int, $after: String) {
      holder: user(id: $id) {
        id
        grants(first: $first, after: $after) {
          items {
            ...GrantRow
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  ` + grantFields;

const groupGrantsDocument =
  /* GraphQL */ `
    query GrantsOfGroup($id: ID!, $first: Int, $after: String) {
      holder: group(id: $id) {
        id
        grants(first: $first, after: $after) {
          items {
            ...GrantRow
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  ` + grantFields;

function aboutGrants({ userId, groupId }: Grantee): GraphQueryKey {
  return ['people', 'grants', userId ?? groupId];
}

export function useGrantsTo(grantee: Grantee) {
  const { userId, groupId } = grantee;
  const document = userId === undefined ? groupGrantsDocument : userGrantsDocument;
  return useAllPages<GrantsAnswer, GrantRow>(
    aboutGrants(grantee),
    document,
    { id: userId ?? groupId },
    ({ holder }) => holder && holder.grants,
  );
}

const byPath = new Intl.Collator('en', { numeric: true });

/** Sorts by path, "/Floor 2" before "/Floor 10". */
export function sortByPath(grants: readonly GrantRow[]): readonly GrantRow[] {
  return grants.toSorted((one, other) => byPath.compare(one.folder.path, other.folder.path));
}

interface GrantFolder {
  readonly id: string;
  readonly path: string;
}

function describeGrant(grantee: Grantee, { id, path }: GrantFolder): DescribedGrant {
  return { folderId: id, grantee, subject: `the grant on ${path}` };
}

/** Rejects with the refusal, which the form shows. */
export async function grantAccess(
  grantee: Grantee,
  name: string,
  folder: GrantFolder,
  level: AccessLevel,
): Promise<void> {
  const grant = describeGrant(grantee, folder);
  // Another user may have changed the grant since this page was loaded.
  const before = await readGrantedLevel(grant);
  const doneText = `${formatLevel(level)} on ${folder.path} for ${name}`;
  await perform({ ...grantTask(grant, level, before), doneText });
}

/** Shows a refusal as a message. */
export async function changeLevel(grantee: Grantee, row: GrantRow, level: AccessLevel): Promise<void> {
  const { folder, level: before } = row;
  await performOrReport({
    ...grantTask(describeGrant(grantee, folder), level, before),
    doneText: `${formatLevel(level)} on ${folder.path}`,
    optimisticUpdate: foreseeing(grantee, (rows) =>
      rows.map((one) => (one.folder.id === folder.id ? { ...one, level } : one)),
    ),
  });
}

/** Shows a refusal as a message. */
export async function revokeGrant(grantee: Grantee, { folder, level }: GrantRow): Promise<void> {
  await performOrReport({
    ...revokeTask(describeGrant(grantee, folder), level),
    doneText: `Removed “${formatLevel(level)}” on ${folder.path}`,
    optimisticUpdate: foreseeing(grantee, (rows) => rows.filter((row) => row.folder.id !== folder.id)),
  });
}

function foreseeing(grantee: Grantee, change: (rows: readonly GrantRow[]) => readonly GrantRow[]) {
  return () => updateQueryOptimistically<readonly GrantRow[]>(aboutGrants(grantee), change);
}
