/** New recovery codes, which the user must store before going on, because they cannot be read again. */

import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { CopyTextButton } from '../ui/copy.tsx';
import { Checkbox } from '../ui/fields.tsx';
import { saveFile, toFileName } from '../ui/save-file.ts';
import './second-factor.css';

interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly username: string;
  readonly onDone: () => void;
}

export function RecoveryCodes({ codes, username, onDone }: RecoveryCodesProps) {
  const [isStored, setStored] = useState(false);
  const text = `${codes.join('\n')}\n`;
  const save = () =>
    saveFile([`Recovery codes of ${username} at ${location.host}\n\n${text}`], {
      name: toFileName(`recovery-codes-${username}.txt`),
      type: 'text/plain',
    });
  return (
    <div className="recovery-codes">
      <p>
        If you lose your app or your passkey, use one of these codes instead. Each code works once. Store the
        codes in a safe place, for example in a password manager. You can see them only now.
      </p>
      <ul className="recovery-codes-list" aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div className="toolbar">
        <CopyTextButton text={text} label="Copy" />
        <Button size="small" icon="download" onPress={save}>
          Download
        </Button>
      </div>
      <Checkbox isSelected={isStored} onChange={setStored}>
        I stored these codes
      </Checkbox>
      <footer className="dialog-footer">
        <span className="grow" />
        <Button tone="primary" isDisabled={!isStored} onPress={onDone}>
          Continue
        </Button>
      </footer>
    </div>
  );
}
