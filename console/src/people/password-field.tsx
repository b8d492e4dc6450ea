/** Passwords that an administrator sets and passes on: a field, typed or generated, and a dialog that shows the password once. */

import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/fields.tsx';
import { generatePassword } from './generated-password.ts';

export const shortestPassword = 8;

/** Counts characters as the server does. */
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

interface PasswordOnceProps {
  readonly username: string;
  readonly password: string;
  /** A sentence about the finished action. */
  readonly message: string;
  readonly onClose: () => void;
}

/** The password cannot be read again later. */
export function PasswordOnce({ username, password, message, onClose }: PasswordOnceProps) {
  return (
    <Dialog title={`Password of ${username}`} onClose={onClose}>
      <div className="dialog-form">
        <p>{message}</p>
        <div className="people-once">
          <code>{password}</code>
          <CopyButton text={password} label="Copy password" />
        </div>
        <p className="hint">
          Send the password to {username} in a safe way, and ask them to change it. You can see it only once.
        </p>
        <footer className="dialog-footer">
          <span className="grow" />
          <Button tone="primary" onPress={onClose}>
            Done
          </Button>
        </footer>
      </div>
    </Dialog>
  );
}
