/** The state of a form with a code. After a wrong code, the field is empty and focused. */

import { useState, type FormEvent } from 'react';
import { describeProblem } from '../../graph/problem.ts';
import { useSession } from '../../session/session.tsx';

interface CodeFormOptions {
  /** Sends the code and starts the session. */
  readonly signIn: (code: string) => Promise<unknown>;
  /** The error after which no code can succeed. It returns the user to the password. */
  readonly finalError: string;
  readonly onBack: (problem: unknown) => void;
}

export function useCodeForm({ signIn, finalError, onBack }: CodeFormOptions) {
  const { signInWith } = useSession();
  const [code, setCode] = useState('');
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const field = event.currentTarget.elements.namedItem('code') as HTMLInputElement;
    if (isPending) return;
    setPending(true);
    setProblem(null);
    try {
      await signInWith(() => signIn(code));
    } catch (error) {
      const { code: reason, text } = describeProblem(error);
      if (reason === finalError) return onBack(error);
      setProblem(text);
      setCode('');
      field.focus();
    } finally {
      setPending(false);
    }
  };
  return {
    code,
    setCode,
    isPending,
    problem,
    submit: (event: FormEvent<HTMLFormElement>) => void send(event),
  };
}
