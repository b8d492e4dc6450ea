/** The dialogs to rename, change, convert and delete a user. */

import { useState } from 'react';
import { convertToServiceAccount } from '../../actions/api-key-actions.ts';
import { updateQueryOptimistically } from '../../actions/optimistic-update.ts';
import { deleteUser, resetPassword, updateUser } from '../../actions/people-actions.ts';
import { resetSecondFactor } from '../../actions/second-factor-actions.ts';
import type { AnyTask } from '../../actions/task.ts';
import { peopleQueries } from '../../graph/use-graph.ts';
import { navigate } from '../../router.tsx';
import { client } from '../../session/client.ts';
import { whileSignedIn } from '../../session/session-data.ts';
import { ActionDialog, NameDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { isLongEnough, PasswordField, PasswordOnce } from '../password-field.tsx';
import { userKey, type UserResponse, type UserSummary } from '../people-data.tsx';
import { formatRevoked } from '../sessions/revoke-dialogs.tsx';
import { Name } from '../../ui/text.tsx';

interface UserDialogProps {
  readonly user: UserSummary;
  readonly onClose: () => void;
}

type Changes = Partial<Pick<UserSummary, 'username' | 'isAdministrator' | 'isDisabled'>>;

/** Applies a change optimistically. Undo restores `before`, unless another user has changed the same field since. */
export function createChangeTask(user: UserSummary, changes: Changes, before: Changes, doneText: string) {
  const { id, username } = user;
  const task = (values: Changes) =>
    ({
      action: updateUser,
      variables: { input: { id, ...values } },
      staleQueries: peopleQueries,
      optimisticUpdate: () =>
        updateQueryOptimistically<UserResponse>(userKey(id), (answer) => ({
          user: answer.user && { ...answer.user, ...values },
        })),
    }) satisfies AnyTask;
  const isUnchanged = async () => {
    const { user: currentUser } = await whileSignedIn(
      client.query<{ user: Changes | null }>(nowDocument, { id }),
    );
    return (Object.keys(changes) as (keyof Changes)[]).every((name) => currentUser?.[name] === changes[name]);
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
  const { username: name } = user;
  return (
    <NameDialog
      title={`Rename ${name}`}
      verb="Rename"
      label="User name"
      field="username"
      help="The user signs in with the new name from now on. Existing sessions continue."
      name={name}
      taskOf={(username) =>
        createChangeTask(user, { username }, { username: name }, `Renamed to ${username}`)
      }
      onClose={onClose}
    />
  );
}

export function DisableUserDialog({ user, onClose }: UserDialogProps) {
  const { username } = user;
  const task = createChangeTask(user, { isDisabled: true }, { isDisabled: false }, `Disabled ${username}`);
  return (
    <ActionDialog title={`Disable ${username}`} verb="Disable" isDanger task={task} onClose={onClose}>
      <p>
        <Name>{username}</Name> is signed out everywhere immediately. Until you enable the user again, the
        user cannot sign in, and the API keys of the user do not work. Groups and grants are kept.
      </p>
    </ActionDialog>
  );
}

export function AdministratorDialog({ user, onClose }: UserDialogProps) {
  const { username, isAdministrator } = user;
  const doneText = isAdministrator
    ? `${username} is no longer an administrator`
    : `${username} is now an administrator`;
  const task = createChangeTask(user, { isAdministrator: !isAdministrator }, { isAdministrator }, doneText);
  return (
    <ActionDialog
      title={isAdministrator ? `Make ${username} a regular user` : `Make ${username} an administrator`}
      verb={isAdministrator ? 'Make a regular user' : 'Make an administrator'}
      isDanger={isAdministrator}
      task={task}
      onClose={onClose}
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
  const [typedName, setTypedName] = useState('');
  const task = {
    action: deleteUser,
    variables: { input: { id } },
    doneText: `Deleted ${username}`,
    staleQueries: peopleQueries,
  };
  return (
    <ActionDialog
      title={`Delete ${username}`}
      verb="Delete user"
      isDanger
      task={task}
      isReady={typedName === username}
      onDone={() => navigate('/users', { replace: true })}
      onClose={onClose}
    >
      <p>
        This also deletes the sessions, API keys, memberships and grants of <Name>{username}</Name>, but not
        the folders that they created. You cannot undo this. You can disable the user instead.
      </p>
      <TextField
        label={`Type “${username}” to confirm`}
        value={typedName}
        onChange={setTypedName}
        autoFocus
        autoComplete="off"
      />
    </ActionDialog>
  );
}

/** Sets a new password for another user and shows it once. */
export function ResetPasswordDialog({ user, onClose }: UserDialogProps) {
  const { id: userId, username } = user;
  const [password, setPassword] = useState('');
  const [resetResult, setResetResult] = useState<{
    readonly password: string;
    readonly ended: number;
  } | null>(null);
  const task = {
    action: resetPassword,
    variables: { input: { userId, password } },
    staleQueries: peopleQueries,
  };
  if (resetResult) {
    return (
      <PasswordOnce
        username={username}
        password={resetResult.password}
        message={`${username} has a new password. ${formatRevoked(resetResult.ended)}.`}
        onClose={onClose}
      />
    );
  }
  return (
    <ActionDialog
      title={`Reset password of ${username}`}
      verb="Reset password"
      task={task}
      isReady={isLongEnough(password)}
      onClose={onClose}
      closesWhenDone={false}
      onDone={({ resetPassword: { endedSessions: ended } }) => setResetResult({ password, ended })}
    >
      <p>
        <Name>{username}</Name> is signed out everywhere, and has to sign in with the new password.
      </p>
      <PasswordField label="New password" value={password} autoFocus onChange={setPassword} />
    </ActionDialog>
  );
}

export function ConvertDialog({ user: { id, username, isAdministrator }, onClose }: UserDialogProps) {
  return (
    <ActionDialog
      title={`Convert ${username} to a service account`}
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
      <ul className="dialog-list">
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

/** For a user who has lost the authenticator app, the passkeys and the recovery codes. */
export function ResetSecondFactorDialog({ user, onClose }: UserDialogProps) {
  const { id: userId, username } = user;
  const task = {
    action: resetSecondFactor,
    variables: { input: { userId } },
    doneText: ({ resetSecondFactor: { endedSessions } }: NonNullable<typeof resetSecondFactor.result>) =>
      `Reset the second factor of ${username}. ${formatRevoked(endedSessions)}.`,
    staleQueries: peopleQueries,
  };
  return (
    <ActionDialog
      title={`Reset second factor of ${username}`}
      verb="Reset second factor"
      isDanger
      task={task}
      onClose={onClose}
    >
      <p>
        The authenticator app, the passkeys and the recovery codes of <Name>{username}</Name> stop working.
        The user is signed out everywhere immediately, and then signs in with the password alone. Make sure
        that the request comes from the user.
      </p>
    </ActionDialog>
  );
}
