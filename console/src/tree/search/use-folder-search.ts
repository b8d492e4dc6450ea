/** Folders by name or title, with the way to each, page by page. */

import { usePages, type Page, type Pages } from '../../graph/use-pages.ts';
import { useDebounced } from '../../ui/typing.ts';

export interface FoundFolder {
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

export interface FoundFolders extends Pages<FoundFolder> {
  /** What is asked for: the text of before, until the person pauses. */
  readonly sought: string;
  /** The folders are what was found by the text as it is. */
  readonly isAnswered: boolean;
}

/** Asks when the person pauses. */
export function useFoundFolders(text: string): FoundFolders {
  const wanted = text.trim();
  const sought = useDebounced(wanted, 150);
  const found = usePages<{ search: Page<FoundFolder> }, FoundFolder>(
    ['search', sought],
    searchDocument,
    { text: sought },
    ({ search }) => search,
    { isEnabled: sought !== '' },
  );
  const isAnswered = found.data !== undefined && !found.isPreviousData && sought === wanted;
  return { ...found, sought, isAnswered };
}

/** The names on the way to a folder, below the root. */
export function wayTo({ ancestors }: FoundFolder): string {
  return ancestors.length < 2
    ? 'At the top'
    : ancestors
        .slice(1)
        .map(({ name }) => name)
        .join(' / ');
}

export function pathOf({ ancestors, name }: FoundFolder): string {
  if (ancestors.length === 0) return '/';
  return ['', ...ancestors.slice(1).map((above) => above.name), name].join('/');
}
