/** A field for a new password, typed or generated. It can be shown, because an administrator passes it on. */

import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/fields.tsx';
import { generatePassword } from './generated-password.ts';

export const shortestPassword = 8;

/** Counts like the server. */
export function isLongEnough(password: string): boolean {
  return [...password.normalize('NFC')].length >= shortestPassword;
}

interface PasswordFieldProps {
  readonly label: string;
  readonly value: string;
  readonly autoFocus?: boolean;
  readonly onChange: (password: string) => void;
}

export function PasswordField({ label, value, autoFocus = false, onChange }: PasswordFieldProps) {
  const [isVisible, setVisible] = useState(false);
  return (
    <div className="people-password">
      <TextField
        label={label}
        type={isVisible ? 'text' : 'password'}
        value={value}
        isRequired
        isCode={isVisible}
        autoFocus={autoFocus}
        autoComplete="new-password"
        help={`At least ${shortestPassword} characters. Common passwords are not allowed.`}
        onChange={onChange}
      />
      <div className="people-password-buttons">
        <Button
          size="small"
          icon="refresh"
          onPress={() => {
            onChange(generatePassword());
            setVisible(true);
          }}
        >
          Generate
        </Button>
        <Button size="small" icon="eye" onPress={() => setVisible(!isVisible)}>
          {isVisible ? 'Hide' : 'Show'}
        </Button>
      </div>
    </div>
  );
}
