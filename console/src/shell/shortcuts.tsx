/** The dialog that lists all keyboard shortcuts. */

import { useState } from 'react';
import { listCommands } from '../actions/palette-commands.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Keys } from './shortcut-keys.tsx';

type Shortcut = readonly [keys: string, what: string];

const sections: readonly { readonly name: string; readonly keys: readonly Shortcut[] }[] = [
  {
    name: 'Everywhere',
    keys: [
      ['Ctrl K', 'Search or run a command'],
      ['?', 'Show keyboard shortcuts'],
      ['Esc', 'Close the dialog or menu'],
    ],
  },
  {
    name: 'In the tree',
    keys: [
      ['↑ ↓', 'Previous or next row'],
      ['→', 'Expand the folder, then go to its first subfolder'],
      ['←', 'Collapse the folder, then go to its parent'],
      ['Home End', 'First and last row'],
      ['PgUp PgDn', 'One page up or down'],
      ['A … Z', 'Next folder that starts with the typed letters'],
      ['*', 'Expand all siblings'],
      ['Enter', 'Show the page of the folder'],
      ['Space', 'Select or deselect the folder'],
      ['Shift ↑ ↓', 'Extend the selection'],
      ['Shift Home End', 'Extend the selection to the first or last row'],
      ['Ctrl A', 'Select all siblings'],
      ['F2', 'Rename'],
      ['Insert', 'New folder inside'],
      ['Alt N', 'New folder inside'],
      ['Delete', 'Delete'],
      ['Ctrl X', 'Cut'],
      ['Ctrl V', 'Move the cut folders here'],
      ['Ctrl Z', 'Undo'],
      ['Shift F10', 'Open the menu of actions'],
    ],
  },
];

export function Shortcuts({ onClose }: { onClose: () => void }) {
  const [pageShortcuts] = useState(() =>
    listCommands().flatMap(({ keys, label }): Shortcut[] => (keys === undefined ? [] : [[keys, label]])),
  );
  const allSections = [
    ...sections,
    ...(pageShortcuts.length > 0 ? [{ name: 'On this page', keys: pageShortcuts }] : []),
  ];
  return (
    <Dialog title="Keyboard shortcuts" size="wide" onClose={onClose}>
      {/* Focusable, because arrow keys scroll it. */}
      <div className="shortcuts" role="group" aria-label="Shortcuts" tabIndex={0}>
        {allSections.map(({ name, keys }) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl>
              {keys.map(([of, what]) => (
                <div key={of} className="shortcut">
                  <dt>
                    <Keys of={of} />
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
