/** The editor of a folder's properties, as typed rows or as JSON. */

import { useEffect, useRef, useState } from 'react';
import { FieldError, Input, TextArea, TextField as AriaTextField } from 'react-aria-components';
import { Button, IconButton } from '../../ui/button.tsx';
import { Select, TextField } from '../../ui/fields.tsx';
import { formatName } from '../../ui/text.tsx';
import type { Properties } from '../current-folder.ts';
import {
  validate,
  newRow,
  toRows,
  formatJson,
  changeType,
  type PropertiesEdit,
  type PropertyRow,
  type RowProblem,
  type PropertyType,
} from './property-rows.ts';

interface PropertiesEditorProps {
  readonly saved: Properties;
  readonly edit: PropertiesEdit | undefined;
  /** Why the server refused the properties. */
  readonly problem: string | undefined;
  readonly onChange: (edit: PropertiesEdit) => void;
}

export function PropertiesEditor({ saved, edit, problem, onChange }: PropertiesEditorProps) {
  const [kind, setKind] = useState(edit?.kind ?? 'rows');
  const validated = edit ? validate(edit) : null;
  const properties = validated ? validated.properties : saved;
  const canSwitch = properties !== null;
  const switchKind = () => {
    if (!properties) return;
    const next = kind === 'rows' ? 'json' : 'rows';
    setKind(next);
    if (edit) onChange(toEdit(next, properties));
  };
  const current = edit?.kind === kind ? edit : toEdit(kind, properties ?? saved);

  return (
    <section className="card" aria-labelledby="folder-properties">
      <div className="card-header">
        <h2 id="folder-properties">Properties</h2>
        <span className="grow" />
        {!canSwitch && <span className="hint">Fix the errors first</span>}
        <Button size="small" tone="quiet" isDisabled={!canSwitch} onPress={switchKind}>
          {kind === 'rows' ? 'Edit as JSON' : 'Edit as rows'}
        </Button>
      </div>
      {current.kind === 'json' ? (
        <TextField
          label="Properties as JSON"
          name="properties"
          rows={10}
          isCode
          spellCheck="false"
          value={current.text}
          error={validated?.problem}
          onChange={(text) => onChange({ kind: 'json', text })}
        />
      ) : (
        <PropertyRows
          rows={current.rows}
          validated={validated}
          problem={problem}
          onChange={(rows) => onChange({ kind: 'rows', rows })}
        />
      )}
    </section>
  );
}

function toEdit(kind: PropertiesEdit['kind'], properties: Properties): PropertiesEdit {
  return kind === 'json' ? { kind, text: formatJson(properties) } : { kind, rows: toRows(properties) };
}

interface PropertyRowsProps {
  readonly rows: readonly PropertyRow[];
  readonly validated: ReturnType<typeof validate> | null;
  readonly problem: string | undefined;
  readonly onChange: (rows: readonly PropertyRow[]) => void;
}

function PropertyRows({ rows, validated, problem, onChange }: PropertyRowsProps) {
  const [added, setAdded] = useState<number | null>(null);
  const add = () => {
    const row = newRow(rows);
    setAdded(row.key);
    onChange([...rows, row]);
  };
  return (
    <div
      role="group"
      className="property-group"
      aria-labelledby="folder-properties"
      {...(problem !== undefined && { 'aria-describedby': 'properties-problem' })}
    >
      {rows.length === 0 ? (
        <p className="hint">No properties yet. Clients can store additional data of a folder here.</p>
      ) : (
        <ul className="property-rows">
          {rows.map((row, index) => (
            <PropertyRowFields
              key={row.key}
              row={row}
              number={index + 1}
              problem={validated?.rows.get(row.key)}
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
      {validated?.problem !== undefined && (
        <p className="problem" role="alert">
          {validated.problem}
        </p>
      )}
      {problem !== undefined && (
        <p className="problem" id="properties-problem">
          {problem}
        </p>
      )}
    </div>
  );
}

interface PropertyRowFieldsProps {
  readonly row: PropertyRow;
  /** The number of the row, which labels a row without a name. */
  readonly number: number;
  readonly problem: RowProblem | undefined;
  readonly isNew: boolean;
  readonly onChange: (row: PropertyRow) => void;
  readonly onRemove: () => void;
}

const types: readonly { readonly id: PropertyType; readonly label: string; readonly help: string }[] = [
  { id: 'text', label: 'Text', help: 'Any text' },
  { id: 'number', label: 'Number', help: 'For example 12 or -0.5' },
  { id: 'boolean', label: 'Yes or no', help: 'true or false' },
  { id: 'null', label: 'Nothing', help: 'The value null' },
  { id: 'json', label: 'JSON', help: 'A list or an object' },
];

const booleans = [
  { id: 'true', label: 'Yes' },
  { id: 'false', label: 'No' },
] as const;

/** One property: name, type and value. */
function PropertyRowFields(props: PropertyRowFieldsProps) {
  const { row, number, problem, isNew, onChange, onRemove } = props;
  const item = useRef<HTMLLIElement>(null);
  // An empty field shows its problem only after the user has left the row.
  const [isLeft, setLeft] = useState(false);
  const nameProblem = row.name === '' && !isLeft ? undefined : problem?.name;
  const valueProblem = row.value === '' && !isLeft ? undefined : problem?.value;
  useEffect(() => {
    if (isNew) item.current?.scrollIntoView({ block: 'nearest' });
  }, [isNew]);
  const displayName = row.name || `property ${number}`;
  return (
    <li
      ref={item}
      className="property-row"
      onBlur={({ currentTarget, relatedTarget }) => {
        // The list of a select is outside of the row, and returns the focus to it.
        const isInList = relatedTarget instanceof Element && relatedTarget.closest('.popover') !== null;
        if (!isInList && !currentTarget.contains(relatedTarget)) setLeft(true);
      }}
    >
      <AriaTextField
        className="field property-name"
        aria-label={`Name of property ${number}`}
        value={row.name}
        autoFocus={isNew}
        isInvalid={nameProblem !== undefined}
        onChange={(name) => onChange({ ...row, name })}
      >
        <Input className="input code" placeholder="name" spellCheck={false} />
        <FieldError>{nameProblem}</FieldError>
      </AriaTextField>
      <div className="property-type">
        <Select
          label={`Type of ${displayName}`}
          isLabelHidden
          value={row.type}
          options={types}
          onChange={(type) => onChange(changeType(row, type))}
        />
      </div>
      <div className="property-value">
        <ValueField row={row} displayName={displayName} problem={valueProblem} onChange={onChange} />
      </div>
      <IconButton label={`Remove ${displayName}`} icon="close" onPress={onRemove} />
    </li>
  );
}

interface ValueProps {
  readonly row: PropertyRow;
  readonly displayName: string;
  readonly problem: string | undefined;
  readonly onChange: (row: PropertyRow) => void;
}

function ValueField({ row, displayName, problem, onChange }: ValueProps) {
  const { type, value } = row;
  if (type === 'null') return <span className="soft property-nothing">null</span>;
  if (type === 'boolean') {
    return (
      <Select
        label={`Value of ${displayName}`}
        isLabelHidden
        value={value === 'true' ? 'true' : 'false'}
        options={booleans}
        onChange={(next) => onChange({ ...row, value: next })}
      />
    );
  }
  // A single-line field would lose the line breaks.
  const isLong = type === 'json' || value.includes('\n');
  return (
    <AriaTextField
      className="field"
      aria-label={formatName(`Value of ${displayName}`)}
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
