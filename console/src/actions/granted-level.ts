/** What is granted on a folder right now, asked of the server: a grant has no version to compare. */

import type { AccessLevel } from '../graph/folder-row.ts';
import { client } from '../session/client.ts';
import { whileHere } from '../session/leaving.ts';
import type { Grantee } from './access-actions.ts';

const grantsDocument = /* GraphQL */ `
  query GrantsOn($id: ID!) {
    folder(id: $id) {
      access {
        user {
          id
        }
        group {
          id
        }
        level
      }
    }
  }
`;

interface Grants {
  readonly folder: {
    readonly access: readonly {
      readonly user: { readonly id: string } | null;
      readonly group: { readonly id: string } | null;
      readonly level: AccessLevel;
    }[];
  } | null;
}

interface Asked {
  readonly folderId: string;
  readonly grantee: Grantee;
}

/** By a grant on the folder itself; null if there is none. */
export async function grantedLevel({ folderId, grantee }: Asked): Promise<AccessLevel | null> {
  const { userId, groupId } = grantee;
  const { folder } = await whileHere(client.query<Grants>(grantsDocument, { id: folderId }));
  const isTheirs = (one: { user: { id: string } | null; group: { id: string } | null }) =>
    userId === undefined ? one.group?.id === groupId : one.user?.id === userId;
  return folder?.access.find(isTheirs)?.level ?? null;
}
