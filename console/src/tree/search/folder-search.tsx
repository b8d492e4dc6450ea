/** A search field for folders. The results cover the content below it, which keeps its state. */

import {
  useEffect,
  useId,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
} from 'react';
import { flushSync } from 'react-dom';
import { Icon } from '../../ui/icons.tsx';
import { isComposing } from '../../ui/typing.ts';
import { SearchResults } from './search-results.tsx';
import { hasIdOrPath, isIdOrPath, useFolderSearch, type FolderMatch } from './use-folder-search.ts';
import './folder-search.css';

interface FolderSearchProps {
  readonly label: string;
  readonly field?: RefObject<HTMLInputElement | null>;
  readonly autoFocus?: boolean | undefined;
  /** Appears next to the field. */
  readonly aside?: ReactNode;
  readonly canPick?: (folder: FolderMatch) => boolean;
  readonly onPick: (folder: FolderMatch) => void;
  /** Moves the focus to the content below. */
  readonly onLeave: () => void;
  readonly children: ReactNode;
}

export function FolderSearch(props: FolderSearchProps) {
  const { label, aside, canPick = () => true, onPick, onLeave, children } = props;
  const ownField = useRef<HTMLInputElement>(null);
  const field = props.field ?? ownField;
  const listId = useId();
  const search = useSearchState(listId, canPick, onPick);
  const { text, activeIndex, results, items, isSearching } = search;
  return (
    <>
      <div className="tree-bar">
        <div className="tree-find">
          <Icon name="search" />
          <input
            ref={field}
            className="input"
            type="text"
            role="combobox"
            aria-label={label}
            autoFocus={props.autoFocus}
            aria-expanded={items.length > 0}
            aria-controls={items.length > 0 ? listId : undefined}
            aria-autocomplete="list"
            aria-activedescendant={items[activeIndex] ? `${listId}-${activeIndex}` : undefined}
            autoComplete="off"
            spellCheck={false}
            placeholder="Name, path or id"
            value={text}
            onChange={(event) => search.change(event.target.value)}
            onPaste={(event) => {
              if (text === '' && search.jump(event.clipboardData.getData('text'))) event.preventDefault();
            }}
            onKeyDown={(event) => handleKey(event, search, onLeave)}
          />
          {text !== '' && <ClearButton field={field} onClear={() => search.change('')} />}
        </div>
        {aside}
      </div>
      <div className="tree-body">
        <div className="tree-under" inert={isSearching}>
          {children}
        </div>
        {isSearching && (
          <div className="tree-found">
            <SearchResults
              id={listId}
              results={results}
              activeIndex={activeIndex}
              canPick={canPick}
              onPick={search.pick}
            />
          </div>
        )}
      </div>
    </>
  );
}

function handleKey(event: KeyboardEvent, search: SearchState, onLeave: () => void): void {
  const { key } = event;
  const { isSearching } = search;
  if (isComposing(event)) return;
  if (key === 'Escape' ? !isSearching : !['ArrowDown', 'ArrowUp', 'Enter'].includes(key)) return;
  event.preventDefault();
  // The same key must not close a surrounding dialog.
  event.stopPropagation();
  if (key === 'Escape' || (key === 'ArrowDown' && !isSearching)) {
    search.end();
    onLeave();
  } else if (key === 'Enter') search.enter();
  else if (isSearching) search.step(key === 'ArrowDown' ? 1 : -1);
}

interface ClearButtonProps {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly onClear: () => void;
}

function ClearButton({ field, onClear }: ClearButtonProps) {
  const clear = () => {
    onClear();
    field.current?.focus();
  };
  return (
    <button type="button" className="tree-find-empty" aria-label="Clear the field" onClick={clear}>
      <Icon name="close" />
    </button>
  );
}

type SearchState = ReturnType<typeof useSearchState>;

/** The typed text, its results, and the active one. */
function useSearchState(
  listId: string,
  canPick: (folder: FolderMatch) => boolean,
  onPick: (folder: FolderMatch) => void,
) {
  const [text, setText] = useState('');
  const [activeIndex, setActiveIndex] = useState(0);
  /** The result to pick when results arrive: the first one if Enter was pressed, or the folder with the pasted id or path. */
  const [pending, setPending] = useState<'first' | 'pasted' | null>(null);
  const results = useFolderSearch(text);
  const isSearching = text.trim() !== '';
  const items = isSearching ? (results.data?.items ?? []) : [];

  const change = (next: string) => {
    setText(next);
    setActiveIndex(0);
    setPending(null);
  };
  /** Synchronous, so that the content below can take the focus. */
  const end = () => flushSync(() => change(''));
  const pick = (folder: FolderMatch) => {
    if (!canPick(folder)) return;
    end();
    onPick(folder);
  };
  const pickActive = () => {
    setPending(null);
    const folder = pending === 'pasted' ? items.find((item) => hasIdOrPath(item, text)) : items[activeIndex];
    if (folder) pick(folder);
  };
  useEffect(() => {
    // `pick` uses flushSync, which is not allowed while React renders.
    const timer = pending !== null && results.isCurrent ? setTimeout(pickActive) : undefined;
    return () => clearTimeout(timer);
  });
  const enter = () => {
    if (results.isCurrent) pickActive();
    else setPending(isSearching ? 'first' : null);
  };
  /** Opens the folder with the pasted id or path immediately. Returns false if the text is neither. */
  const jump = (pasted: string) => {
    const idOrPath = pasted.trim();
    if (!isIdOrPath(idOrPath)) return false;
    change(idOrPath);
    setPending('pasted');
    return true;
  };
  const step = (by: number) => {
    const next = Math.max(0, Math.min(items.length - 1, activeIndex + by));
    setActiveIndex(next);
    if (next === items.length - 1 && results.hasMore && !results.isReadingMore) results.readMore();
    document.getElementById(`${listId}-${next}`)?.scrollIntoView({ block: 'nearest' });
  };
  return { text, activeIndex, results, items, isSearching, change, end, pick, enter, jump, step };
}
