/** The dialog to create a person with a password, or a service account without one. */

import { useState } from 'react';
import { createUser } from '../../actions/people-actions.ts';
import { peopleQueries } from '../../graph/use-graph.ts';
import { navigate } from '../../router.tsx';
import { ActionDialog } from '../../ui/dialog.tsx';
import { Checkbox, Select, TextField } from '../../ui/fields.tsx';
import { isLongEnough, PasswordField, PasswordOnce } from '../password-field.tsx';

/** The created user, with the password that was sent. */
interface CreatedUser {
  readonly id: string;
  readonly username: string;
  readonly password: string;
}

const kinds = [
  { id: 'PERSON', label: 'Person', help: 'Signs in with a password.' },
  { id: 'SERVICE', label: 'Service account', help: 'A program. It uses API keys, and cannot sign in.' },
] as const;

type Kind = (typeof kinds)[number]['id'];

export function NewUserDialog({ onClose }: { onClose: () => void }) {
  const [kind, setKind] = useState<Kind>('PERSON');
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [isAdministrator, setAdministrator] = useState(false);
  const [createdUser, setCreatedUser] = useState<CreatedUser | null>(null);
  const isPerson = kind === 'PERSON';
  const openPage = (id: string) => {
    onClose();
    navigate(`/users/${id}`);
  };
  const finish = (id: string) => (isPerson ? setCreatedUser({ id, username, password }) : openPage(id));

  if (createdUser) {
    return (
      <PasswordOnce
        username={createdUser.username}
        password={createdUser.password}
        message={`${createdUser.username} can sign in now.`}
        onClose={() => openPage(createdUser.id)}
      />
    );
  }
  return (
    <ActionDialog
      title="New user"
      verb="Create user"
      task={{
        action: createUser,
        variables: { input: { username, isAdministrator, ...(isPerson ? { password } : { kind }) } },
        doneText: `Created ${username}`,
        staleQueries: peopleQueries,
      }}
      isReady={username.trim() !== '' && (!isPerson || isLongEnough(password))}
      onClose={onClose}
      closesWhenDone={false}
      onDone={({ createUser: { user } }) => finish(user.id)}
    >
      <Select label="Kind" value={kind} options={kinds} onChange={setKind} />
      <TextField
        label="User name"
        name="username"
        value={username}
        onChange={setUsername}
        isRequired
        autoFocus
        autoComplete="off"
      />
      {isPerson && <PasswordField label="Password" value={password} onChange={setPassword} />}
      <Checkbox isSelected={isAdministrator} onChange={setAdministrator}>
        <span>
          Administrator
          <span className="hint"> – has full access</span>
        </span>
      </Checkbox>
    </ActionDialog>
  );
}
