/** Sets a new password for another user and shows it once. */

import { useState } from 'react';
import { resetPassword } from '../../actions/people-actions.ts';
import { perform } from '../../actions/perform.ts';
import { ActionDialog } from '../../ui/dialog.tsx';
import { peopleStale, type UserSummary } from '../people-data.ts';
import { isLongEnough, PasswordField } from '../passwords/password-field.tsx';
import { PasswordOnce } from '../passwords/password-once.tsx';
import { endedText } from '../sessions/revoke-dialogs.tsx';

export function ResetPasswordDialog({ user, onClose }: { user: UserSummary; onClose: () => void }) {
  const { id: userId, username } = user;
  const [password, setPassword] = useState('');
  const [done, setDone] = useState<{ readonly password: string; readonly ended: number } | null>(null);
  const call = { action: resetPassword, variables: { input: { userId, password } } };
  if (done) {
    return (
      <PasswordOnce
        username={username}
        password={done.password}
        message={`${username} has a new password. ${endedText(done.ended)}.`}
        onClose={onClose}
      />
    );
  }
  return (
    <ActionDialog
      title={`Reset password of ${username}`}
      verb="Reset password"
      call={call}
      isReady={isLongEnough(password)}
      onClose={onClose}
      closesWhenDone={false}
      onSubmit={async () => {
        const { resetPassword: reset } = await perform({ ...call, staleQueries: peopleStale });
        setDone({ password, ended: reset.endedSessions });
      }}
    >
      <p>{username} is signed out everywhere, and has to sign in with the new password.</p>
      <PasswordField label="New password" value={password} autoFocus onChange={setPassword} />
    </ActionDialog>
  );
}
