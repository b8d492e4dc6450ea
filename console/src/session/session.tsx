/** Who is signed in here, in all tabs: told to the page as it changes. */

import { useQueryClient } from '@tanstack/react-query';
import { createContext, use, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { client } from './client.ts';
import { countSignOuts, clearUserData, listUnsaved } from './session-data.ts';

export interface Viewer {
  readonly id: string;
  readonly username: string;
  readonly isAdministrator: boolean;
  readonly sessionId: string;
}

export type SessionState =
  /** Not known yet. */
  | { readonly kind: 'starting' }
  | { readonly kind: 'signedOut' }
  | { readonly kind: 'signedIn'; readonly viewer: Viewer }
  /** The session is over without the person's doing: what they were at is kept until they are back. */
  | { readonly kind: 'ended'; readonly viewer: Viewer }
  /** The server does not say who is signed in. */
  | { readonly kind: 'failed'; readonly error: unknown };

interface Session {
  readonly state: SessionState;
  readonly signIn: (credentials: { username: string; password: string }) => Promise<void>;
  readonly signOut: () => Promise<void>;
  /** After `failed`. */
  readonly retry: () => void;
  /** The viewer has another name, or may do other things. */
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

interface ViewerAnswer {
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
  const { viewer } = await client.query<ViewerAnswer>(viewerDocument);
  const { user, session } = viewer;
  return { ...user, isAdministrator: user.isAdministrator === true, sessionId: session.id };
}

export function SessionProvider({ children }: { children: ReactNode }) {
  const [state, setState] = useState<SessionState>({ kind: 'starting' });
  const queries = useQueryClient();
  const isLeaving = useRef(false);
  const isEntering = useRef(false);
  /** Whose page it is, also when their session has ended. */
  const known = useRef<Viewer | null>(null);
  /** Of the latest question who is signed in: an answer to an older one is of no use. */
  const turn = useRef(0);

  const { read, end, leave } = useMemo(() => {
    const show = (next: SessionState) => {
      known.current = 'viewer' in next ? next.viewer : null;
      setState(next);
    };
    const end = () => {
      turn.current++;
      show(known.current ? { kind: 'ended', viewer: known.current } : { kind: 'signedOut' });
    };
    /** Nothing of somebody is left for the next one. */
    const forget = () => {
      clearUserData();
      queries.clear();
    };
    const leave = () => {
      turn.current++;
      forget();
      show({ kind: 'signedOut' });
    };
    const welcome = (viewer: Viewer) => {
      if (known.current && known.current.id !== viewer.id) forget();
      else if (known.current) void queries.invalidateQueries();
      show({ kind: 'signedIn', viewer });
    };
    /** Rejects only where whoever asked is to be told. */
    const read = async ({ isAsked = false } = {}) => {
      const mine = ++turn.current;
      const isLate = () => mine !== turn.current;
      try {
        const viewer = (await client.isLoggedIn()) ? await readViewer() : null;
        if (isLate()) return;
        if (viewer) welcome(viewer);
        else end();
      } catch (error) {
        const isOver = !(await client.isLoggedIn());
        if (isLate()) return;
        if (isOver) end();
        else if (!known.current) show({ kind: 'failed', error });
        else if (isAsked) throw error;
      }
    };
    return { read, end, leave };
  }, [queries]);

  useEffect(() => {
    void read();
    return client.onSession(({ type }) => {
      if (type === 'login' && !isEntering.current) void read();
      else if (type === 'ended') end();
      // Signed out in another tab: what is not saved in this one waits for the same person to come back.
      else if (type === 'logout' && !isLeaving.current && listUnsaved().length > 0) end();
      else if (type === 'logout') leave();
    });
  }, [read, end, leave]);

  const session = useMemo<Session>(
    () => ({
      state,
      async signIn(credentials) {
        isEntering.current = true;
        try {
          await client.login(credentials);
          await read({ isAsked: true });
        } finally {
          isEntering.current = false;
        }
      },
      async signOut() {
        if (isLeaving.current) return;
        isLeaving.current = true;
        const before = countSignOuts();
        try {
          await client.logout();
        } catch {
          // The tokens are gone from here; the server ends the session when it expires.
        } finally {
          isLeaving.current = false;
          // As a rule the page has been left by now, and somebody else may be here.
          if (countSignOuts() === before) leave();
        }
      },
      retry() {
        setState({ kind: 'starting' });
        void read();
      },
      reload: read,
    }),
    [state, read, leave],
  );
  return <SessionContext value={session}>{children}</SessionContext>;
}

export function useSession(): Session {
  const session = use(SessionContext);
  if (!session) throw new Error('useSession needs a SessionProvider');
  return session;
}

/** For what is shown to people who are signed in, or were until now. */
export function useViewer(): Viewer {
  const { state } = useSession();
  if (!('viewer' in state)) throw new Error('useViewer needs somebody who is signed in');
  return state.viewer;
}
