/** The form for a user name and a password. */

import { EspalierError, type Credentials, type ErrorCode } from '@espalier/client';
import { useState, type FormEvent } from 'react';
import { Form } from 'react-aria-components';
import { describeProblem } from '../../graph/problem.ts';
import { client } from '../../session/client.ts';
import { useSession } from '../../session/session.tsx';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Problem } from './problem.tsx';

interface PasswordFormProps {
  /** The user whose session ended. */
  readonly username: string | undefined;
  /** Whether the password is the first choice: the form takes the focus, and its button stands out. */
  readonly isFirst: boolean;
  /** The password is right, and the user needs a second factor. */
  readonly onSecondFactor: (credentials: Credentials, error: EspalierError) => void;
}

const secondFactorCodes: readonly ErrorCode[] = [
  'SECOND_FACTOR_REQUIRED',
  'SECOND_FACTOR_ENROLMENT_REQUIRED',
];

export function PasswordForm({ username: initialUsername, isFirst, onSecondFactor }: PasswordFormProps) {
  const { signInWith } = useSession();
  const [username, setUsername] = useState(initialUsername ?? '');
  const [password, setPassword] = useState('');
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isPending) return;
    setPending(true);
    setProblem(null);
    const credentials = { username, password };
    try {
      await signInWith(() => client.login(credentials));
    } catch (error) {
      if (error instanceof EspalierError && secondFactorCodes.includes(error.code)) {
        return onSecondFactor(credentials, error);
      }
      setProblem(describeProblem(error).text);
      setPassword('');
    } finally {
      setPending(false);
    }
  };
  return (
    <Form className="sign-in-fields" onSubmit={(event) => void submit(event)}>
      <TextField
        label="User name"
        name="username"
        autoComplete="username"
        value={username}
        onChange={setUsername}
        autoFocus={isFirst && initialUsername === undefined}
        isRequired
      />
      <TextField
        label="Password"
        name="password"
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
        autoFocus={isFirst && initialUsername !== undefined}
        isRequired
      />
      {problem !== null && <Problem>{problem}</Problem>}
      <Button type="submit" tone={isFirst ? 'primary' : 'plain'} isPending={isPending}>
        Sign in
      </Button>
    </Form>
  );
}
