/**
 * Closes the connections of the HTTP server when it stops. Node alone would wait for every connection: without any request,
 * with a request that never ends, with a response that the client does not read.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hasBody } from './guards/body-limits.ts';

export interface EndTimings {
  /** How often idle connections are closed. */
  readonly checkEveryMs: number;
  /** How long a client may send nothing within a request. */
  readonly maxSilentMs: number;
  /** Connections that are still open then are closed. */
  readonly endWithinMs: number;
}

/** The latest request and response of a connection. One object per connection. */
interface Exchange {
  /** None before the first request. */
  response: ServerResponse | undefined;
  /** Bytes that the connection had received before its first request. */
  readonly bytesBefore: number;
  /** Bytes that it had received at the end of the latest request. Later bytes are of the next one. Undefined before the end. */
  bytesAtEnd: number | undefined;
}

/** On the connection itself, where it is found soonest. */
const exchangeOf = Symbol('exchange');

interface Exchanging extends Socket {
  [exchangeOf]?: Exchange;
}

/** Of the latest request of a connection that speaks HTTP; undefined before the first. */
export function latestResponse(socket: Socket): ServerResponse | undefined {
  return (socket as Exchanging)[exchangeOf]?.response;
}

interface Silence {
  readonly bytesRead: number;
  readonly since: number;
}

export class OpenConnections {
  /** Every one: with those that still agree on TLS, and those that became WebSockets. */
  readonly #all = new Set<Socket>();
  /** Those that speak HTTP, with the last request of each. */
  readonly #exchanges = new Map<Socket, Exchange>();
  /** Those that still agree on TLS, by the client's address and port: the secured socket is another object. */
  readonly #securing = new Map<string, Socket>();
  #isLastRequest = false;
  #taken = 0;

  constructor(server: Server, isTls: boolean) {
    server.on('connection', (socket: Socket) => {
      const address = isTls ? addressOf(socket) : '';
      this.#all.add(socket);
      this.#taken++;
      if (isTls) this.#securing.set(address, socket);
      socket.once('close', () => {
        this.#all.delete(socket);
        if (this.#securing.get(address) === socket) this.#securing.delete(address);
      });
    });
    server.on(isTls ? 'secureConnection' : 'connection', (socket: Exchanging) => {
      if (isTls) this.#securing.delete(addressOf(socket));
      const exchange: Exchange = {
        response: undefined,
        bytesBefore: socket.bytesRead,
        bytesAtEnd: undefined,
      };
      socket[exchangeOf] = exchange;
      this.#exchanges.set(socket, exchange);
      socket.once('close', () => this.#exchanges.delete(socket));
    });
    // Before the request is handled, which may write the head of its answer at once.
    server.prependListener('request', (request, response: ServerResponse) => {
      const exchange = (request.socket as Exchanging)[exchangeOf];
      if (this.#isLastRequest) announceTo(response, exchange?.response);
      if (exchange) begin(exchange, request, response);
    });
    server.on('upgrade', ({ socket }: IncomingMessage) => {
      delete (socket as Exchanging)[exchangeOf];
      this.#exchanges.delete(socket);
    });
  }

  /** How many there have been. */
  get accepted(): number {
    return this.#taken;
  }

  /** Adds `Connection: close` to every later response, unless part of the next request has arrived. */
  announceEnd(): void {
    this.#isLastRequest = true;
    for (const [socket, { response, bytesAtEnd }] of this.#exchanges) {
      if (!response) continue;
      if (bytesAtEnd === undefined || socket.bytesRead === bytesAtEnd) announceTo(response);
    }
  }

  /**
   * Closes each connection once its response is sent. Called when no new connections are accepted; `allGone` resolves when
   * none is left. Returns the number of requests that were cut.
   */
  async end(
    allGone: Promise<unknown>,
    { checkEveryMs, maxSilentMs, endWithinMs }: EndTimings,
  ): Promise<number> {
    const silences = new Map<Socket, Silence>();
    let cut = 0;
    // Not by `closeIdleConnections`: to Node an answer is done when it was given, and not when it was sent.
    const look = () => {
      for (const socket of this.#idle()) socket.destroy();
      for (const socket of this.#awaited()) {
        if (socket.destroyed || !isSilent(socket, silences, maxSilentMs)) continue;
        if (!isWithoutRequest(socket, this.#exchanges.get(socket))) cut++;
        socket.destroy();
      }
    };
    look();
    const timer = setInterval(look, checkEveryMs);
    const deadline = setTimeout(() => {
      for (const exchange of this.#exchanges.values()) if (!isDone(exchange)) cut++;
      for (const socket of this.#all) socket.destroy();
    }, endWithinMs);
    await allGone;
    clearInterval(timer);
    clearTimeout(deadline);
    return cut;
  }

  /** No byte has arrived since the last response. A connection before its first request is not idle: it may be arriving. */
  *#idle(): Iterable<Socket> {
    for (const [socket, exchange] of this.#exchanges) {
      const { response, bytesAtEnd } = exchange;
      if (response && isDone(exchange) && socket.bytesRead === bytesAtEnd) yield socket;
    }
  }

  /** Those whose client has to send something before there is anything to do. */
  *#awaited(): Iterable<Socket> {
    yield* this.#securing.values();
    for (const [socket, exchange] of this.#exchanges) {
      if (isDone(exchange) || !exchange.response?.req.complete) yield socket;
    }
  }
}

function begin(exchange: Exchange, request: IncomingMessage, response: ServerResponse): void {
  exchange.response = response;
  exchange.bytesAtEnd = undefined;
  if (hasBody(request)) request.on('end', noteEnd);
  else exchange.bytesAtEnd = request.socket.bytesRead;
}

/** One function for all requests, so that none has to be created for each. */
function noteEnd(this: IncomingMessage): void {
  const exchange = (this.socket as Exchanging)[exchangeOf];
  if (exchange?.response?.req === this) exchange.bytesAtEnd = this.socket.bytesRead;
}

/** Of pipelined responses only the last has the header: Node sends nothing after it. */
function announceTo(response: ServerResponse, before?: ServerResponse): void {
  response.shouldKeepAlive = false;
  if (before && !before.headersSent) before.shouldKeepAlive = true;
}

/** All of the answer has left the process, or none is due. */
function isDone({ response }: Exchange): boolean {
  return !response || isOver(response);
}

export function isOver({ writableFinished, destroyed }: ServerResponse): boolean {
  return writableFinished || destroyed;
}

/** No request was cut: none has begun, or its response was sent before its body had arrived. */
function isWithoutRequest({ bytesRead }: Socket, exchange: Exchange | undefined): boolean {
  if (!exchange?.response) return !exchange || bytesRead === exchange.bytesBefore;
  return isDone(exchange) && !exchange.response.req.complete;
}

function isSilent(socket: Socket, silences: Map<Socket, Silence>, maxSilentMs: number): boolean {
  const { bytesRead } = socket;
  const now = performance.now();
  const before = silences.get(socket);
  if (before?.bytesRead !== bytesRead) silences.set(socket, { bytesRead, since: now });
  return before?.bytesRead === bytesRead && now - before.since >= maxSilentMs;
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
