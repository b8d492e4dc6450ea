/** Form fields with label, help and error. */

import {
  Checkbox as AriaCheckbox,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Select as AriaSelect,
  SelectValue,
  Button as AriaButton,
  Text,
  TextArea,
  TextField as AriaTextField,
  Switch as AriaSwitch,
  SearchField as AriaSearchField,
  type TextFieldProps as AriaTextFieldProps,
} from 'react-aria-components';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Icon } from './icons.tsx';
import { formatName, Name } from './text.tsx';
import './search-field.css';
import './switch.css';

interface TextFieldProps extends Omit<AriaTextFieldProps, 'className' | 'children' | 'style'> {
  readonly label: string;
  readonly help?: ReactNode;
  readonly error?: string | undefined;
  readonly placeholder?: string;
  /** Makes the field a text area with this height. */
  readonly rows?: number;
  readonly isCode?: boolean;
}

export function TextField({ label, help, error, placeholder, rows, isCode, ...others }: TextFieldProps) {
  const className = isCode ? 'input code' : 'input';
  const hint = placeholder === undefined ? {} : { placeholder: formatName(placeholder) };
  return (
    // Without an error of its own, the field shows the error of its form.
    <AriaTextField {...others} className="field" {...(error !== undefined && { isInvalid: true })}>
      <Label>
        <Name>{label}</Name>
      </Label>
      {rows === undefined ? (
        <Input className={className} {...hint} />
      ) : (
        <TextArea className={className} {...hint} rows={rows} />
      )}
      {help && <Text slot="description">{help}</Text>}
      <FieldError>{error}</FieldError>
    </AriaTextField>
  );
}

interface SelectProps<Key extends string> {
  readonly label: string;
  readonly isLabelHidden?: boolean;
  readonly value: Key;
  readonly options: readonly { readonly id: Key; readonly label: string; readonly help?: string }[];
  readonly isDisabled?: boolean;
  readonly onChange: (value: Key) => void;
}

export function Select<Key extends string>(props: SelectProps<Key>) {
  const { label, isLabelHidden = false, value, options, onChange, isDisabled = false } = props;
  return (
    <AriaSelect
      className="field"
      value={value}
      isDisabled={isDisabled}
      {...(isLabelHidden ? { 'aria-label': formatName(label) } : {})}
      onChange={(key) => onChange(key as Key)}
    >
      {!isLabelHidden && (
        <Label>
          <Name>{label}</Name>
        </Label>
      )}
      <AriaButton className="input select">
        <SelectValue />
        <Icon name="down" />
      </AriaButton>
      <Popover className="popover">
        <ListBox className="menu">
          {options.map(({ id, label: text, help }) => (
            <ListBoxItem key={id} id={id} textValue={text} className="menu-item">
              {/* One element, so that screen readers read the label and the help. */}
              <Text slot="label">
                {text}
                {help && <span className="menu-item-help">{help}</span>}
              </Text>
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}

interface ToggleProps {
  readonly isSelected: boolean;
  readonly children: ReactNode;
  readonly onChange: (isSelected: boolean) => void;
}

export function Checkbox({ isSelected, onChange, children }: ToggleProps) {
  return (
    <AriaCheckbox className="checkbox" isSelected={isSelected} onChange={onChange}>
      <span className="checkbox-box" aria-hidden="true">
        <Icon name="check" />
      </span>
      {children}
    </AriaCheckbox>
  );
}

/** Selects a row of a table. In the table header, it selects all rows. The table adds the label. */
export function SelectionCheckbox() {
  return (
    <AriaCheckbox slot="selection" className="checkbox">
      {({ isIndeterminate }) => (
        <span className="checkbox-box" aria-hidden="true">
          <Icon name={isIndeterminate ? 'minus' : 'check'} />
        </span>
      )}
    </AriaCheckbox>
  );
}

/** A setting that takes effect immediately. */
export function Switch({ isSelected, onChange, children }: ToggleProps) {
  return (
    <AriaSwitch className="switch" isSelected={isSelected} onChange={onChange}>
      <span className="switch-track" aria-hidden="true" />
      {children}
    </AriaSwitch>
  );
}

const pauseMs = 250;

interface SearchFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

/** Filters a list. It reports the text when the user pauses. Escape empties it. */
export function SearchField({ label, value, onChange }: SearchFieldProps) {
  const [text, setText] = useState(value);
  const [lastValue, setLastValue] = useState(value);
  const [lastSent, setLastSent] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  // The value can also change from outside, for example through a link or the back button.
  if (value !== lastValue) {
    setLastValue(value);
    if (value !== lastSent) setText(value);
  }
  const change = (next: string) => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setLastSent(next);
      onChange(next);
    }, pauseMs);
  };
  return (
    <AriaSearchField className="search-field" aria-label={label} value={text} onChange={change}>
      <Icon name="search" />
      <Input className="input" placeholder={label} />
      <AriaButton className="icon-button quiet" aria-label="Clear the field">
        <Icon name="close" />
      </AriaButton>
    </AriaSearchField>
  );
}
