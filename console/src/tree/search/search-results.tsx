/** The folders that were found, each with what it was found by and the way to it. */

import { ShowMore } from '../../ui/show-more.tsx';
import { Empty, Failed, Loading } from '../../ui/states.tsx';
import { FolderIcon } from '../../ui/icons.tsx';
import { piecesOf } from './search-match.ts';
import { wayTo, type FoundFolder, type FoundFolders } from './use-folder-search.ts';

interface FoundListProps {
  readonly id: string;
  readonly found: FoundFolders;
  /** The one that Enter takes. */
  readonly at: number;
  readonly canPick: (folder: FoundFolder) => boolean;
  readonly onPick: (folder: FoundFolder) => void;
}

export function FoundList({ id, found, at, canPick, onPick }: FoundListProps) {
  const { data, error, refetch, sought } = found;
  if (!data && error) return <Failed error={error} retry={() => void refetch()} />;
  if (!data) return <Loading label="Searching" lines={5} />;
  if (data.items.length === 0) {
    return (
      <Empty icon="search" title={`Nothing is called “${sought}”`}>
        <p>Names and titles of all folders that you may see were searched. Try fewer letters.</p>
      </Empty>
    );
  }
  const { totalCount } = data;
  return (
    <>
      <p className="tree-found-count soft" role="status">
        {totalCount === 1 ? '1 folder' : `${totalCount.toLocaleString('en')} folders`}
      </p>
      <ul role="listbox" id={id} aria-label="Folders found">
        {data.items.map((folder, index) => (
          <li
            key={folder.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            aria-disabled={!canPick(folder) || undefined}
            className="tree-found-item"
            // The field keeps the focus.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onPick(folder)}
          >
            <FolderIcon icon={folder.icon} />
            <span className="tree-found-name">
              <Marked text={folder.name} sought={sought} />
              {folder.title !== folder.name && (
                <span className="soft">
                  {' '}
                  <Marked text={folder.title} sought={sought} />
                </span>
              )}
            </span>
            <span className="tree-found-way">{wayTo(folder)}</span>
          </li>
        ))}
      </ul>
      <ShowMore pages={found} things="folders" />
    </>
  );
}

function Marked({ text, sought }: { text: string; sought: string }) {
  return piecesOf(text, sought).map((piece, index) =>
    piece.isMatch ? <mark key={index}>{piece.text}</mark> : piece.text,
  );
}
