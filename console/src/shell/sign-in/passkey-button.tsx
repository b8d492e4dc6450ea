/** Signs in with a passkey, which needs no user name and no password. */

import { useState, type ReactNode } from 'react';
import { askForPasskey, describePasskeyProblem, supportsPasskeys } from '../../second-factor/passkeys.ts';
import { client } from '../../session/client.ts';
import { useSession } from '../../session/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Problem } from './problem.tsx';

export function PasskeyButton({ children }: { children: ReactNode }) {
  const { signInWith } = useSession();
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const signIn = async () => {
    setPending(true);
    setProblem(null);
    try {
      const answer = await askForPasskey();
      await signInWith(() => client.loginWithPasskey(answer));
    } catch (error) {
      setProblem(describePasskeyProblem(error));
    } finally {
      setPending(false);
    }
  };
  if (!supportsPasskeys) return null;
  return (
    <>
      <Button icon="key" isPending={isPending} onPress={() => void signIn()}>
        {children}
      </Button>
      {problem !== null && <Problem>{problem}</Problem>}
    </>
  );
}
