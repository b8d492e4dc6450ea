/** The session of the signed-in user, shared by all tabs. */

import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { createContext, use, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { client } from './client.ts';
import { takeSignIn } from './single-sign-on.ts';
import { currentView, leaveEndedView, leaveView } from './view-as.ts';
import { getSignOutCount, clearUserData, listUnsaved } from './session-data.ts';

interface Viewer {
  readonly id: string;
  readonly username: string;
  readonly isAdministrator: boolean;
  /** The key of stored data. In a view as another user, it is not the id of the session, so that the data of the two users is kept apart. */
  readonly sessionId: string;
}

type SessionState =
  | { readonly kind: 'starting' }
  /** The error explains why the single sign-on that brought the browser to this page failed. */
  | { readonly kind: 'signedOut'; readonly error: unknown }
  | { readonly kind: 'signedIn'; readonly viewer: Viewer }
  /** The session ended without a sign-out. The data of the user is kept until they sign in again. */
  | { readonly kind: 'ended'; readonly viewer: Viewer }
  /** The viewer could not be read. */
  | { readonly kind: 'failed'; readonly error: unknown };

interface Session {
  readonly state: SessionState;
  /** Whether the user has signed in on this page. A reload or another tab can also start a session. */
  readonly hasSignedIn: boolean;
  /** Runs work that starts a session, for example a login. The screens appear when the work has finished. */
  readonly signInWith: (work: () => Promise<unknown>) => Promise<void>;
  readonly signOut: () => Promise<void>;
  /** Reads the viewer again after `failed`. */
  readonly retry: () => void;
  /** Reads the viewer again after a change of the name or the rights. */
  readonly reload: () => Promise<void>;
}

const SessionContext = createContext<Session | null>(null);

const viewerDocument = /* GraphQL */ `
  {
    viewer {
      user {
        id
        username
        isAdministrator
      }
      session {
        id
      }
    }
  }
`;

interface ViewerResponse {
  readonly viewer: {
    readonly user: {
      readonly id: string;
      readonly username: string;
      readonly isAdministrator: boolean | null;
    };
    readonly session: { readonly id: string };
  };
}

async function readViewer(): Promise<Viewer> {
  const { viewer } = await client.query<ViewerResponse>(viewerDocument);
  const { user, session } = viewer;
  const sessionId = currentView ? `${session.id}/${user.id}` : session.id;
  return { ...user, isAdministrator: user.isAdministrator === true, sessionId };
}

interface ReadOptions {
  readonly rejects?: boolean;
  /** Why a single sign-on failed, for the sign-in form. */
  readonly returnError?: unknown;
}

/**
 * Tracks the signed-in user. If a newer read has started, the result of an older one is ignored. After the session ends, the
 * viewer is kept so that the same user can continue.
 */
function createSessionTracker(queries: QueryClient, setState: (state: SessionState) => void) {
  let viewer: Viewer | null = null;
  let lastRead = 0;

  const show = (next: SessionState) => {
    viewer = 'viewer' in next ? next.viewer : null;
    setState(next);
  };
  const end = (error: unknown = null) => {
    lastRead++;
    // End the view, because only the administrator can sign in again. A view is read only, so no work is lost.
    if (currentView) return leaveView({ isStopped: false });
    show(viewer ? { kind: 'ended', viewer } : { kind: 'signedOut', error });
  };
  /** Removes all data of a user before the next one signs in. */
  const clear = () => {
    clearUserData();
    queries.clear();
  };
  const leave = () => {
    lastRead++;
    clear();
    if (currentView) return leaveView({ isStopped: true });
    show({ kind: 'signedOut', error: null });
  };
  const enter = (next: Viewer) => {
    if (viewer && viewer.id !== next.id) clear();
    else if (viewer) void queries.invalidateQueries();
    show({ kind: 'signedIn', viewer: next });
  };
  /** If the viewer is already known, an error is ignored unless `rejects` is true. */
  const read = async ({ rejects = false, returnError = null }: ReadOptions = {}) => {
    const id = ++lastRead;
    const isOvertaken = () => id !== lastRead;
    try {
      const next = (await client.isLoggedIn()) ? await readViewer() : null;
      if (isOvertaken()) return;
      if (next) enter(next);
      else end(returnError);
    } catch (error) {
      if (leaveEndedView(error)) return;
      const isOver = !(await client.isLoggedIn());
      if (isOvertaken()) return;
      if (isOver) end();
      else if (!viewer) show({ kind: 'failed', error });
      else if (rejects) throw error;
    }
  };
  return { read, end, leave };
}

interface SessionStart {
  readonly read: (options?: ReadOptions) => Promise<void>;
  readonly setSignedIn: (hasSignedIn: boolean) => void;
  readonly isSigningIn: { current: boolean };
}

/** Exchanges the one-time code with which the browser returned to this page, if there is one, and reads the viewer. */
async function startSession({ read, setSignedIn, isSigningIn }: SessionStart): Promise<void> {
  let returnError: unknown = null;
  isSigningIn.current = true;
  try {
    const result = takeSignIn();
    if (result instanceof Error) throw result;
    if (result) {
      await client.completeSingleSignOn(result);
      setSignedIn(true);
    }
  } catch (error) {
    returnError = error;
  } finally {
    isSigningIn.current = false;
  }
  await read({ returnError });
}

export function SessionProvider({ children }: { children: ReactNode }) {
  const [state, setState] = useState<SessionState>({ kind: 'starting' });
  const queries = useQueryClient();
  const [hasSignedIn, setSignedIn] = useState(false);
  const isSigningIn = useRef(false);
  const isSigningOut = useRef(false);
  const { read, end, leave } = useMemo(() => createSessionTracker(queries, setState), [queries]);

  useEffect(() => {
    void startSession({ read, setSignedIn, isSigningIn });
    return client.onSession(({ type }) => {
      if (type === 'login' && !isSigningIn.current) void read();
      else if (type === 'ended') end();
      // After a sign-out in another tab, unsaved data of this tab waits for the same user.
      else if (type === 'logout' && !isSigningOut.current && listUnsaved().length > 0) end();
      else if (type === 'logout') leave();
    });
  }, [read, end, leave]);

  const session = useMemo<Session>(
    () => ({
      state,
      hasSignedIn,
      async signInWith(work) {
        isSigningIn.current = true;
        try {
          await work();
          setSignedIn(true);
          await read({ rejects: true });
        } finally {
          isSigningIn.current = false;
        }
      },
      async signOut() {
        if (isSigningOut.current) return;
        isSigningOut.current = true;
        const before = getSignOutCount();
        try {
          await client.logout();
        } catch {
          // The tokens are deleted here. The server ends the session when it expires.
        } finally {
          isSigningOut.current = false;
          // Usually the "logout" event has called `leave` already, and another user may be signed in.
          if (getSignOutCount() === before) leave();
        }
      },
      retry() {
        setState({ kind: 'starting' });
        void read();
      },
      reload: read,
    }),
    [state, hasSignedIn, read, leave],
  );
  return <SessionContext value={session}>{children}</SessionContext>;
}

export function useSession(): Session {
  const session = use(SessionContext);
  if (!session) throw new Error('useSession needs a SessionProvider');
  return session;
}

/** For components that are rendered only while a user is signed in, or the session has just ended. */
export function useViewer(): Viewer {
  const { state } = useSession();
  if (!('viewer' in state)) throw new Error('useViewer needs a signed-in user');
  return state.viewer;
}
