/** The sockets of a client: it is told of each that is opened, and once it is closed none is opened any more. */

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
