/** The dialog that converts a person to a service account. */

import { convertToServiceAccount } from '../../actions/api-key-actions.ts';
import { peopleQueries } from '../../graph/use-graph.ts';
import { ActionDialog } from '../../ui/dialog.tsx';
import { Name } from '../../ui/text.tsx';
import type { UserSummary } from '../people-data.tsx';

interface ConvertDialogProps {
  readonly user: UserSummary;
  readonly onClose: () => void;
}

export function ConvertDialog({ user: { id, username, isAdministrator }, onClose }: ConvertDialogProps) {
  return (
    <ActionDialog
      title={`Turn ${username} into a service account`}
      verb="Convert to a service account"
      isDanger
      task={{
        action: convertToServiceAccount,
        variables: { input: { userId: id } },
        doneText: `${username} is now a service account`,
        staleQueries: peopleQueries,
      }}
      onClose={onClose}
    >
      <p>
        A service account is a user for programs. <Name>{username}</Name> can no longer sign in, and uses API
        keys instead.
      </p>
      <ul className="api-key-list">
        <li>The password and every other way to sign in are deleted.</li>
        <li>All sessions end immediately.</li>
        <li>
          The groups, the grants{isAdministrator ? ', the administrator role' : ''} and the API keys stay.
        </li>
      </ul>
      <p>You cannot undo this. Afterwards, create an API key for each program that used the password.</p>
    </ActionDialog>
  );
}
