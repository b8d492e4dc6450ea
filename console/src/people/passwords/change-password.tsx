/** Changes the viewer's own password: asks for the old one, and for the new one twice. */

import { Form } from 'react-aria-components';
import { useState, type FormEvent } from 'react';
import { changePassword } from '../../actions/people-actions.ts';
import { perform } from '../../actions/perform.ts';
import { describeProblem } from '../../graph/problem.ts';
import { useViewer } from '../../session/session.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyAs } from '../../ui/copy.tsx';
import { TextField } from '../../ui/fields.tsx';
import { isLongEnough, shortestPassword } from './password-field.tsx';
import { peopleStale } from '../people-data.ts';
import { endedText } from '../sessions/revoke-dialogs.tsx';

const call = {
  action: changePassword,
  variables: { input: { oldPassword: '…', newPassword: '…' } },
};

/** The state of the form, and its submission. */
function usePasswordForm() {
  const [old, setOld] = useState('');
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [isTried, setTried] = useState(false);

  const isTooShort = !isLongEnough(password);
  const differs = again !== password;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    setProblem(null);
    if (isPending || old === '' || isTooShort || differs) return;
    setPending(true);
    try {
      await perform({
        action: changePassword,
        variables: { input: { oldPassword: old, newPassword: password } },
        doneText: ({ changePassword: { endedSessions } }) =>
          `Your password was changed. ${endedText(endedSessions)}`,
        staleQueries: peopleStale,
      });
      for (const empty of [setOld, setPassword, setAgain]) empty('');
      setTried(false);
    } catch (error) {
      const { code, text } = describeProblem(error);
      setProblem(code === 'FORBIDDEN' ? 'The old password is wrong.' : text);
    } finally {
      setPending(false);
    }
  };
  return {
    old,
    setOld,
    password,
    setPassword,
    again,
    setAgain,
    isPending,
    problem,
    isTried,
    isTooShort,
    differs,
    submit,
  };
}

export function ChangePassword() {
  const { username } = useViewer();
  const form = usePasswordForm();
  return (
    <section className="card" aria-labelledby="change-password">
      <h2 id="change-password">Change password</h2>
      <Form className="people-form" onSubmit={(event) => void form.submit(event)} validationBehavior="aria">
        <UsernameHint username={username} />
        <TextField
          label="Old password"
          type="password"
          autoComplete="current-password"
          value={form.old}
          onChange={form.setOld}
          error={form.isTried && form.old === '' ? 'Enter your old password.' : undefined}
        />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          value={form.password}
          onChange={form.setPassword}
          help={`At least ${shortestPassword} characters. Common passwords are not allowed.`}
          error={
            form.isTried && form.isTooShort ? `Enter at least ${shortestPassword} characters.` : undefined
          }
        />
        <TextField
          label="New password again"
          type="password"
          autoComplete="new-password"
          value={form.again}
          onChange={form.setAgain}
          error={form.isTried && form.differs ? 'The passwords do not match.' : undefined}
        />
        {form.problem !== null && (
          <p className="problem" role="alert">
            {form.problem}
          </p>
        )}
        <p className="hint">You stay signed in here. All your other sessions end.</p>
        <div className="dialog-footer">
          <CopyAs call={call} />
          <span className="grow" />
          <Button type="submit" tone="primary" isPending={form.isPending}>
            Change password
          </Button>
        </div>
      </Form>
    </section>
  );
}

/** An invisible field from which password managers read the user of the password. */
function UsernameHint({ username }: { username: string }) {
  return (
    <input
      className="visually-hidden"
      name="username"
      autoComplete="username"
      value={username}
      readOnly
      tabIndex={-1}
      aria-hidden="true"
    />
  );
}
