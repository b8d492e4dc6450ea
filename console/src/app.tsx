/** The console: screens for signed-in users, otherwise the sign-in form. */

import { QueryClientProvider } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, type ReactNode } from 'react';
import { I18nProvider } from 'react-aria-components';
import { queries } from './graph/use-graph.ts';
import { client } from './session/client.ts';
import { SessionProvider, useSession } from './session/session.tsx';
import { SignIn } from './shell/sign-in.tsx';
import { Failed, Loading } from './ui/states.tsx';

const loadSignedIn = () => import('./signed-in.tsx');
const SignedIn = lazy(async () => {
  try {
    return { default: (await loadSignedIn()).SignedIn };
  } catch (error) {
    // For example, the server was upgraded since this page was loaded.
    return { default: () => <LoadFailed error={error} /> };
  }
});

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
  usePreload();
  switch (state.kind) {
    case 'starting':
      return <Waiting />;
    case 'failed':
      return (
        <GatePage>
          <Failed error={state.error} retry={retry} />
        </GatePage>
      );
    case 'signedOut':
      return <SignIn error={state.error} />;
    case 'signedIn':
    case 'ended': {
      const { id, username } = state.viewer;
      return (
        <Suspense fallback={<Waiting />}>
          <SignedIn key={id} username={username} isEnded={state.kind === 'ended'} />
        </Suspense>
      );
    }
  }
}

/** Loads the screens at the same time as the viewer. */
function usePreload(): void {
  useEffect(() => {
    const preload = () => void loadSignedIn().catch(() => undefined);
    void client.isLoggedIn().then((isLoggedIn) => isLoggedIn && preload());
    return client.onSession(({ type }) => type === 'login' && preload());
  }, []);
}

function LoadFailed({ error }: { error: unknown }) {
  return (
    <GatePage>
      <Failed error={error} retry={() => location.reload()} />
    </GatePage>
  );
}

function Waiting() {
  return (
    <GatePage>
      <Loading />
    </GatePage>
  );
}

function GatePage({ children }: { children: ReactNode }) {
  return <main className="gate">{children}</main>;
}
