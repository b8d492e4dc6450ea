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
import { aboutUser, peopleStale, type UserAnswer, type UserFacts } from '../people-data.ts';

interface UserDialogProps {
  readonly user: UserFacts;
  readonly onClose: () => void;
}

type Changes = Partial<Pick<UserFacts, 'username' | 'isAdministrator' | 'isDisabled'>>;

/** Applies a change optimistically. Undo restores `before`, unless another user has changed the same field since. */
export function userChange(user: UserFacts, changes: Changes, before: Changes, doneText: string) {
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
        help="They sign in with the new name from now on; their sessions go on."
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
        {username} is signed out everywhere at once and cannot sign in any more. Groups and access are kept,
        for when you enable them again.
      </p>
    </ActionDialog>
  );
}

export function AdministratorDialog({ user, onClose }: UserDialogProps) {
  const { username, isAdministrator } = user;
  const done = isAdministrator
    ? `${username} is no administrator any more`
    : `${username} is an administrator now`;
  const task = userChange(user, { isAdministrator: !isAdministrator }, { isAdministrator }, done);
  return (
    <ActionDialog
      title={isAdministrator ? `Make ${username} an ordinary user` : `Make ${username} an administrator`}
      verb={isAdministrator ? 'Make an ordinary user' : 'Make an administrator'}
      isDanger={isAdministrator}
      call={task}
      onClose={onClose}
      onSubmit={() => perform(task)}
    >
      <p>
        {isAdministrator
          ? `${username} will see and do only what grants to them and their groups allow.`
          : `${username} will see and do everything: all folders, all users, the server’s settings.`}
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
        Sessions, memberships and grants of {username} go, too. This cannot be undone; disabling can. Folders
        that they made stay.
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
