/**
 * The subscriptions of a client, over one socket that opens with the first and closes a while after the last. It comes
 * back for as long as there is a session, and is prolonged in band before its token ends.
 */

import { createClient as createSocketClient, type Client as SocketClient } from 'graphql-ws/client';
import { claimsOf } from './auth-token.ts';
import type { CallOptions } from './calls.ts';
import type { Clock } from './clock.ts';
import { documentText, type GraphDocument } from './document.ts';
import {
  EspalierError,
  graphError,
  isGraphErrors,
  isPassing,
  loggedOut,
  type GraphErrorShape,
} from './errors.ts';
import { notedSocket, requireWebSocket } from './noted-socket.ts';
import { bearer } from './requests.ts';
import type { Session } from './session.ts';
import { Subscription } from './subscription.ts';
import { after, backOffMs, wait } from './waiting.ts';

export interface SubscribeOptions extends CallOptions {
  /**
   * A server that stops tells up to where everything was told: from there a subscription with a cursor goes on. Called
   * before `variables` is asked anew.
   */
  readonly onGoingAway?: ((cursor: string) => void) | undefined;
}

export interface Operation {
  readonly document: GraphDocument<unknown, never>;
  /** If it is a function, it is asked each time that the subscription is sent. */
  readonly variables?: unknown;
  readonly options?: SubscribeOptions | undefined;
}

interface Running {
  readonly subscription: Subscription<unknown>;
  readonly onGoingAway: SubscribeOptions['onGoingAway'];
  readonly stopping: AbortController;
  unsubscribe?: () => void;
  /** On this socket the server has begun with it. */
  heardOn?: object | undefined;
}

interface GraphSocketOptions {
  readonly url: string;
  readonly webSocket: typeof WebSocket | undefined;
  readonly session: Session;
  readonly clock: Clock;
  readonly timeoutSeconds: number;
}

const longestPauseMs = 10_000;
/** A connection that was lost sooner was not a good one. */
const goodMs = 1_000;
/** How long the socket stays open when nobody subscribes any more: the next page often does. */
const lingerMs = 3_000;
/** How often it is asked whether anybody is still there. */
const beatMs = 12_000;
const answerSeconds = 10;
/** graphql-ws gives up on these, but they pass: the service has failed, or something before it. */
const isPassingCode = (code: number) => code === 4500 || (code > 1001 && code < 2000 && code !== 1009);

export class GraphSocket {
  readonly #options: GraphSocketOptions;
  readonly #running = new Set<Running>();
  readonly #stopListening: () => void;
  #client: SocketClient | undefined;
  /** Whether others than `subscribe` use it. */
  #isShared = false;
  #opened: WebSocket | undefined;
  /** Once it is acknowledged. */
  #socket: WebSocket | undefined;
  #connectedAt = 0;
  /** Those that were sent over it. */
  readonly #sent = new Set<Running>();
  #given: string | undefined;
  #refused: string | undefined;
  #tries = 0;
  #isGoingAway = false;
  /** Closed as if all was done, and it was not: graphql-ws would come back at once, again and again. */
  #isTurnedAway = false;
  #isClosed = false;
  #cancelDeadline: (() => void) | undefined;
  #endWait: (() => void) | undefined;
  #endLinger: (() => void) | undefined;

  constructor(options: GraphSocketOptions) {
    this.#options = options;
    this.#stopListening = options.session.listen(({ type }) => {
      if (type === 'refresh') void this.#prolong();
      // Of somebody else, perhaps: what they may see is another matter.
      else if (type === 'login') this.#client?.terminate();
      else {
        for (const { subscription } of [...this.#running]) subscription.fail(loggedOut(type === 'ended'));
        // Those of others are refused when they come back; the server goes on telling until the token ends.
        if (this.#isShared) this.#client?.terminate();
      }
    });
  }

  /** The client of graphql-ws, for other libraries. */
  get client(): SocketClient {
    this.#isShared = true;
    const client = this.#connect();
    if (this.#isClosed) void client.dispose();
    return client;
  }

  subscribe(operation: Operation): Subscription<unknown> {
    const { signal, onGoingAway } = operation.options ?? {};
    const running: Running = {
      onGoingAway,
      stopping: new AbortController(),
      subscription: new Subscription(signal, (isAtOnce) => this.#end(running, isAtOnce)),
    };
    this.#running.add(running);
    if (signal?.aborted) running.subscription.fail(signal.reason);
    else if (this.#isClosed) running.subscription.end();
    else this.#begin(running, operation).catch((error: unknown) => running.subscription.fail(error));
    return running.subscription;
  }

  /** Nothing is tried any more, also for who subscribes later. */
  close(): void {
    this.#isClosed = true;
    this.#stopListening();
    for (const { subscription } of [...this.#running]) subscription.end();
    this.#endLinger?.();
    const client = this.#client;
    if (this.#isShared) {
      // Those of others hold it open, and would come back.
      this.#isShared = false;
      this.#client = undefined;
      Promise.resolve(client?.dispose()).catch(() => undefined);
    }
    // When it has said that it closes: whether the server still hears it is not waited for.
    if (this.#socket) after(0, () => client?.terminate());
    else client?.terminate();
    this.#endWait?.();
  }

  async #begin(running: Running, operation: Operation, isAgain = false): Promise<void> {
    const { subscription, stopping } = running;
    for (let tries = 0; ; tries++) {
      try {
        if (isAgain || tries) await wait(backOffMs(this.#tries++, longestPauseMs), stopping.signal);
        // Nothing is opened for nobody, and a token may have to be exchanged before.
        await this.#options.session.authToken({ signal: stopping.signal });
        break;
      } catch (error) {
        if (subscription.isOver) return;
        if (!isPassing(error)) throw error;
      }
    }
    if (subscription.isOver) return;
    // A socket that waits for the other side to close may wait for long.
    if (this.#socket?.readyState === 2) this.#client?.terminate();
    const payload = this.#payload(running, operation);
    running.unsubscribe = this.#connect().subscribe<unknown>(payload, {
      next: (result) => {
        running.heardOn = this.#socket;
        const { data, errors } = result as { data: unknown; errors?: GraphErrorShape[] };
        if (isGraphErrors(errors)) subscription.fail(graphError(errors, { data }));
        else subscription.tell(data);
      },
      error: (error) => {
        const { code } = error as { code?: number };
        if (typeof code !== 'number' || !isPassingCode(code)) return subscription.fail(toError(error));
        this.#begin(running, operation, true).catch((failure: unknown) => subscription.fail(failure));
      },
      complete: () => subscription.end(),
    });
    this.#endLinger?.();
  }

  /** Written anew for each connection, and so its getter is asked each time. */
  #payload(running: Running, { document, variables, options }: Operation) {
    const sending = () => {
      this.#sent.add(running);
      try {
        return (typeof variables === 'function' ? (variables as () => unknown)() : variables) as Record<
          string,
          unknown
        >;
      } catch (error) {
        running.subscription.fail(error);
        return {};
      }
    };
    const query = documentText(document);
    return {
      query,
      operationName: options?.operationName,
      get variables() {
        return sending();
      },
    };
  }

  #end(running: Running, isAtOnce: boolean): void {
    this.#running.delete(running);
    running.stopping.abort();
    const unsubscribe = () => running.unsubscribe?.();
    if (this.#running.size > 0) return unsubscribe();
    this.#endWait?.();
    if (isAtOnce || !this.#socket) return unsubscribe();
    // One that had not begun holds nothing open; another may do so already.
    if (!running.unsubscribe) return;
    this.#endLinger?.();
    // It holds the socket open; what is still told is passed over.
    const cancel = after(lingerMs, () => this.#endLinger?.());
    this.#endLinger = () => {
      this.#endLinger = undefined;
      cancel();
      unsubscribe();
    };
  }

  #connect(): SocketClient {
    if (this.#client) return this.#client;
    const { url, webSocket, session, timeoutSeconds } = this.#options;
    const deadline = (seconds: number) => {
      this.#cancelDeadline?.();
      this.#cancelDeadline = after(seconds * 1000, () => this.#client?.terminate());
    };
    const onNew = (socket: WebSocket) => {
      this.#opened = socket;
      deadline(timeoutSeconds);
      // One that is closed before it is open tells so; some implementations expect somebody to listen.
      socket.addEventListener('error', () => undefined);
    };
    this.#client = createSocketClient({
      url: async () => {
        if (this.#isTurnedAway) await this.#pause();
        return `${url.replace(/^http/, 'ws')}/graphql`;
      },
      webSocketImpl: notedSocket(requireWebSocket(webSocket), { isClosed: () => this.#isClosed, onNew }),
      connectionParams: async () => {
        const authToken = await session.authToken({ refused: this.#refused });
        this.#given = authToken;
        return { authorization: bearer(authToken) };
      },
      disablePong: true,
      keepAlive: beatMs,
      retryAttempts: Infinity,
      shouldRetry: (error) => !(error instanceof EspalierError) || isPassing(error),
      retryWait: () => this.#pause(),
      on: {
        connected: (socket) => {
          this.#cancelDeadline?.();
          this.#socket = socket as WebSocket;
          this.#connectedAt = this.#options.clock.now();
          void this.#prolong();
        },
        ping: (isReceived, payload) => {
          if (!isReceived) deadline(Math.min(timeoutSeconds, answerSeconds));
          else if (payload?.['reason'] !== 'TOKEN_EXPIRES') this.#pong();
          // Of the token before, if it was sent while the new one was on its way.
          else if (!(Date.parse(String(payload['expiresAt'])) < claimsOf(this.#given).exp! * 1000)) {
            void this.#prolong({ isWarned: true });
          }
        },
        pong: () => this.#cancelDeadline?.(),
        closed: (event) => this.#lost(event as { code: number; reason: string }),
        error: () => {
          // Its close comes later, and is not that of the next socket.
          if (this.#opened) this.#opened.onclose = null;
          this.#lost();
        },
      },
    });
    return this.#client;
  }

  #pong(payload?: object): void {
    this.#socket?.send(JSON.stringify({ type: 'pong', payload }));
  }

  /** Gives the socket the token of now, if it has another; a new one, if it was warned. */
  async #prolong({ isWarned = false } = {}): Promise<void> {
    const socket = this.#socket;
    if (!socket) return;
    try {
      const refused = isWarned ? this.#given : undefined;
      const authToken = await this.#options.session.authToken({ refused });
      if (socket !== this.#socket || authToken === this.#given) return;
      this.#given = authToken;
      this.#pong({ authorization: bearer(authToken) });
    } catch {
      // The server closes it when the token ends; then it comes back.
    }
  }

  #lost({ code, reason }: { code?: number; reason?: string } = {}): void {
    this.#cancelDeadline?.();
    if (code === 4403) this.#refused = this.#given;
    if (this.#socket && this.#options.clock.now() - this.#connectedAt >= goodMs) this.#tries = 0;
    this.#isGoingAway = code === 1001;
    this.#isTurnedAway = code === 1000 && (this.#running.size > 0 || this.#isShared);
    const [, cursor] = /cursor=(\S+)$/.exec(reason ?? '') ?? [];
    // It is of those with which the server had begun: for one that it had not heard of yet it would leave a gap.
    const isOfAll = this.#sent.size === 1 && !this.#isShared;
    for (const { onGoingAway, heardOn } of this.#running) {
      if (cursor && (isOfAll || (heardOn && heardOn === this.#socket))) onGoingAway?.(cursor);
    }
    this.#sent.clear();
    this.#socket = this.#opened = undefined;
  }

  async #pause(): Promise<void> {
    if (this.#isClosed) return;
    const ms = this.#isGoingAway ? Math.random() * 50 : backOffMs(this.#tries++, longestPauseMs);
    this.#isGoingAway = false;
    await new Promise<void>((resolve) => {
      const cancel = after(ms, resolve);
      this.#endWait = () => {
        cancel();
        resolve();
      };
    });
  }
}

/** Of what ends a subscription for good. */
function toError(error: unknown): unknown {
  if (isGraphErrors(error)) return graphError(error);
  const { code, reason } = error as { code?: unknown; reason?: string };
  if (typeof code !== 'number') return error;
  const message = `The socket was closed with ${code} ${reason}`.trim();
  return new EspalierError(code === 1009 ? 'TOO_LARGE' : 'NOT_ESPALIER', message);
}
