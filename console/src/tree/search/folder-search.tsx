/** A field that finds folders. What was found lies above what it is used with, which stays as it is. */

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
import { isComposing } from '../../ui/typing.ts';
import { Icon } from '../../ui/icons.tsx';
import { FoundList } from './search-results.tsx';
import { useFoundFolders, type FoundFolder } from './use-folder-search.ts';
import './folder-search.css';

interface FolderSearchProps {
  readonly label: string;
  readonly field?: RefObject<HTMLInputElement | null>;
  readonly autoFocus?: boolean | undefined;
  /** Beside the field. */
  readonly aside?: ReactNode;
  readonly canPick?: (folder: FoundFolder) => boolean;
  readonly onPick: (folder: FoundFolder) => void;
  /** Whoever used the field wants to be in what is below. */
  readonly onLeave: () => void;
  readonly children: ReactNode;
}

export function FolderSearch(props: FolderSearchProps) {
  const { label, aside, canPick = () => true, onPick, onLeave, children } = props;
  const own = useRef<HTMLInputElement>(null);
  const field = props.field ?? own;
  const listId = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  /** Enter was pressed before the answer was there: it is for the first of what will be found. */
  const [isAwaited, setIsAwaited] = useState(false);
  const found = useFoundFolders(text);
  const isSearching = text.trim() !== '';
  const items = isSearching ? (found.data?.items ?? []) : [];

  const change = (next: string) => {
    setText(next);
    setAt(0);
    setIsAwaited(false);
  };
  /** At once, so that what is below can take the focus. */
  const end = () => flushSync(() => change(''));
  const pick = (folder: FoundFolder) => {
    if (!canPick(folder)) return;
    end();
    onPick(folder);
  };
  const take = () => {
    setIsAwaited(false);
    const folder = items[at];
    if (folder) pick(folder);
  };
  useEffect(() => {
    // Not while React renders: it ends with a change that is shown at once.
    const timer = isAwaited && found.isAnswered ? setTimeout(take) : undefined;
    return () => clearTimeout(timer);
  });
  const step = (by: number) => {
    const next = Math.max(0, Math.min(items.length - 1, at + by));
    setAt(next);
    if (next === items.length - 1 && found.hasMore && !found.isReadingMore) found.readMore();
    document.getElementById(`${listId}-${next}`)?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const { key } = event;
    if (key === 'Escape' ? !isSearching : !['ArrowDown', 'ArrowUp', 'Enter'].includes(key)) return;
    event.preventDefault();
    // A dialog around it is not left by the same key.
    event.stopPropagation();
    if (key === 'Escape' || (key === 'ArrowDown' && !isSearching)) {
      end();
      onLeave();
    } else if (key === 'Enter') {
      if (found.isAnswered) take();
      else setIsAwaited(isSearching);
    } else if (isSearching) step(key === 'ArrowDown' ? 1 : -1);
  };
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
            aria-activedescendant={items[at] ? `${listId}-${at}` : undefined}
            autoComplete="off"
            spellCheck={false}
            placeholder={label}
            value={text}
            onChange={(event) => change(event.target.value)}
            onKeyDown={onKeyDown}
          />
          {text !== '' && (
            <button
              type="button"
              className="tree-find-empty"
              aria-label="Empty the field"
              onClick={() => {
                change('');
                field.current?.focus();
              }}
            >
              <Icon name="close" />
            </button>
          )}
        </div>
        {aside}
      </div>
      <div className="tree-body">
        <div className="tree-under" inert={isSearching}>
          {children}
        </div>
        {isSearching && (
          <div className="tree-found">
            <FoundList id={listId} found={found} at={at} canPick={canPick} onPick={pick} />
          </div>
        )}
      </div>
    </>
  );
}
