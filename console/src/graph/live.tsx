/**
 * Publishes the changes of all visible folders as they happen, from one subscription per page. `tree/use-main-tree.ts` passes
 * each change to the tree.
 */

import { EspalierError } from '@espalier/client';
import {
  createContext,
  use,
  useEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
  type RefObject,
} from 'react';
import { client } from '../session/client.ts';
import { useSession } from '../session/session.tsx';
import { leaveEndedView } from '../session/view-as.ts';
import {
  changesDocument,
  isAccessChange,
  type AccessLevel,
  type FolderChange,
  type FolderRow,
} from './folder-change.ts';
import { followSubscription } from './follow.ts';
import { personalKey, queries } from './use-graph.ts';

export type { AccessLevel, FolderChange, FolderRow };

export type LiveStatus = 'connecting' | 'live' | 'lost';

interface Live {
  readonly status: LiveStatus;
  /** Returns a function that removes the listener. */
  readonly listen: (listener: (change: FolderChange) => void) => () => void;
}

const LiveContext = createContext<Live | null>(null);

export function LiveProvider({ children }: { children: ReactNode }) {
  const listeners = useRef(new Set<(change: FolderChange) => void>());
  const isSocketOpen = useRef(false);
  const [status, setStatus] = useState<LiveStatus>('connecting');
  useChangeSubscription(listeners.current, isSocketOpen, setStatus);
  useSocketStatus(isSocketOpen, setStatus);
  // Without a refetch, the errors of an outage would stay on the screen until the user tries again.
  useEffect(() => {
    if (status !== 'live') return;
    void queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
  }, [status]);

  const live = useMemo<Live>(
    () => ({
      status,
      listen(listener) {
        listeners.current.add(listener);
        return () => listeners.current.delete(listener);
      },
    }),
    [status],
  );
  return <LiveContext value={live}>{children}</LiveContext>;
}

/** Subscribes while a user is signed in. */
function useChangeSubscription(
  listeners: ReadonlySet<(change: FolderChange) => void>,
  isSocketOpen: RefObject<boolean>,
  setStatus: (status: LiveStatus) => void,
): void {
  const { state } = useSession();
  const viewerId = state.kind === 'signedIn' ? state.viewer.id : null;
  const after = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (viewerId === null) return;
    const controller = new AbortController();
    const { signal } = controller;
    const onEvent = (change: FolderChange) => {
      invalidateQueries(change);
      for (const listener of listeners) listener(change);
    };
    followSubscription(client, {
      document: changesDocument,
      after,
      signal,
      onEvent,
      isFinalError: (error) =>
        leaveEndedView(error) || (error instanceof EspalierError && error.code === 'LOGGED_OUT'),
      // A socket that is already open sends no "connected" event.
      onAttempt: () => isSocketOpen.current && setStatus('live'),
      onFailure: () => setStatus('lost'),
    }).catch(() => undefined);
    return () => controller.abort();
  }, [viewerId, listeners, isSocketOpen, setStatus]);
}

/** Derives the status from the events of the socket and of the browser. */
function useSocketStatus(isSocketOpen: RefObject<boolean>, setStatus: (status: LiveStatus) => void): void {
  useEffect(() => {
    const onLost = () => setStatus('lost');
    const onClosed = () => {
      isSocketOpen.current = false;
      onLost();
    };
    const onConnected = () => {
      isSocketOpen.current = true;
      setStatus('live');
    };
    const stops = [client.socket.on('closed', onClosed), client.socket.on('connected', onConnected)];
    // After an outage, the socket may be dead without a close event, so it is always replaced.
    const onOnline = () => client.socket.terminate();
    addEventListener('offline', onLost);
    addEventListener('online', onOnline);
    return () => {
      for (const stop of stops) stop();
      removeEventListener('offline', onLost);
      removeEventListener('online', onOnline);
    };
  }, [isSocketOpen, setStatus]);
}

/** Invalidates the queries of the folder, its parents and its descendants. */
function invalidateQueries(change: FolderChange): void {
  const { kind, folderId, folder, oldParent, newParent } = change;
  if (kind === 'RESYNC') {
    void queries.invalidateQueries();
    return;
  }
  const touched = new Set<unknown>([folderId, folder?.parent?.id, oldParent?.id, newParent?.id]);
  for (const [[, subjectId], data] of queries.getQueriesData({ queryKey: ['folder'] })) {
    if (isAffected(data, folderId, kind === 'CREATE')) touched.add(subjectId);
  }
  void queries.invalidateQueries({
    predicate: ({ queryKey: [subject, subjectId] }) =>
      // A change of the viewer's access reports only the topmost folder, so all folders are invalidated.
      subject === 'folder' && (isAccessChange(change) || touched.has(subjectId)),
  });
  void queries.invalidateQueries({
    queryKey: personalKey,
    predicate: ({ state: { data } }) => isAccessChange(change) || mentions(data, [folderId, oldParent?.id]),
  });
  if (kind === 'DELETE' || kind === 'CREATE') void queries.invalidateQueries({ queryKey: ['trash'] });
}

/** Returns whether a cached folder is inside the changed one. A missing folder may be inside a new one. */
function isAffected(data: unknown, id: string | null, isNew: boolean): boolean {
  const cached = data as { folder?: { ancestors?: readonly { id: string }[] } | null } | undefined;
  if (cached?.folder === null) return isNew;
  return cached?.folder?.ancestors?.some((ancestor) => ancestor.id === id) ?? false;
}

/** Returns whether a cached list contains one of the ids. */
function mentions(data: unknown, ids: readonly (string | null | undefined)[]): boolean {
  const text = JSON.stringify(data) ?? '';
  return ids.some((id) => id && text.includes(id));
}

export function useLive(): Live {
  const live = use(LiveContext);
  if (!live) throw new Error('useLive needs a LiveProvider');
  return live;
}
