/** What is granted on a folder right now, asked of the server: a grant has no version to compare. */

import type { AccessLevel } from '../graph/folder-row.ts';
import { maxPageSize, readEveryPage } from '../graph/every-page.ts';
import type { Page } from '../graph/use-pages.ts';
import { client } from '../session/client.ts';
import { whileHere } from '../session/leaving.ts';
import type { Grantee } from './access-actions.ts';

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
export async function grantedLevel({ folderId, grantee }: Asked): Promise<AccessLevel | null> {
  const { userId, groupId } = grantee;
  const grants = await readEveryPage(async (after) => {
    const variables = { id: folderId, first: maxPageSize, after };
    const { folder } = await whileHere(client.query<Grants>(grantsDocument, variables));
    return folder && folder.access;
  });
  const isTheirs = (one: Grant) =>
    userId === undefined ? one.group?.id === groupId : one.user?.id === userId;
  return grants.find(isTheirs)?.level ?? null;
}
