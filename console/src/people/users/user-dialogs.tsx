/** The dialogs to rename, change and delete a user. */

import { useState } from 'react';
import { updateQueryOptimistically } from '../../actions/optimistic-update.ts';
import { deleteUser, updateUser } from '../../actions/people-actions.ts';
import type { AnyTask } from '../../actions/task.ts';
import { perform } from '../../actions/perform.ts';
import { navigate } from '../../router.tsx';
import { client } from '../../session/client.ts';
import { whileSignedIn } from '../../session/session-data.ts';
import { ActionDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { aboutUser, peopleStale, type UserAnswer, type UserSummary } from '../people-data.ts';

interface UserDialogProps {
  readonly user: UserSummary;
  readonly onClose: () => void;
}

type Changes = Partial<Pick<UserSummary, 'username' | 'isAdministrator' | 'isDisabled'>>;

/** Applies a change optimistically. Undo restores `before`, unless another user has changed the same field since. */
export function userChange(user: UserSummary, changes: Changes, before: Changes, doneText: string) {
  const { id, username } = user;
  const task = (values: Changes) =>
    ({
      action: updateUser,
      variables: { input: { id, ...values } },
      staleQueries: peopleStale,
      optimisticUpdate: () =>
        updateQueryOptimistically<UserAnswer>(aboutUser(id), (answer) => ({
          user: answer.user && { ...answer.user, ...values },
        })),
    }) satisfies AnyTask;
  const isUnchanged = async () => {
    const { user: now } = await whileSignedIn(client.query<{ user: Changes | null }>(nowDocument, { id }));
    return (Object.keys(changes) as (keyof Changes)[]).every((name) => now?.[name] === changes[name]);
  };
  return {
    ...task(changes),
    doneText,
    undoSteps: () => [{ subject: username, task: () => task(before), isUnchanged }],
  };
}

const nowDocument = /* GraphQL */ `
  query UserNow($id: ID!) {
    user(id: $id) {
      username
      isAdministrator
      isDisabled
    }
  }
`;

export function RenameUserDialog({ user, onClose }: UserDialogProps) {
  const [username, setUsername] = useState(user.username);
  const task = userChange(user, { username }, { username: user.username }, `Renamed to ${username}`);
  return (
    <ActionDialog
      title={`Rename ${user.username}`}
      verb="Rename"
      call={task}
      isReady={username.trim() !== '' && username !== user.username}
      onClose={onClose}
      onSubmit={() => perform(task)}
    >
      <TextField
        label="User name"
        value={username}
        onChange={setUsername}
        help="The user signs in with the new name from now on. Existing sessions continue."
        isRequired
        autoFocus
        autoComplete="off"
      />
    </ActionDialog>
  );
}

export function DisableUserDialog({ user, onClose }: UserDialogProps) {
  const { username } = user;
  const task = userChange(user, { isDisabled: true }, { isDisabled: false }, `Disabled ${username}`);
  return (
    <ActionDialog
      title={`Disable ${username}`}
      verb="Disable"
      isDanger
      call={task}
      onClose={onClose}
      onSubmit={() => perform(task)}
    >
      <p>
        {username} is signed out everywhere at once and cannot sign in until you enable the user again. Groups
        and grants are kept.
      </p>
    </ActionDialog>
  );
}

export function AdministratorDialog({ user, onClose }: UserDialogProps) {
  const { username, isAdministrator } = user;
  const done = isAdministrator
    ? `${username} is no longer an administrator`
    : `${username} is now an administrator`;
  const task = userChange(user, { isAdministrator: !isAdministrator }, { isAdministrator }, done);
  return (
    <ActionDialog
      title={isAdministrator ? `Make ${username} a regular user` : `Make ${username} an administrator`}
      verb={isAdministrator ? 'Make a regular user' : 'Make an administrator'}
      isDanger={isAdministrator}
      call={task}
      onClose={onClose}
      onSubmit={() => perform(task)}
    >
      <p>
        {isAdministrator
          ? `${username} will have only the access that is granted to the user or their groups.`
          : `${username} will have full access to all folders, all users and the pages about the server.`}
      </p>
    </ActionDialog>
  );
}

export function DeleteUserDialog({ user, onClose }: UserDialogProps) {
  const { id, username } = user;
  const [typed, setTyped] = useState('');
  const call = { action: deleteUser, variables: { input: { id } } };
  return (
    <ActionDialog
      title={`Delete ${username}`}
      verb="Delete user"
      isDanger
      call={call}
      isReady={typed === username}
      onClose={onClose}
      onSubmit={async () => {
        await perform({ ...call, doneText: `Deleted ${username}`, staleQueries: peopleStale });
        navigate('/users', { replace: true });
      }}
    >
      <p>
        This also deletes the sessions, memberships and grants of {username}, but not the folders that they
        created. You cannot undo this. You can disable the user instead.
      </p>
      <TextField
        label={`Type “${username}” to confirm`}
        value={typed}
        onChange={setTyped}
        autoFocus
        autoComplete="off"
      />
    </ActionDialog>
  );
}
