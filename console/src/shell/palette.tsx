/** The command palette: one field that finds folders, people and screens, and runs commands. */

import { Dialog, Modal, ModalOverlay } from 'react-aria-components';
import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';
import { useViewer } from '../session/session.tsx';
import { isComposing } from '../ui/typing.ts';
import { Icon } from '../ui/icons.tsx';
import { Name } from '../ui/text.tsx';
import { Keys } from './shortcut-keys.tsx';
import { groupItems } from './palette-items.ts';
import './palette.css';
import { rememberRecent } from './recent-choices.ts';
import { usePaletteItems, type NavigableItem } from './use-palette-items.ts';

interface PaletteProps {
  readonly onClose: () => void;
  readonly onShortcuts: () => void;
  readonly onSignOut: () => void;
}

export function Palette({ onClose, ...items }: PaletteProps) {
  return (
    <ModalOverlay
      className="dialog-backdrop"
      isOpen
      isDismissable
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <Modal className="dialog palette">
        <Dialog className="palette-content" aria-label="Search or run a command">
          <Finder onClose={onClose} {...items} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Finder({ onClose, onShortcuts, onSignOut }: PaletteProps) {
  const viewer = useViewer();
  const [text, setText] = useState('');
  const listId = useId();
  const { items, isSearching } = usePaletteItems(text, onShortcuts, onSignOut);
  const groups = groupItems(items);
  const options = groups.flatMap((group) => group.items) as NavigableItem[];
  const run = (item: NavigableItem) => {
    rememberRecent(viewer.id, { id: item.id, ...(item.target && { target: item.target }) });
    onClose();
    // Runs after the palette has closed, so that the opened page or dialog gets the focus.
    setTimeout(item.run);
  };
  const { active, setActive, handleKey } = useActiveOption(options, run);
  const optionId = (id: string) => `${listId}-${id}`;

  return (
    <>
      <PaletteField
        text={text}
        listId={listId}
        activeOptionId={active && optionId(active.id)}
        onChange={(value) => {
          setText(value);
          setActive(null);
        }}
        onKeyDown={handleKey}
      />
      <div className="palette-list" id={listId} role="listbox" aria-label="Results">
        {groups.map(({ name, items: ofGroup }) => (
          <div key={name} role="group" aria-label={name}>
            <p className="menu-header" aria-hidden="true">
              {name}
            </p>
            {ofGroup.map((item) => (
              <Option
                key={item.id}
                id={optionId(item.id)}
                item={item}
                isActive={item.id === active?.id}
                onPoint={() => setActive(item.id)}
                onChoose={() => run(item)}
              />
            ))}
          </div>
        ))}
      </div>
      {options.length === 0 && (
        <p className="palette-none soft">{isSearching ? 'Searching…' : 'No results'}</p>
      )}
      <p className="visually-hidden" role="status">
        {isSearching ? '' : options.length === 1 ? '1 result' : `${options.length} results`}
      </p>
    </>
  );
}

/** The option that Enter runs, and the keys that move it. */
function useActiveOption(options: readonly NavigableItem[], run: (item: NavigableItem) => void) {
  const [activeId, setActive] = useState<string | null>(null);
  const index = Math.max(
    0,
    options.findIndex(({ id }) => id === activeId),
  );
  const active = options[index];
  const handleKey = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const last = options.length - 1;
    const targets: Record<string, number> = {
      ArrowDown: index === last ? 0 : index + 1,
      ArrowUp: index === 0 ? last : index - 1,
      PageDown: Math.min(index + 8, last),
      PageUp: Math.max(index - 8, 0),
    };
    const next = targets[event.key];
    if (next !== undefined) {
      event.preventDefault();
      setActive(options[next]?.id ?? null);
    } else if (event.key === 'Enter' && active) {
      event.preventDefault();
      run(active);
    }
  };
  return { active, setActive, handleKey };
}

interface PaletteFieldProps {
  readonly text: string;
  readonly listId: string;
  readonly activeOptionId: string | undefined;
  readonly onChange: (text: string) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

function PaletteField({ text, listId, activeOptionId, onChange, onKeyDown }: PaletteFieldProps) {
  return (
    <div className="palette-field">
      <Icon name="search" />
      <input
        className="palette-input"
        type="text"
        role="combobox"
        aria-label="Search or run a command"
        aria-expanded
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={activeOptionId}
        placeholder="Folder, user, screen or action"
        autoComplete="off"
        spellCheck={false}
        autoFocus
        value={text}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <kbd aria-hidden="true">Esc</kbd>
    </div>
  );
}

interface OptionProps {
  readonly id: string;
  readonly item: NavigableItem;
  readonly isActive: boolean;
  readonly onPoint: () => void;
  readonly onChoose: () => void;
}

function Option({ id, item: { label, detail, icon, keys }, isActive, onPoint, onChoose }: OptionProps) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isActive) element.current?.scrollIntoView({ block: 'nearest' });
  }, [isActive]);
  return (
    <div
      ref={element}
      id={id}
      className="palette-option"
      role="option"
      aria-selected={isActive}
      // Not `pointerenter`, because it also fires when the list scrolls below a resting pointer.
      onPointerMove={onPoint}
      onClick={onChoose}
    >
      <Icon name={icon} />
      <span className="palette-label">
        <Name>{label}</Name>
      </span>
      {detail !== undefined && (
        <span className="palette-detail">
          <Name>{detail}</Name>
        </span>
      )}
      {keys !== undefined && <Keys of={keys} />}
    </div>
  );
}
