/** The WebSocket class of a client. It reports each socket that opens, and opens none after the client is closed. */

import { EspalierError } from '../errors.ts';

export interface SocketTracking {
  readonly isClosed: () => boolean;
  readonly onNew: (socket: WebSocket) => void;
}

export function trackSockets(
  Socket: typeof WebSocket,
  { isClosed, onNew }: SocketTracking,
): new (address: string, protocol: string) => WebSocket {
  return class TrackedSocket extends Socket {
    constructor(address: string, protocol: string) {
      if (isClosed()) return new ClosedSocket() as unknown as TrackedSocket;
      super(address, protocol);
      onNew(this);
    }
  };
}

/** Returns the configured WebSocket class or the global one, which older versions of Node do not have. */
export function requireWebSocket(configured: typeof WebSocket | undefined): typeof WebSocket {
  const Socket = configured ?? (globalThis as Partial<typeof globalThis>).WebSocket;
  if (Socket) return Socket;
  throw new EspalierError(
    'NO_WEB_SOCKET',
    'This runtime has no WebSocket. Use Node 22.13 or newer, or pass `webSocket` to createClient.',
  );
}

/** graphql-ws cannot be stopped from opening a socket. This replacement behaves as if the server had closed it. */
class ClosedSocket {
  readonly readyState = 3;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null = null;

  constructor() {
    queueMicrotask(() => this.onclose?.({ code: 1000, reason: 'Closed' }));
  }

  close(): void {
    // The socket is already closed.
  }
}
