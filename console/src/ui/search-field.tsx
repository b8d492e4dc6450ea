/** A field that narrows a list: told when the person pauses, and emptied by Escape. */

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
  const [seen, setSeen] = useState(value);
  const [sent, setSent] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  // The address may change without the field: by a link, by going back.
  if (value !== seen) {
    setSeen(value);
    if (value !== sent) setText(value);
  }
  const change = (next: string) => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setSent(next);
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
