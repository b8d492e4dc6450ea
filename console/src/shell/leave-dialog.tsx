/** Asks for confirmation before signing out discards unsaved text. */

import { useSession } from '../session/session.tsx';
import { ActionDialog } from '../ui/dialog.tsx';

interface LeaveDialogProps {
  /** Names of the folders or fields with unsaved text. */
  readonly names: readonly string[];
  readonly onClose: () => void;
}

const namedAtMost = 3;

export function LeaveDialog({ names, onClose }: LeaveDialogProps) {
  const { signOut } = useSession();
  const named = names.slice(0, namedAtMost).map((name) => `“${name}”`);
  const rest = names.length - named.length;
  return (
    <ActionDialog
      title="Sign out without saving?"
      verb="Sign out"
      isDanger
      onSubmit={signOut}
      onClose={onClose}
    >
      <p>
        Your changes of {listed.format(rest > 0 ? [...named, `${rest} more`] : named)} are not saved. They are
        lost when you sign out.
      </p>
    </ActionDialog>
  );
}

const listed = new Intl.ListFormat('en');
