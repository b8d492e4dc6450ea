/** Searches folders by name or title, page by page. Each result has its ancestors. */

import { usePages, type Page, type PagedQuery } from '../../graph/use-pages.ts';
import { useDebounced } from '../../ui/typing.ts';

export interface FolderMatch {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly icon: string | null;
  readonly ancestors: readonly { readonly id: string; readonly name: string }[];
}

const searchDocument = /* GraphQL */ `
  query FindFolders($text: String!, $after: String) {
    search(text: $text, first: 50, after: $after) {
      totalCount
      pageInfo {
        hasNextPage
        endCursor
      }
      items {
        id
        name
        title
        icon
        ancestors {
          id
          name
        }
      }
    }
  }
`;

export interface FolderSearchResults extends PagedQuery<FolderMatch> {
  /** The text that was searched. It lags behind the field while the user types. */
  readonly searchText: string;
  /** The results belong to the text in the field. */
  readonly isCurrent: boolean;
}

/** The search starts when the user pauses. */
export function useFolderSearch(text: string): FolderSearchResults {
  const trimmed = text.trim();
  const searchText = useDebounced(trimmed, 150);
  const pages = usePages<{ search: Page<FolderMatch> }, FolderMatch>(
    ['search', searchText],
    searchDocument,
    { text: searchText },
    ({ search }) => search,
    { isEnabled: searchText !== '' },
  );
  const isCurrent = pages.data !== undefined && !pages.isPreviousData && searchText === trimmed;
  return { ...pages, searchText, isCurrent };
}

/** The names of the ancestors below the root. */
export function formatLocation({ ancestors }: FolderMatch): string {
  return ancestors.length < 2
    ? 'At the root'
    : ancestors
        .slice(1)
        .map(({ name }) => name)
        .join(' / ');
}

export function formatPath({ ancestors, name }: FolderMatch): string {
  if (ancestors.length === 0) return '/';
  return ['', ...ancestors.slice(1).map((ancestor) => ancestor.name), name].join('/');
}

export function isIdOrPath(text: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text) || /^\/[^\n]*$/.test(text);
}

export function hasIdOrPath(folder: FolderMatch, text: string): boolean {
  return folder.id === text.toLowerCase() || formatPath(folder) === text.replace(/(?<=.)\/$/, '');
}
