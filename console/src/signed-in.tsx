/** The screens of a signed-in user. They are a separate file, because the sign-in form does not need them. */

import { LiveProvider } from './graph/live.tsx';
import { Shell } from './shell/shell.tsx';
import { SignInAgain } from './shell/sign-in.tsx';

interface SignedInProps {
  readonly username: string;
  /** Whether the session has ended, so that the user must sign in again. */
  readonly isEnded: boolean;
}

export function SignedIn({ username, isEnded }: SignedInProps) {
  // The page stays mounted behind the form to keep typed text. It is inert and hidden.
  return (
    <LiveProvider>
      <div className={isEnded ? 'behind-sign-in' : 'contents'} inert={isEnded}>
        <Shell />
      </div>
      {isEnded && <SignInAgain username={username} />}
    </LiveProvider>
  );
}
