/** Shows a new password once. It cannot be read again later. */

import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';

interface PasswordOnceProps {
  readonly username: string;
  readonly password: string;
  /** A sentence about the finished action. */
  readonly message: string;
  readonly onClose: () => void;
}

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
          Send it to {username} in a safe way, and ask them to change it. It is shown only once.
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
