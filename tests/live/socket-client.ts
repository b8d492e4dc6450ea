/** A WebSocket client that returns frames as they arrive, with a timeout. */

import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { WebSocket, type ClientOptions } from 'ws';

export interface Frame {
  readonly type: string;
  readonly id?: string;
  readonly payload?: Readonly<Record<string, unknown>>;
}

export interface CloseEvent {
  readonly code: number;
  readonly reason: string;
}

export interface SocketClientOptions extends ClientOptions {
  /** The sub-protocols to offer. */
  readonly protocols?: readonly string[];
  readonly path?: string;
}

/** Generous, because the test machine may be busy. */
const timeoutMs = 60_000;

export class SocketClient {
  readonly socket: WebSocket;
  readonly #frames: Frame[] = [];
  readonly #closed: Promise<CloseEvent>;
  #wake: () => void = () => undefined;
  #isClosed = false;

  static async open(url: string, options: SocketClientOptions = {}): Promise<SocketClient> {
    const client = new SocketClient(connect(url, options));
    await once(client.socket, 'open');
    return client;
  }

  /** Opens a connection and waits for its acknowledgement. */
  static async connect(
    url: string,
    authToken: string,
    options: SocketClientOptions = {},
  ): Promise<SocketClient> {
    const client = await SocketClient.open(url, options);
    client.init(authToken);
    const { type } = await client.next();
    if (type !== 'connection_ack') throw new Error(`The connection was answered with ${type}.`);
    return client;
  }

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => {
      this.#frames.push(JSON.parse(data.toString()) as Frame);
      this.#wake();
    });
    socket.on('error', () => undefined);
    this.#closed = new Promise((resolve) =>
      socket.on('close', (code, reason) => {
        this.#isClosed = true;
        resolve({ code, reason: reason.toString() });
        this.#wake();
      }),
    );
  }

  /** The frames that arrived but were not read. */
  get unread(): readonly Frame[] {
    return this.#frames;
  }

  init(authToken: string, key = 'authorization'): void {
    this.send({ type: 'connection_init', payload: { [key]: `Bearer ${authToken}` } });
  }

  /** Starts an operation in the negotiated protocol. */
  start(id: string, query: string, variables?: Record<string, unknown>): void {
    const type = this.socket.protocol === 'graphql-ws' ? 'start' : 'subscribe';
    this.send({ id, type, payload: { query, variables } });
  }

  send(message: unknown): void {
    this.socket.send(JSON.stringify(message));
  }

  async next(): Promise<Frame> {
    while (this.#frames.length === 0) {
      if (this.#isClosed) throw new Error(`The socket closed: ${JSON.stringify(await this.#closed)}.`);
      await withTimeout<void>('No frame arrived.', (resolve) => (this.#wake = resolve));
    }
    return this.#frames.shift()!;
  }

  /** Waits until either side has closed the socket. */
  async closed(): Promise<CloseEvent> {
    return withTimeout('The socket stays open.', (resolve) => void this.#closed.then(resolve));
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed();
  }
}

function withTimeout<T>(message: string, wait: (resolve: (value: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(message)), timeoutMs);
    wait((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}

export interface RefusedUpgrade {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Opens a socket that the server must refuse, and returns the HTTP response. */
export async function readRefusedUpgrade(
  url: string,
  options: SocketClientOptions = {},
): Promise<RefusedUpgrade> {
  const socket = connect(url, options);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    socket.on('unexpected-response', (_, response) => resolve(response));
    socket.on('open', () => reject(new Error('The socket was opened.')));
    socket.on('error', reject);
  });
  const chunks = await response.toArray();
  socket.on('error', () => undefined).terminate();
  return {
    status: response.statusCode!,
    headers: response.headers,
    body: Buffer.concat(chunks as Buffer[]).toString(),
  };
}

function connect(
  url: string,
  { protocols = ['graphql-transport-ws'], path = '/graphql', ...options }: SocketClientOptions,
): WebSocket {
  return new WebSocket(url.replace(/^http/, 'ws') + path, [...protocols], options);
}
