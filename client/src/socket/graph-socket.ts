/**
 * Runs the client's subscriptions over one socket. The socket opens with the first subscription and closes shortly after the
 * last. The client reconnects while the session lasts, and sends new tokens over the socket before the old ones expire.
 */

import { createClient as createSocketClient, type Client as SocketClient } from 'graphql-ws/client';
import type { CallOptions } from '../calls.ts';
import type { Clock } from '../clock.ts';
import { Connection } from './connection.ts';
import { documentText, type GraphDocument } from '../document.ts';
import {
  apiKeyError,
  EspalierError,
  graphError,
  isGraphErrors,
  isTransient,
  isViewEnd,
  loggedOutError,
  subscriptionError,
  withApiKeyError,
  type GraphErrorShape,
} from '../errors.ts';
import { bearer } from '../requests.ts';
import type { Authentication } from '../session/api-key.ts';
import { Subscription } from './subscription.ts';
import { after, backoffMs, wait } from '../timers.ts';
import { readClaims } from '../session/token-storage.ts';
import { requireWebSocket, trackSockets } from './tracked-socket.ts';

/** Options of a subscription. */
export interface SubscribeOptions extends CallOptions {
  /**
   * Receives the cursor of the last delivered event when the server shuts down. The client then calls your `variables` function
   * again: return this cursor there to continue without a gap.
   */
  readonly onGoingAway?: ((cursor: string) => void) | undefined;
}

export interface Operation {
  readonly document: GraphDocument<unknown, never>;
  /** A function is called each time the subscription is sent. */
  readonly variables?: unknown;
  readonly options?: SubscribeOptions | undefined;
}

interface ActiveSubscription {
  readonly subscription: Subscription<unknown>;
  readonly onGoingAway: SubscribeOptions['onGoingAway'];
  readonly controller: AbortController;
  unsubscribe?: () => void;
  /** The last socket that delivered an event, so the server has started the subscription there. */
  startedOn?: object | undefined;
}

interface GraphSocketOptions {
  readonly url: string;
  readonly webSocket: typeof WebSocket | undefined;
  readonly session: Authentication;
  readonly clock: Clock;
  readonly timeoutSeconds: number;
  readonly viewToken?: string | undefined;
}

const maxPauseMs = 10_000;
/** A connection that lasted this long resets the backoff. */
const stableMs = 1_000;
/** The socket stays open this long without subscriptions, because the next page often subscribes again. */
const lingerMs = 3_000;
/** Interval of the pings. */
const keepAliveMs = 12_000;
const pongTimeoutSeconds = 10;
/** Close codes on which graphql-ws gives up although a retry can succeed: the server or a proxy has failed. */
const isTransientCode = (code: number) => code === 4500 || (code > 1001 && code < 2000 && code !== 1009);

export class GraphSocket {
  readonly connection = new Connection();
  readonly #options: GraphSocketOptions;
  readonly #subscriptions = new Set<ActiveSubscription>();
  readonly #stopListening: () => void;
  #client: SocketClient | undefined;
  /** Whether another library uses the graphql-ws client. */
  #isShared = false;
  /** The open socket, before the server has acknowledged it. */
  #openSocket: WebSocket | undefined;
  /** The acknowledged socket. */
  #socket: WebSocket | undefined;
  #connectedAt = 0;
  /** The subscriptions that were sent over the current socket. */
  readonly #sentSubscriptions = new Set<ActiveSubscription>();
  #sentToken: string | undefined;
  #rejectedToken: string | undefined;
  #attempts = 0;
  #isGoingAway = false;
  /** The socket was closed with 1000 while subscriptions were running. graphql-ws would reconnect in a loop without a pause. */
  #isClosedEarly = false;
  #cancelDeadline: (() => void) | undefined;
  #endPause: (() => void) | undefined;
  #endLinger: (() => void) | undefined;

  constructor(options: GraphSocketOptions) {
    this.#options = options;
    this.#stopListening = options.session.listen(({ type }) => {
      if (type === 'refresh') void this.#renewToken();
      // The new user may have other rights.
      else if (type === 'login') this.#client?.terminate();
      else {
        for (const { subscription } of [...this.#subscriptions])
          subscription.fail(loggedOutError(type === 'ended'));
        // Otherwise the server would send events to another library's subscriptions until the token expires.
        if (this.#isShared) this.#client?.terminate();
      }
    });
  }

  get #isClosed(): boolean {
    return this.connection.state === 'closed';
  }

  /** The graphql-ws client, for other libraries. */
  get client(): SocketClient {
    this.#isShared = true;
    const client = this.#connect();
    if (this.#isClosed) void client.dispose();
    return client;
  }

  subscribe(operation: Operation): Subscription<unknown> {
    const { signal, onGoingAway } = operation.options ?? {};
    const active: ActiveSubscription = {
      onGoingAway,
      controller: new AbortController(),
      subscription: new Subscription(signal, (mayLinger) => this.#end(active, mayLinger)),
    };
    this.#subscriptions.add(active);
    if (signal?.aborted) active.subscription.fail(signal.reason);
    else if (this.#isClosed) active.subscription.end();
    else this.#start(active, operation).catch((error: unknown) => active.subscription.fail(error));
    return active.subscription;
  }

  /** Ends all subscriptions and opens no further socket. */
  close(): void {
    this.connection.set('closed');
    this.#stopListening();
    for (const { subscription } of [...this.#subscriptions]) subscription.end();
    this.#endLinger?.();
    const client = this.#client;
    if (this.#isShared) {
      // Subscriptions of another library would keep the socket open and reconnect.
      this.#isShared = false;
      this.#client = undefined;
      Promise.resolve(client?.dispose()).catch(() => undefined);
    }
    // The timer lets the client send its close frame first. The client does not wait for the server's close frame.
    if (this.#socket) after(0, () => client?.terminate());
    else client?.terminate();
    this.#endPause?.();
  }

  async #start(active: ActiveSubscription, operation: Operation, isRetry = false): Promise<void> {
    const { subscription, controller } = active;
    if (this.connection.state === 'idle') this.connection.set('connecting');
    for (let tries = 0; ; tries++) {
      try {
        if (isRetry || tries) {
          if (!this.#socket) this.connection.set('waiting');
          await wait(backoffMs(this.#attempts++, maxPauseMs), controller.signal);
        }
        // Rejects if there is no session, so that no socket opens. Refreshes an expired token.
        await this.#options.session.authToken({ signal: controller.signal });
        break;
      } catch (error) {
        if (subscription.isOver) return;
        if (!isTransient(error)) throw error;
      }
    }
    if (subscription.isOver) return;
    // A closing socket could wait long for the server's close frame.
    if (this.#socket?.readyState === 2) this.#client?.terminate();
    const payload = this.#payload(active, operation);
    const fail = (error: unknown) => {
      const { isApiKey } = this.#options.session;
      subscription.fail(error instanceof EspalierError ? withApiKeyError(error, isApiKey) : error);
    };
    active.unsubscribe = this.#connect().subscribe<unknown>(payload, {
      next: (result) => {
        active.startedOn = this.#socket;
        const { data, errors } = result as { data: unknown; errors?: GraphErrorShape[] };
        if (isGraphErrors(errors)) fail(graphError(errors, { data }));
        else subscription.push(data);
      },
      error: (error) => {
        const { code } = error as { code?: number };
        if (this.#isApiKeyRejected(error)) return subscription.fail(apiKeyError());
        if (typeof code !== 'number' || !isTransientCode(code)) return fail(subscriptionError(error));
        this.#start(active, operation, true).catch((failure: unknown) => subscription.fail(failure));
      },
      complete: () => subscription.end(),
    });
    this.#endLinger?.();
  }

  /** graphql-ws encodes the payload for each connection, so the getter runs each time the subscription is sent. */
  #payload(active: ActiveSubscription, { document, variables, options }: Operation) {
    const readVariables = () => {
      this.#sentSubscriptions.add(active);
      try {
        return (typeof variables === 'function' ? (variables as () => unknown)() : variables) as Record<
          string,
          unknown
        >;
      } catch (error) {
        active.subscription.fail(error);
        return {};
      }
    };
    const query = documentText(document);
    return {
      query,
      operationName: options?.operationName,
      get variables() {
        return readVariables();
      },
    };
  }

  #end(active: ActiveSubscription, mayLinger: boolean): void {
    this.#subscriptions.delete(active);
    active.controller.abort();
    const unsubscribe = () => active.unsubscribe?.();
    if (this.#subscriptions.size > 0) return unsubscribe();
    this.#endPause?.();
    if (!this.#socket && !this.#isShared) this.connection.set('idle');
    if (!mayLinger || !this.#socket) return unsubscribe();
    // A subscription that was never sent cannot keep the socket open. An earlier one may already do so.
    if (!active.unsubscribe) return;
    this.#endLinger?.();
    // The ended subscription keeps the socket open for a while; its events are ignored.
    const cancel = after(lingerMs, () => this.#endLinger?.());
    this.#endLinger = () => {
      this.#endLinger = undefined;
      cancel();
      unsubscribe();
    };
  }

  #connect(): SocketClient {
    if (this.#client) return this.#client;
    const { url, webSocket, session, timeoutSeconds, viewToken } = this.#options;
    const deadline = (seconds: number) => {
      this.#cancelDeadline?.();
      this.#cancelDeadline = after(seconds * 1000, () => this.#client?.terminate());
    };
    const onNew = (socket: WebSocket) => {
      this.#openSocket = socket;
      this.connection.set('connecting');
      deadline(timeoutSeconds);
      // A socket that is closed while it connects emits an error, and some implementations require a listener.
      socket.addEventListener('error', () => undefined);
    };
    this.#client = createSocketClient({
      url: async () => {
        if (this.#isClosedEarly) await this.#pause();
        return `${url.replace(/^http/, 'ws')}/graphql`;
      },
      webSocketImpl: trackSockets(requireWebSocket(webSocket), { isClosed: () => this.#isClosed, onNew }),
      connectionParams: async () => {
        const authToken = await session.authToken({ refused: this.#rejectedToken });
        this.#sentToken = authToken;
        return { authorization: bearer(authToken), viewAs: viewToken };
      },
      disablePong: true,
      keepAlive: keepAliveMs,
      retryAttempts: Infinity,
      shouldRetry: (error) =>
        error instanceof EspalierError
          ? isTransient(error)
          : !isViewEnd(error as { reason?: string }) && !this.#isApiKeyRejected(error),
      retryWait: () => this.#pause(),
      on: {
        connected: (socket) => {
          this.connection.set('connected');
          this.#cancelDeadline?.();
          this.#socket = socket as WebSocket;
          this.#connectedAt = this.#options.clock.now();
          void this.#renewToken();
        },
        ping: (isReceived, payload) => {
          if (!isReceived) deadline(Math.min(timeoutSeconds, pongTimeoutSeconds));
          else if (session.isApiKey || payload?.['reason'] !== 'TOKEN_EXPIRES') this.#pong();
          // Ignores a warning about the previous token, which can arrive after the client has sent a new one.
          else if (!(Date.parse(String(payload['expiresAt'])) < readClaims(this.#sentToken).exp! * 1000)) {
            void this.#renewToken({ isExpiring: true });
          }
        },
        pong: () => this.#cancelDeadline?.(),
        closed: (event) => this.#handleClose(event as { code: number; reason: string }),
        error: () => {
          // The close event arrives later and must not count for the next socket.
          if (this.#openSocket) this.#openSocket.onclose = null;
          this.#handleClose();
        },
      },
    });
    return this.#client;
  }

  /** Checks whether the server closed the socket because of the API key. A session would continue with another token. */
  #isApiKeyRejected(event: unknown): boolean {
    return this.#options.session.isApiKey && (event as { code?: unknown }).code === 4403;
  }

  #pong(payload?: object): void {
    this.#socket?.send(JSON.stringify({ type: 'pong', payload }));
  }

  /** Sends the current token if the socket has an older one. After the server's expiry warning, refreshes the token first. */
  async #renewToken({ isExpiring = false } = {}): Promise<void> {
    const socket = this.#socket;
    if (!socket) return;
    try {
      const refused = isExpiring ? this.#sentToken : undefined;
      const authToken = await this.#options.session.authToken({ refused });
      if (socket !== this.#socket || authToken === this.#sentToken) return;
      this.#sentToken = authToken;
      this.#pong({ authorization: bearer(authToken) });
    } catch {
      // The server closes the socket when the token expires, and the client reconnects.
    }
  }

  #handleClose({ code, reason }: { code?: number; reason?: string } = {}): void {
    this.#cancelDeadline?.();
    const isSession = !this.#options.session.isApiKey;
    if (isSession && code === 4403 && !isViewEnd({ reason })) this.#rejectedToken = this.#sentToken;
    if (this.#socket && this.#options.clock.now() - this.#connectedAt >= stableMs) this.#attempts = 0;
    this.#isGoingAway = code === 1001;
    this.#isClosedEarly = code === 1000 && (this.#subscriptions.size > 0 || this.#isShared);
    const [, cursor] = /cursor=(\S+)$/.exec(reason ?? '') ?? [];
    // The cursor is valid only for subscriptions that the server had started. Other subscriptions would miss events.
    const isUnambiguous = this.#sentSubscriptions.size === 1 && !this.#isShared;
    for (const { onGoingAway, startedOn } of this.#subscriptions) {
      if (cursor && (isUnambiguous || (startedOn && startedOn === this.#socket))) onGoingAway?.(cursor);
    }
    this.#sentSubscriptions.clear();
    this.#socket = this.#openSocket = undefined;
    this.connection.set(this.#subscriptions.size > 0 ? 'waiting' : 'idle');
  }

  async #pause(): Promise<void> {
    if (this.#isClosed) return;
    this.connection.set('waiting');
    const ms = this.#isGoingAway ? Math.random() * 50 : backoffMs(this.#attempts++, maxPauseMs);
    this.#isGoingAway = false;
    await new Promise<void>((resolve) => {
      const cancel = after(ms, resolve);
      this.#endPause = () => {
        cancel();
        resolve();
      };
    });
  }
}
