/** The sign-in form: as a page, or as a dialog over the current page after the session has ended. */

import { Dialog, Form, Modal, ModalOverlay } from 'react-aria-components';
import { useState, type FormEvent, type ReactNode } from 'react';
import { describeProblem } from '../graph/problem.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/fields.tsx';
import { Logo } from '../ui/icons.tsx';
import { listUnsaved } from '../session/session-data.ts';
import { useSession } from '../session/session.tsx';

export function SignIn() {
  return (
    <main className="sign-in">
      <SignInForm title="Sign in to Espalier" />
    </main>
  );
}

/** A dialog, because it must also cover other dialogs. */
export function SignInAgain({ username }: { username: string }) {
  const { signOut } = useSession();
  return (
    <ModalOverlay className="above" isOpen isKeyboardDismissDisabled>
      <Modal>
        <Dialog className="sign-in" aria-label="Sign in again">
          <SignInForm
            title="Sign in again"
            notice="Your session has ended. Your work on this page is kept."
            username={username}
          >
            <Button tone="quiet" onPress={() => void signOut()}>
              {listUnsaved().length > 0 ? 'Leave without saving' : 'Leave this page'}
            </Button>
          </SignInForm>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

interface SignInFormProps {
  readonly title: string;
  readonly notice?: string;
  /** The user whose session ended. */
  readonly username?: string;
  readonly children?: ReactNode;
}

function SignInForm({ title, notice, username: initialUsername, children }: SignInFormProps) {
  const { signIn } = useSession();
  const [username, setUsername] = useState(initialUsername ?? '');
  const [password, setPassword] = useState('');
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isPending) return;
    setPending(true);
    setProblem(null);
    try {
      await signIn({ username, password });
    } catch (error) {
      setProblem(describeProblem(error).text);
      setPassword('');
    } finally {
      setPending(false);
    }
  };
  return (
    <Form className="sign-in-form" onSubmit={(event) => void submit(event)}>
      <Logo />
      <h1>{title}</h1>
      {notice && <p className="hint">{notice}</p>}
      <TextField
        label="User name"
        name="username"
        autoComplete="username"
        value={username}
        onChange={setUsername}
        autoFocus={initialUsername === undefined}
        isRequired
      />
      <TextField
        label="Password"
        name="password"
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
        autoFocus={initialUsername !== undefined}
        isRequired
      />
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <Button type="submit" tone="primary" isPending={isPending}>
        Sign in
      </Button>
      {children}
    </Form>
  );
}
