/**
 * The list of search results, with the matched text highlighted. It is a list box and not a table, because the focus stays in the
 * search field, whose arrow keys choose a result.
 */

import { Button } from '../../ui/button.tsx';
import { Empty, Failed, Loading } from '../../ui/states.tsx';
import { FolderIcon } from '../../ui/icons.tsx';
import { Name } from '../../ui/text.tsx';
import { splitMatch } from './search-match.ts';
import { formatLocation, type FolderMatch, type FolderSearchResults } from './use-folder-search.ts';

interface SearchResultsProps {
  readonly id: string;
  readonly results: FolderSearchResults;
  /** The result that Enter picks. */
  readonly activeIndex: number;
  readonly canPick: (folder: FolderMatch) => boolean;
  readonly onPick: (folder: FolderMatch) => void;
}

export function SearchResults({ id, results, activeIndex, canPick, onPick }: SearchResultsProps) {
  const { data, error, refetch, searchText } = results;
  if (!data && error) return <Failed error={error} retry={() => void refetch()} />;
  if (!data) return <Loading label="Searching" lines={5} />;
  if (data.items.length === 0) {
    return (
      <Empty icon="search" title={`No folder matches “${searchText}”`}>
        <p>
          Search for a name, a title, a path or an id. To narrow the search, start with words from the folders
          above. For example, “harbour floor” finds /Places/Harbour Campus/Floor 2.
        </p>
      </Empty>
    );
  }
  const { totalCount, items } = data;
  return (
    <>
      <p className="tree-found-count soft" role="status">
        {totalCount === 1 ? '1 folder' : `${totalCount.toLocaleString('en')} folders`}
      </p>
      <ul role="listbox" id={id} aria-label="Folders found">
        {items.map((folder, index) => (
          <li
            key={folder.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === activeIndex}
            aria-disabled={!canPick(folder) || undefined}
            className="tree-found-item"
            // Keeps the focus in the field.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onPick(folder)}
          >
            <FolderIcon icon={folder.icon} />
            <span className="tree-found-name">
              <Highlighted text={folder.name} searchText={searchText} />
              {folder.title !== folder.name && (
                <span className="soft">
                  {' '}
                  <Highlighted text={folder.title} searchText={searchText} />
                </span>
              )}
            </span>
            <span className="tree-result-path">
              <Highlighted text={formatLocation(folder)} searchText={searchText} />
            </span>
          </li>
        ))}
      </ul>
      <ShowMore results={results} />
    </>
  );
}

function ShowMore({
  results: { data, hasMore, isReadingMore, readMore },
}: Pick<SearchResultsProps, 'results'>) {
  if (!data || !hasMore) return null;
  return (
    <div className="show-more">
      <Button isPending={isReadingMore} onPress={readMore}>
        Show more folders
      </Button>
      <span className="soft number">
        {data.items.length.toLocaleString('en')} of {data.totalCount.toLocaleString('en')}
      </span>
    </div>
  );
}

function Highlighted({ text, searchText }: { text: string; searchText: string }) {
  return splitMatch(text, searchText).map((piece, index) =>
    piece.isMatch ? (
      <mark key={index}>
        <Name>{piece.text}</Name>
      </mark>
    ) : (
      <Name key={index}>{piece.text}</Name>
    ),
  );
}
