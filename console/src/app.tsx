/** The console: screens for signed-in users, otherwise the sign-in form. */

import { QueryClientProvider } from '@tanstack/react-query';
import { I18nProvider } from 'react-aria-components';
import { LiveProvider } from './graph/live.tsx';
import { queries } from './graph/use-graph.ts';
import { SessionProvider, useSession } from './session/session.tsx';
import { Shell } from './shell/shell.tsx';
import { SignIn, SignInAgain } from './shell/sign-in.tsx';
import { Failed, Loading } from './ui/states.tsx';

export function App() {
  return (
    <I18nProvider locale="en">
      <QueryClientProvider client={queries}>
        <SessionProvider>
          <Gate />
        </SessionProvider>
      </QueryClientProvider>
    </I18nProvider>
  );
}

function Gate() {
  const { state, retry } = useSession();
  switch (state.kind) {
    case 'starting':
      return (
        <main className="gate">
          <Loading />
        </main>
      );
    case 'failed':
      return (
        <main className="gate">
          <Failed error={state.error} retry={retry} />
        </main>
      );
    case 'signedOut':
      return <SignIn />;
    case 'signedIn':
    case 'ended': {
      const isEnded = state.kind === 'ended';
      // The page stays mounted behind the form to keep typed text. It is inert and hidden.
      return (
        <LiveProvider key={state.viewer.id}>
          <div className={isEnded ? 'behind-sign-in' : 'contents'} inert={isEnded}>
            <Shell />
          </div>
          {isEnded && <SignInAgain username={state.viewer.username} />}
        </LiveProvider>
      );
    }
  }
}
