/** One property in its row: name, type and value. */

import { useEffect, useRef } from 'react';
import { FieldError, Input, TextArea, TextField } from 'react-aria-components';
import { IconButton } from '../ui/button.tsx';
import { Select } from '../ui/fields.tsx';
import { withType, type PropertyRow, type PropertyType, type RowProblem } from './property-rows.ts';

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
      <TextField
        className="field property-name"
        aria-label={`Name of property ${place}`}
        value={row.name}
        autoFocus={isNew}
        isInvalid={problem?.name !== undefined}
        onChange={(name) => onChange({ ...row, name })}
      >
        <Input className="input code" placeholder="name" spellCheck={false} />
        <FieldError>{problem?.name}</FieldError>
      </TextField>
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
    <TextField
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
    </TextField>
  );
}
