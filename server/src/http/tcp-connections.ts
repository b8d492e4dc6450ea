/**
 * The open TCP connections of the HTTP server, and the latest response of each. Closes them when the server stops: Node alone
 * would wait for idle connections, for requests that never end and for responses that the client does not read.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay, setImmediate as nextRound } from 'node:timers/promises';
import type { Settings } from '../config/settings-table.ts';
import type { Listener } from './listen.ts';
import type { LiveConnections } from './live-connections.ts';

export interface StopTimings {
  /** How often idle connections are closed. */
  readonly checkEveryMs: number;
  /** How long a client may send nothing within a request. */
  readonly maxSilentMs: number;
  readonly pause: (ms: number) => Promise<unknown>;
}

const defaultTimings: StopTimings = { checkEveryMs: 50, maxSilentMs: 1_000, pause: (ms) => delay(ms) };
/** On an idle node, most rounds of the event loop are far shorter than this. */
const shortRoundMs = 1;
/** Limits the wait for a quiet round on a node that is never idle. */
const maxWaitMs = 2_000;

/** The latest request and response of a connection. One object per connection. */
interface Exchange {
  /** Undefined before the first request. */
  response: ServerResponse | undefined;
  /** Bytes that the connection had received before its first request. */
  readonly bytesBefore: number;
  /** Bytes received at the end of the latest request; undefined before its end. Later bytes belong to the next request. */
  bytesAtEnd: number | undefined;
}

/** Stored on the socket itself, which is faster than a lookup in a map. */
const exchangeKey = Symbol('exchange');

interface HttpSocket extends Socket {
  [exchangeKey]?: Exchange;
}

/** The response to the latest request of an HTTP connection; undefined before the first request. */
export function latestResponse(socket: Socket): ServerResponse | undefined {
  return (socket as HttpSocket)[exchangeKey]?.response;
}

/** Whether the whole response has left the process, or its connection is closed. */
export function isFinished({ writableFinished, destroyed }: ServerResponse): boolean {
  return writableFinished || destroyed;
}

/** Calls the listener once the response is sent or its connection is closed. */
export function onFinished(response: ServerResponse, listener: () => void): void {
  const { socket } = response.req;
  if (socket.destroyed) return listener();
  if (response.socket !== null) {
    response.on('close', listener);
    return;
  }
  // This response waits behind another response of its connection. Until Node sends it, Node does not emit its `close`.
  const finish = () => {
    response.off('close', finish);
    socket.off('close', finish);
    listener();
  };
  response.on('close', finish);
  // One listener for each pipelined request.
  socket.setMaxListeners(0).on('close', finish);
}

/** Whether the headers announce a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) !== 0 || headers['transfer-encoding'] !== undefined;
}

export class TcpConnections {
  /** Includes unfinished TLS handshakes and WebSockets. */
  readonly #sockets = new Set<Socket>();
  /** HTTP connections only. */
  readonly #exchanges = new Map<Socket, Exchange>();
  /** Unfinished TLS handshakes, by the client's address and port: the secured socket is another object. */
  readonly #handshakes = new Map<string, Socket>();
  #isLastRequest = false;
  #acceptedCount = 0;

  constructor(server: Server, isTls: boolean) {
    server.on('connection', (socket: Socket) => {
      const address = isTls ? addressOf(socket) : '';
      this.#sockets.add(socket);
      this.#acceptedCount++;
      if (isTls) this.#handshakes.set(address, socket);
      socket.once('close', () => {
        this.#sockets.delete(socket);
        if (this.#handshakes.get(address) === socket) this.#handshakes.delete(address);
      });
    });
    server.on(isTls ? 'secureConnection' : 'connection', (socket: HttpSocket) => {
      if (isTls) this.#handshakes.delete(addressOf(socket));
      const bytesBefore = socket.bytesRead;
      socket[exchangeKey] = { response: undefined, bytesBefore, bytesAtEnd: undefined };
      this.#exchanges.set(socket, socket[exchangeKey]);
      socket.once('close', () => this.#exchanges.delete(socket));
    });
    // Before the request is handled, because a handler may write the head of the response immediately.
    server.prependListener('request', (request, response: ServerResponse) => {
      const exchange = (request.socket as HttpSocket)[exchangeKey];
      if (this.#isLastRequest) announceClose(response, exchange?.response);
      if (exchange) beginExchange(exchange, request, response);
    });
    server.on('upgrade', ({ socket }: IncomingMessage) => {
      delete (socket as HttpSocket)[exchangeKey];
      this.#exchanges.delete(socket);
    });
  }

  /** Closes the port, waits for the requests in flight, and interrupts those that do not finish in time. Returns the number of interrupted requests. */
  async stop(
    listener: Listener | undefined,
    live: LiveConnections,
    { stopDelaySeconds, stopSeconds }: Settings,
    times: StopTimings = defaultTimings,
  ): Promise<number> {
    this.#announceEnd();
    // The port stays open meanwhile, so that load balancers can react.
    if (stopDelaySeconds > 0) await times.pause(stopDelaySeconds * 1000);
    const { allClosed } = await this.#closeAfterBacklog(listener);
    const endWithinMs = stopSeconds * 1000;
    const [interruptedCount] = await Promise.all([
      this.#end(allClosed, endWithinMs, times),
      live.close(endWithinMs),
    ]);
    return interruptedCount;
  }

  /** Adds `Connection: close` to every later response, unless part of the next request has arrived. */
  #announceEnd(): void {
    this.#isLastRequest = true;
    for (const [socket, { response, bytesAtEnd }] of this.#exchanges) {
      if (!response) continue;
      if (bytesAtEnd === undefined || socket.bytesRead === bytesAtEnd) announceClose(response);
    }
  }

  /**
   * Node accepts one connection per round of the event loop, and closing the port resets connections in the backlog. So the
   * port is closed after a short round that accepted none.
   */
  async #closeAfterBacklog(listener: Listener | undefined): Promise<{ allClosed: Promise<void> }> {
    // The rest of the current round accepts no connection.
    await nextRound();
    return new Promise((resolve) => {
      const since = performance.now();
      let roundStart = since;
      let acceptedBefore = this.#acceptedCount;
      const endRound = () => {
        const now = performance.now();
        const isQuiet = this.#acceptedCount === acceptedBefore && now - roundStart < shortRoundMs;
        if (isQuiet || now - since >= maxWaitMs) {
          // Closed here and not after a promise: a new connection can arrive at any moment.
          resolve({ allClosed: listener?.close() ?? Promise.resolve() });
          return;
        }
        acceptedBefore = this.#acceptedCount;
        roundStart = performance.now();
        setImmediate(endRound);
      };
      setImmediate(endRound);
    });
  }

  /** Closes each connection once its response is sent. Returns the number of interrupted requests. */
  async #end(
    allClosed: Promise<unknown>,
    endWithinMs: number,
    { checkEveryMs, maxSilentMs }: StopTimings,
  ): Promise<number> {
    const silences: Silences = new Map();
    let interruptedCount = 0;
    // Not `closeIdleConnections`: Node regards a response as done when it is written, not when it is sent.
    const closeUnused = () => {
      for (const [socket, exchange] of this.#exchanges) if (isIdle(socket, exchange)) socket.destroy();
      for (const socket of this.#awaitingClient()) {
        if (socket.destroyed || !isSilent(socket, silences, maxSilentMs)) continue;
        if (!isWithoutRequest(socket, this.#exchanges.get(socket))) interruptedCount++;
        socket.destroy();
      }
    };
    closeUnused();
    const timer = setInterval(closeUnused, checkEveryMs);
    const deadline = setTimeout(() => {
      for (const exchange of this.#exchanges.values()) if (!isDone(exchange)) interruptedCount++;
      for (const socket of this.#sockets) socket.destroy();
    }, endWithinMs);
    await allClosed;
    clearInterval(timer);
    clearTimeout(deadline);
    return interruptedCount;
  }

  /** Connections on which the client has to send something before the server can continue. */
  *#awaitingClient(): Iterable<Socket> {
    yield* this.#handshakes.values();
    for (const [socket, exchange] of this.#exchanges) {
      if (isDone(exchange) || !exchange.response?.req.complete) yield socket;
    }
  }
}

function beginExchange(exchange: Exchange, request: IncomingMessage, response: ServerResponse): void {
  exchange.response = response;
  exchange.bytesAtEnd = undefined;
  if (hasBody(request)) request.on('end', recordEnd);
  else exchange.bytesAtEnd = request.socket.bytesRead;
}

/** A single function for all requests, so that no function is created per request. */
function recordEnd(this: IncomingMessage): void {
  const exchange = (this.socket as HttpSocket)[exchangeKey];
  if (exchange?.response?.req === this) exchange.bytesAtEnd = this.socket.bytesRead;
}

/** Among pipelined responses, only the last gets the header, because Node sends nothing after it. */
function announceClose(response: ServerResponse, before?: ServerResponse): void {
  response.shouldKeepAlive = false;
  if (before && !before.headersSent) before.shouldKeepAlive = true;
}

function isDone({ response }: Exchange): boolean {
  return !response || isFinished(response);
}

/**
 * True if no byte has arrived since the last response. A connection without a request is not idle, because its first request
 * may be arriving.
 */
function isIdle({ bytesRead }: Socket, exchange: Exchange): boolean {
  return exchange.response !== undefined && isDone(exchange) && bytesRead === exchange.bytesAtEnd;
}

/** True if closing the connection interrupts no request: none has begun, or its response was sent before its body had arrived. */
function isWithoutRequest({ bytesRead }: Socket, exchange: Exchange | undefined): boolean {
  if (!exchange?.response) return !exchange || bytesRead === exchange.bytesBefore;
  return isDone(exchange) && !exchange.response.req.complete;
}

type Silences = Map<Socket, { readonly bytesRead: number; readonly since: number }>;

function isSilent(socket: Socket, silences: Silences, maxSilentMs: number): boolean {
  const { bytesRead } = socket;
  const now = performance.now();
  const before = silences.get(socket);
  if (before?.bytesRead !== bytesRead) silences.set(socket, { bytesRead, since: now });
  return before?.bytesRead === bytesRead && now - before.since >= maxSilentMs;
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
