/** The properties of a folder, edited in rows, each with its type, or as JSON. */

import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/fields.tsx';
import type { Properties } from './open-folder.ts';
import { PropertyRowFields } from './property-row-fields.tsx';
import { judge, newRow, rowsOf, textOf, type PropertiesEdit, type PropertyRow } from './property-rows.ts';

interface PropertiesEditorProps {
  readonly saved: Properties;
  readonly edit: PropertiesEdit | undefined;
  readonly onChange: (edit: PropertiesEdit) => void;
}

export function PropertiesEditor({ saved, edit, onChange }: PropertiesEditorProps) {
  const [kind, setKind] = useState(edit?.kind ?? 'rows');
  const judged = edit ? judge(edit) : null;
  const properties = judged ? judged.properties : saved;
  const mayTurn = properties !== null;
  const turn = () => {
    if (!properties) return;
    const next = kind === 'rows' ? 'json' : 'rows';
    setKind(next);
    if (edit) onChange(editOf(next, properties));
  };
  const shown = edit?.kind === kind ? edit : editOf(kind, properties ?? saved);

  return (
    <section className="card" aria-labelledby="folder-properties">
      <div className="card-header">
        <h2 id="folder-properties">Properties</h2>
        <span className="grow" />
        {!mayTurn && <span className="hint">Mend it first</span>}
        <Button size="small" tone="quiet" isDisabled={!mayTurn} onPress={turn}>
          {kind === 'rows' ? 'Edit as JSON' : 'Edit in rows'}
        </Button>
      </div>
      {shown.kind === 'json' ? (
        <TextField
          label="Properties as JSON"
          rows={10}
          isCode
          spellCheck="false"
          value={shown.text}
          error={judged?.problem}
          onChange={(text) => onChange({ kind: 'json', text })}
        />
      ) : (
        <>
          <Rows
            rows={shown.rows}
            problems={judged?.rows}
            onChange={(rows) => onChange({ kind: 'rows', rows })}
          />
          {judged?.problem !== undefined && (
            <p className="problem" role="alert">
              {judged.problem}
            </p>
          )}
        </>
      )}
    </section>
  );
}

function editOf(kind: PropertiesEdit['kind'], properties: Properties): PropertiesEdit {
  return kind === 'json' ? { kind, text: textOf(properties) } : { kind, rows: rowsOf(properties) };
}

interface RowsProps {
  readonly rows: readonly PropertyRow[];
  readonly problems: ReturnType<typeof judge>['rows'] | undefined;
  readonly onChange: (rows: readonly PropertyRow[]) => void;
}

function Rows({ rows, problems, onChange }: RowsProps) {
  const [added, setAdded] = useState<number | null>(null);
  const add = () => {
    const row = newRow(rows);
    setAdded(row.key);
    onChange([...rows, row]);
  };
  return (
    <>
      {rows.length === 0 ? (
        <p className="hint">None yet. Clients keep here what else belongs to a folder.</p>
      ) : (
        <ul className="property-rows">
          {rows.map((row, at) => (
            <PropertyRowFields
              key={row.key}
              row={row}
              place={at + 1}
              problem={problems?.get(row.key)}
              isNew={row.key === added}
              onChange={(next) => onChange(rows.map((each) => (each.key === row.key ? next : each)))}
              onRemove={() => onChange(rows.filter(({ key }) => key !== row.key))}
            />
          ))}
        </ul>
      )}
      <div>
        <Button size="small" icon="plus" onPress={add}>
          Add property
        </Button>
      </div>
    </>
  );
}
