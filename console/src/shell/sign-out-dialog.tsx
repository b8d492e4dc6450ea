/** Asks for confirmation before signing out discards unsaved text. */

import { useSession } from '../session/session.tsx';
import { ActionDialog } from '../ui/dialog.tsx';

interface SignOutDialogProps {
  /** Names of the folders or fields with unsaved text. */
  readonly names: readonly string[];
  readonly onClose: () => void;
}

const maxNames = 3;

export function SignOutDialog({ names, onClose }: SignOutDialogProps) {
  const { signOut } = useSession();
  const quotedNames = names.slice(0, maxNames).map((name) => `“${name}”`);
  const rest = names.length - quotedNames.length;
  return (
    <ActionDialog
      title="Sign out without saving?"
      verb="Sign out"
      isDanger
      onSubmit={signOut}
      onClose={onClose}
    >
      <p>
        Your changes to {listFormat.format(rest > 0 ? [...quotedNames, `${rest} more`] : quotedNames)} are not
        saved. They will be lost when you sign out.
      </p>
    </ActionDialog>
  );
}

const listFormat = new Intl.ListFormat('en');
