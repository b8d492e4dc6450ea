/** The dialog that lists all keyboard shortcuts. */

import { useState } from 'react';
import { listCommands } from '../actions/commands.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Keys } from './keys.tsx';

type Shortcut = readonly [keys: string, what: string];

const sections: readonly { readonly name: string; readonly keys: readonly Shortcut[] }[] = [
  {
    name: 'Everywhere',
    keys: [
      ['Ctrl K', 'Find or do something'],
      ['?', 'Show these keys'],
      ['Esc', 'Close what is open'],
    ],
  },
  {
    name: 'In the tree',
    keys: [
      ['↑ ↓', 'Walk up and down'],
      ['→', 'Show what is inside, then go in'],
      ['←', 'Hide what is inside, then go out'],
      ['Home End', 'First and last row'],
      ['PgUp PgDn', 'A screenful up and down'],
      ['A … Z', 'To the next folder that begins so'],
      ['*', 'Show what is inside all siblings'],
      ['Enter', 'Open the folder'],
      ['Space', 'Select the folder, or not'],
      ['Shift ↑ ↓', 'Select several'],
      ['F2', 'Rename'],
      ['Insert', 'New folder inside'],
      ['Alt N', 'New folder inside'],
      ['Delete', 'Delete'],
      ['Ctrl X', 'Cut, to be moved'],
      ['Ctrl V', 'Move here what was cut'],
      ['Ctrl Z', 'Undo'],
      ['Shift F10', 'Show what can be done'],
    ],
  },
];

export function Shortcuts({ onClose }: { onClose: () => void }) {
  const [offered] = useState(() =>
    listCommands().flatMap(({ keys, label }): Shortcut[] => (keys === undefined ? [] : [[keys, label]])),
  );
  const allSections = [...sections, ...(offered.length > 0 ? [{ name: 'On this page', keys: offered }] : [])];
  return (
    <Dialog title="Keyboard shortcuts" size="wide" onClose={onClose}>
      <div className="shortcuts">
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
