/** The properties of a folder, edited in rows, each with its type, or as JSON. */

import { useEffect, useRef, useState } from 'react';
import { FieldError, Input, TextArea, TextField as AriaTextField } from 'react-aria-components';
import { Button, IconButton } from '../../ui/button.tsx';
import { Select, TextField } from '../../ui/fields.tsx';
import type { Properties } from '../open-folder.ts';
import {
  judge,
  newRow,
  rowsOf,
  textOf,
  withType,
  type PropertiesEdit,
  type PropertyRow,
  type RowProblem,
  type PropertyType,
} from './property-rows.ts';

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

interface PropertyRowFieldsProps {
  readonly row: PropertyRow;
  /** From 1, for those without a name yet. */
  readonly place: number;
  readonly problem: RowProblem | undefined;
  readonly isNew: boolean;
  readonly onChange: (row: PropertyRow) => void;
  readonly onRemove: () => void;
}

const types: readonly { readonly id: PropertyType; readonly label: string; readonly help: string }[] = [
  { id: 'text', label: 'Text', help: 'Any text' },
  { id: 'number', label: 'Number', help: 'Such as 12 or -0.5' },
  { id: 'boolean', label: 'Yes or no', help: 'true or false' },
  { id: 'null', label: 'Nothing', help: 'null: known to be empty' },
  { id: 'json', label: 'JSON', help: 'A list or an object' },
];

const truths = [
  { id: 'true', label: 'Yes' },
  { id: 'false', label: 'No' },
] as const;

export function PropertyRowFields(props: PropertyRowFieldsProps) {
  const { row, place, problem, isNew, onChange, onRemove } = props;
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isNew) item.current?.scrollIntoView({ block: 'nearest' });
  }, [isNew]);
  const called = row.name || `property ${place}`;
  return (
    <li ref={item} className="property-row">
      <AriaTextField
        className="field property-name"
        aria-label={`Name of property ${place}`}
        value={row.name}
        autoFocus={isNew}
        isInvalid={problem?.name !== undefined}
        onChange={(name) => onChange({ ...row, name })}
      >
        <Input className="input code" placeholder="name" spellCheck={false} />
        <FieldError>{problem?.name}</FieldError>
      </AriaTextField>
      <div className="property-type">
        <Select
          label={`Type of ${called}`}
          isLabelHidden
          value={row.type}
          options={types}
          onChange={(type) => onChange(withType(row, type))}
        />
      </div>
      <div className="property-value">
        <Value row={row} called={called} problem={problem?.value} onChange={onChange} />
      </div>
      <IconButton label={`Remove ${called}`} icon="close" onPress={onRemove} />
    </li>
  );
}

interface ValueProps {
  readonly row: PropertyRow;
  readonly called: string;
  readonly problem: string | undefined;
  readonly onChange: (row: PropertyRow) => void;
}

function Value({ row, called, problem, onChange }: ValueProps) {
  const { type, value } = row;
  if (type === 'null') return <span className="soft property-nothing">null</span>;
  if (type === 'boolean') {
    return (
      <Select
        label={`Value of ${called}`}
        isLabelHidden
        value={value === 'true' ? 'true' : 'false'}
        options={truths}
        onChange={(next) => onChange({ ...row, value: next })}
      />
    );
  }
  // A field of one line would lose the line ends.
  const isLong = type === 'json' || value.includes('\n');
  return (
    <AriaTextField
      className="field"
      aria-label={`Value of ${called}`}
      value={value}
      isInvalid={problem !== undefined}
      onChange={(next) => onChange({ ...row, value: next })}
    >
      {isLong ? (
        <TextArea
          className={type === 'json' ? 'input code' : 'input'}
          rows={2}
          spellCheck={type === 'text'}
        />
      ) : (
        <Input className="input" inputMode={type === 'number' ? 'decimal' : 'text'} />
      )}
      <FieldError>{problem}</FieldError>
    </AriaTextField>
  );
}
