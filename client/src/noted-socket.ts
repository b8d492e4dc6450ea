/** The sockets of a client: it is told of each that is opened, and once it is closed none is opened any more. */

import { EspalierError } from './errors.ts';

export interface SocketNotes {
  readonly isClosed: () => boolean;
  readonly onNew: (socket: WebSocket) => void;
}

export function notedSocket(
  Socket: typeof WebSocket,
  { isClosed, onNew }: SocketNotes,
): new (address: string, protocol: string) => WebSocket {
  return class NotedSocket extends Socket {
    constructor(address: string, protocol: string) {
      if (isClosed()) return new ClosedSocket() as unknown as NotedSocket;
      super(address, protocol);
      onNew(this);
    }
  };
}

/** The one that was given, or the global one, which not every Node has. */
export function requireWebSocket(given: typeof WebSocket | undefined): typeof WebSocket {
  const found = given ?? (globalThis as Partial<typeof globalThis>).WebSocket;
  if (found) return found;
  throw new EspalierError(
    'NO_WEB_SOCKET',
    'There is no WebSocket here: use Node 22.13 or newer, or give createClient a `webSocket`.',
  );
}

/** To graphql-ws, which cannot be kept from opening one, it is as if the server had closed it. */
class ClosedSocket {
  readonly readyState = 3;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null = null;

  constructor() {
    queueMicrotask(() => this.onclose?.({ code: 1000, reason: 'Closed' }));
  }

  close(): void {
    // It is.
  }
}
