/** The folders that concern only the viewer: their favorites, their recent visits, and the folders shared with them. */

import { useEffect } from 'react';
import { setFavorite } from '../actions/folder-actions.ts';
import { performOrReport } from '../actions/perform.ts';
import type { AnyTask } from '../actions/task.ts';
import type { AccessLevel } from '../graph/folder-change.ts';
import { personalKey, queries, useGraph } from '../graph/use-graph.ts';
import { navigate } from '../router.tsx';
import { client } from '../session/client.ts';
import { useViewer } from '../session/session.tsx';
import { currentView } from '../session/view-as.ts';
import { IconButton } from '../ui/button.tsx';
import type { IconName } from '../ui/icons.tsx';

/** The last segment of the address of the list: `/folders/favorites`. */
export type FolderListKind = 'favorites' | 'recent' | 'shared';

export interface FolderList {
  readonly kind: FolderListKind;
  readonly label: string;
  /** Fits into the narrow pane of the tree. */
  readonly shortLabel?: string;
  readonly icon: IconName;
}

const folderLists: readonly FolderList[] = [
  { kind: 'favorites', label: 'Favorites', icon: 'star' },
  { kind: 'recent', label: 'Recent', icon: 'clock' },
  { kind: 'shared', label: 'Shared with me', shortLabel: 'Shared', icon: 'group' },
];

/** Nothing is shared with administrators, because their access needs no grant. A view as another user has no favorites and no visits. */
export function listsFor({ isAdministrator }: { readonly isAdministrator: boolean }): readonly FolderList[] {
  return folderLists.filter(({ kind }) => (kind === 'shared' ? !isAdministrator : !currentView));
}

export interface ListedFolder {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly icon: string | null;
  readonly path: string;
  readonly accessLevel: AccessLevel;
}

/** The fragment that reads a `ListedFolder`. Append it to a document and spread `...ListedFolder`. */
export const listedFolderFields = /* GraphQL */ `
  fragment ListedFolder on Folder {
    id
    name
    title
    icon
    path
    accessLevel
  }
`;

/** The server keeps at most 200 favorites of each user. */
const favoritesDocument =
  /* GraphQL */ `
    query Favorites {
      viewer {
        favorites(first: 200) {
          items {
            ...ListedFolder
          }
        }
      }
    }
  ` + listedFolderFields;

interface FavoritesResponse {
  readonly viewer: { readonly favorites: { readonly items: readonly ListedFolder[] } };
}

const favoritesKey = [...personalKey, 'favorites'] as const;

export function useFavorites() {
  return useGraph<FavoritesResponse>(favoritesKey, favoritesDocument);
}

/** Undefined while the favorites are loading. */
export function useIsFavorite(id: string): boolean | undefined {
  return useFavorites().data?.viewer.favorites.items.some((folder) => folder.id === id);
}

/** The favorites that are already loaded. */
export function isCachedFavorite(id: string): boolean {
  const data = queries.getQueryData<FavoritesResponse>(favoritesKey);
  return data?.viewer.favorites.items.some((folder) => folder.id === id) ?? false;
}

/** Adds a folder to the favorites, or removes it. Disabled until the favorites are loaded. */
export function FavoriteButton({ folder }: { folder: Pick<ListedFolder, 'id' | 'name'> }) {
  const isFavorite = useIsFavorite(folder.id);
  if (currentView) return null;
  return (
    <IconButton
      label="Favorite"
      icon="star"
      aria-pressed={isFavorite ?? false}
      isDisabled={isFavorite === undefined}
      onPress={() => void toggleFavorite(folder, !isFavorite)}
    />
  );
}

/** Reports an error as a toast. */
export async function toggleFavorite(
  { id, name }: Pick<ListedFolder, 'id' | 'name'>,
  isFavorite: boolean,
): Promise<void> {
  const task = (value: boolean) =>
    ({
      action: setFavorite,
      variables: { input: { folderId: id, isFavorite: value } },
      staleQueries: [favoritesKey],
    }) satisfies AnyTask;
  await performOrReport({
    ...task(isFavorite),
    doneText: isFavorite ? `Added “${name}” to your favorites` : `Removed “${name}” from your favorites`,
    undoSteps: () => [{ subject: `“${name}”`, task: () => task(!isFavorite) }],
  });
}

const visitDocument = /* GraphQL */ `
  mutation VisitFolder($input: VisitFolderInput!) {
    visitFolder(input: $input) {
      __typename
    }
  }
`;

/** Adds a folder to the recent folders of the viewer, unless it is null. */
export function useVisit(id: string | null): void {
  useEffect(() => {
    if (id === null || currentView) return;
    const visit = async () => {
      try {
        await client.mutate(visitDocument, { input: { folderId: id } });
        await queries.invalidateQueries({ queryKey: [...personalKey, 'recent'] });
      } catch {
        // The page of the folder reports a lost connection. The visit is only missing from a list.
      }
    };
    void visit();
  }, [id]);
}

const landingDocument = /* GraphQL */ `
  query Landing {
    folder {
      accessLevel
    }
    viewer {
      sharedFolders(first: 2) {
        items {
          id
        }
      }
    }
  }
`;

interface LandingResponse {
  readonly folder: { readonly accessLevel: AccessLevel };
  readonly viewer: { readonly sharedFolders: { readonly items: readonly { readonly id: string }[] } };
}

/** The session for which `useLanding` has chosen the first page. Later visits to the root display the root. */
let landedSessionId: string | null = null;

/**
 * Displays the folders shared with the viewer instead of a root that they cannot read: the folder itself if it is the only one, otherwise
 * the list. This happens once for each session and page load, so that the root stays reachable.
 */
export function useLanding(isRoot: boolean): void {
  const { sessionId, isAdministrator } = useViewer();
  useEffect(() => {
    if (landedSessionId === sessionId) return;
    landedSessionId = sessionId;
    if (!isRoot || isAdministrator) return;
    let isGone = false;
    const land = async () => {
      const { folder, viewer } = await client.query<LandingResponse>(landingDocument);
      const [first, second] = viewer.sharedFolders.items;
      if (isGone || folder.accessLevel !== 'NONE' || !first) return;
      navigate(second ? '/folders/shared' : `/folders/${first.id}`, { replace: true });
    };
    // After an error the root is displayed. Its page reports the error.
    land().catch(() => undefined);
    return () => {
      isGone = true;
    };
  }, [sessionId, isAdministrator, isRoot]);
}
