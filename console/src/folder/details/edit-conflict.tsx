/** Shows conflicting edits of the viewer and another user side by side, and lets the viewer choose. */

import { Button } from '../../ui/button.tsx';
import { DataTable, type TableColumn } from '../../ui/data-table.tsx';
import { Icon } from '../../ui/icons.tsx';
import { fieldLabels, isDeepEqual, type EditConflict } from './draft.ts';

interface EditConflictNoteProps {
  readonly conflicts: readonly EditConflict[];
  readonly onKeepMine: () => void;
  readonly onTakeTheirs: () => void;
}

export function EditConflictNote({ conflicts, onKeepMine, onTakeTheirs }: EditConflictNoteProps) {
  return (
    <section className="folder-clash" role="alert">
      <h2>
        <Icon name="warning" /> Another user has changed this folder
      </h2>
      <p>Choose which version to keep. Your other edits are not affected.</p>
      <DataTable
        label="Conflicting values"
        columns={columns}
        list={{ data: conflicts.flatMap(toRows) }}
        keyOf={({ label }) => label}
        empty={null}
      />
      <div className="folder-clash-choice">
        <Button icon="download" onPress={onTakeTheirs}>
          Use theirs
        </Button>
        <Button icon="edit" onPress={onKeepMine}>
          Keep mine
        </Button>
      </div>
    </section>
  );
}

interface ConflictRow {
  readonly label: string;
  readonly theirs: string;
  readonly mine: string;
}

const columns: readonly TableColumn<ConflictRow>[] = [
  { id: 'field', label: 'Field', isRowHeader: true, render: ({ label }) => label },
  { id: 'theirs', label: 'Theirs', className: 'folder-clash-value', render: ({ theirs }) => theirs },
  { id: 'mine', label: 'Yours', className: 'folder-clash-value', render: ({ mine }) => mine },
];

/** For properties, one row for each that differs. */
function toRows({ field, theirs, mine }: EditConflict): ConflictRow[] {
  if (typeof theirs === 'string') {
    return [{ label: fieldLabels[field], theirs: theirs || 'none', mine: (mine as string) || 'none' }];
  }
  if (mine === null) return [{ label: 'Properties', theirs: formatValue(theirs), mine: 'invalid' }];
  const myValues = new Map(Object.entries(mine));
  const theirValues = new Map(Object.entries(theirs));
  const names = [...new Set([...theirValues.keys(), ...myValues.keys()])];
  return names
    .filter((name) => !isDeepEqual(myValues.get(name), theirValues.get(name)))
    .map((name) => ({
      label: `Property “${name}”`,
      theirs: theirValues.has(name) ? formatValue(theirValues.get(name)) : 'none',
      mine: myValues.has(name) ? formatValue(myValues.get(name)) : 'none',
    }));
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
