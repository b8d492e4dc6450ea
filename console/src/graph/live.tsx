/** The changes of all folders that the viewer sees, as they happen: one subscription for the whole page. */

import { EspalierError } from '@espalier/client';
import { createContext, use, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { client } from '../session/client.ts';
import { useSession } from '../session/session.tsx';
import { folderRowFields, type AccessLevel, type FolderRow } from './folder-row.ts';
import { follow } from './follow.ts';
import { queries } from './use-graph.ts';

export type { AccessLevel, FolderRow };

export interface FolderChange {
  readonly kind: 'CREATE' | 'UPDATE' | 'MOVE' | 'DELETE' | 'IMPORT' | 'RESYNC';
  readonly cursor: string;
  readonly folderId: string | null;
  readonly folder: FolderRow | null;
  readonly oldParent: { readonly id: string; readonly name: string } | null;
  readonly newParent: { readonly id: string; readonly name: string } | null;
  readonly folderCount: number | null;
  readonly at: string | null;
  readonly by: { readonly id: string; readonly username: string } | null;
}

const changesDocument =
  /* GraphQL */ `
    subscription ConsoleChanges($after: String) {
      folderChanges(after: $after) {
        kind
        cursor
        folderId
        folder {
          ...FolderRow
        }
        oldParent {
          id
          name
        }
        newParent {
          id
          name
        }
        folderCount
        at
        by {
          id
          username
        }
      }
    }
  ` + folderRowFields;

export type LiveStatus = 'connecting' | 'live' | 'lost';

interface Live {
  readonly status: LiveStatus;
  /** Answers with how to stop. */
  readonly listen: (listener: (change: FolderChange) => void) => () => void;
}

const LiveContext = createContext<Live | null>(null);

export function LiveProvider({ children }: { children: ReactNode }) {
  const { state } = useSession();
  const viewerId = state.kind === 'signedIn' ? state.viewer.id : null;
  const listeners = useRef(new Set<(change: FolderChange) => void>());
  const after = useRef<string | undefined>(undefined);
  const isOpen = useRef(false);
  const [status, setStatus] = useState<LiveStatus>('connecting');

  useEffect(() => {
    if (viewerId === null) return;
    const ending = new AbortController();
    const { signal } = ending;
    const tell = (change: FolderChange) => {
      noteChange(change);
      for (const listener of listeners.current) listener(change);
    };
    follow(client, {
      document: changesDocument,
      after,
      signal,
      tell,
      isEnd: (error) => error instanceof EspalierError && error.code === 'LOGGED_OUT',
      // A socket that is open already says nothing more about itself.
      onAttempt: () => isOpen.current && setStatus('live'),
      onFailure: () => setStatus('lost'),
    }).catch(() => undefined);
    return () => ending.abort();
  }, [viewerId]);

  // What is shown as live shall say so only while it is.
  useEffect(() => {
    const lost = () => setStatus('lost');
    const closed = () => {
      isOpen.current = false;
      lost();
    };
    const connected = () => {
      isOpen.current = true;
      setStatus('live');
    };
    const stops = [client.socket.on('closed', closed), client.socket.on('connected', connected)];
    // A socket may have outlived it, or may be dead without a word: a new one is sure.
    const back = () => client.socket.terminate();
    addEventListener('offline', lost);
    addEventListener('online', back);
    return () => {
      for (const stop of stops) stop();
      removeEventListener('offline', lost);
      removeEventListener('online', back);
    };
  }, []);

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

/** What was read of the folder, of those around it and of what is inside is read again when it is shown. */
function noteChange({ kind, folderId, folder, oldParent, newParent, at }: FolderChange): void {
  if (kind === 'RESYNC') {
    void queries.invalidateQueries();
    return;
  }
  const touched = new Set<unknown>([folderId, folder?.parent?.id, oldParent?.id, newParent?.id]);
  for (const [[, of], data] of queries.getQueriesData({ queryKey: ['folder'] })) {
    if (isInside(data, folderId, kind === 'CREATE')) touched.add(of);
  }
  void queries.invalidateQueries({
    predicate: ({ queryKey: [subject, of] }) =>
      // Where it is the viewer's access that has changed, only the topmost folder is told.
      subject === 'folder' && (at === null || touched.has(of)),
  });
  if (kind === 'DELETE' || kind === 'CREATE') void queries.invalidateQueries({ queryKey: ['trash'] });
}

/** Whether what was read is inside a folder; what was missing may be, if that is new. */
function isInside(data: unknown, id: string | null, isNew: boolean): boolean {
  const read = data as { folder?: { ancestors?: readonly { id: string }[] } | null } | undefined;
  if (read?.folder === null) return isNew;
  return read?.folder?.ancestors?.some((above) => above.id === id) ?? false;
}

export function useLive(): Live {
  const live = use(LiveContext);
  if (!live) throw new Error('useLive needs a LiveProvider');
  return live;
}
