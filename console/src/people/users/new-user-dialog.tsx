/** Creates a user and shows the password once. */

import { useState } from 'react';
import { createUser } from '../../actions/people-actions.ts';
import { perform } from '../../actions/perform.ts';
import { navigate } from '../../router.tsx';
import { ActionDialog } from '../../ui/dialog.tsx';
import { Checkbox, TextField } from '../../ui/fields.tsx';
import { peopleStale } from '../people-data.ts';
import { isLongEnough, PasswordField } from '../passwords/password-field.tsx';
import { PasswordOnce } from '../passwords/password-once.tsx';

/** The created user, with the password that was sent. */
interface CreatedUser {
  readonly id: string;
  readonly username: string;
  readonly password: string;
}

export function NewUserDialog({ onClose }: { onClose: () => void }) {
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [isAdministrator, setAdministrator] = useState(false);
  const [made, setMade] = useState<CreatedUser | null>(null);
  const call = { action: createUser, variables: { input: { username, password, isAdministrator } } };

  if (made) {
    return (
      <PasswordOnce
        username={made.username}
        password={made.password}
        message={`${made.username} can sign in now.`}
        onClose={() => {
          onClose();
          navigate(`/users/${made.id}`);
        }}
      />
    );
  }
  return (
    <ActionDialog
      title="New user"
      verb="Create user"
      call={call}
      isReady={username.trim() !== '' && isLongEnough(password)}
      onClose={onClose}
      closesWhenDone={false}
      onSubmit={async () => {
        const { createUser: created } = await perform({
          ...call,
          doneText: `Created ${username}`,
          staleQueries: peopleStale,
        });
        setMade({ id: created.user.id, username, password });
      }}
    >
      <TextField
        label="User name"
        value={username}
        onChange={setUsername}
        isRequired
        autoFocus
        autoComplete="off"
      />
      <PasswordField label="Password" value={password} onChange={setPassword} />
      <Checkbox isSelected={isAdministrator} onChange={setAdministrator}>
        <span>
          Administrator
          <span className="hint"> – has full access</span>
        </span>
      </Checkbox>
    </ActionDialog>
  );
}
