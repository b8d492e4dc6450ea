/** A field that filters a list. It reports the text when the user pauses. Escape empties it. */

import { Button as AriaButton, Input, SearchField as AriaSearchField } from 'react-aria-components';
import { useEffect, useRef, useState } from 'react';
import { Icon } from './icons.tsx';
import './search-field.css';

const pauseMs = 250;

interface SearchFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

export function SearchField({ label, value, onChange }: SearchFieldProps) {
  const [text, setText] = useState(value);
  const [lastValue, setLastValue] = useState(value);
  const [lastSent, setLastSent] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  // The value may change without the field, for example by a link or the back button.
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
      <AriaButton className="icon-button quiet" aria-label="Empty the field">
        <Icon name="close" />
      </AriaButton>
    </AriaSearchField>
  );
}
