/** The field for a code of an authenticator app, or for a recovery code. */

import { TextField } from '../ui/fields.tsx';

interface CodeFieldProps {
  readonly label: string;
  readonly help?: string;
  readonly value: string;
  /** Whether the code can contain letters, as recovery codes do. Otherwise, phones show digits only. */
  readonly hasLetters?: boolean;
  readonly autoFocus?: boolean;
  readonly onChange: (code: string) => void;
}

export function CodeField({ label, help, value, hasLetters = false, autoFocus, onChange }: CodeFieldProps) {
  return (
    <TextField
      label={label}
      name="code"
      help={help}
      value={value}
      inputMode={hasLetters ? 'text' : 'numeric'}
      // Browsers and password managers fill in the current code.
      autoComplete="one-time-code"
      autoCorrect="off"
      spellCheck="false"
      maxLength={64}
      isCode
      isRequired
      {...(autoFocus !== undefined && { autoFocus })}
      onChange={onChange}
    />
  );
}
