/** Creates a client: one session with one server, and the calls, subscriptions and watched trees that use it. */

import type { Client as SocketClient } from 'graphql-ws';
import { call, type CallOptions, type RunDocument } from './calls.ts';
import { systemClock } from './clock.ts';
import type { ClientOptions } from './client-options.ts';
import type { GraphDocument } from './document.ts';
import { EspalierError } from './errors.ts';
import { createFolders, type Folders } from './folders.ts';
import { ApiKey, createSessionCallsForApiKey } from './session/api-key.ts';
import type { ConnectionState } from './socket/connection.ts';
import { GraphSocket, type SubscribeOptions } from './socket/graph-socket.ts';
import { Requests } from './requests.ts';
import {
  createLogins,
  type CodeQuestion,
  type Credentials,
  type FinishedEnrolment,
  type LoginOptions,
  type Logins,
  type PasskeyAnswer,
  type PasskeyRequest,
  type StartedEnrolment,
} from './session/logins.ts';
import { Session, type SessionEvent, type SignalOptions } from './session/session.ts';
import type {
  LoginMethods,
  SingleSignOnOptions,
  SingleSignOnResult,
  SingleSignOnStart,
} from './session/single-sign-on.ts';
import { memoryStorage } from './session/token-storage.ts';
import { requireWebSocket } from './socket/tracked-socket.ts';
import { watchTree, type WatchedTree, type WatchOptions } from './tree/watched-tree.ts';

export type {
  CallOptions,
  CodeQuestion,
  ConnectionState,
  Credentials,
  FinishedEnrolment,
  LoginMethods,
  LoginOptions,
  Logins,
  PasskeyAnswer,
  PasskeyRequest,
  RunDocument,
  SessionEvent,
  SignalOptions,
  SingleSignOnOptions,
  SingleSignOnResult,
  SingleSignOnStart,
  StartedEnrolment,
  SubscribeOptions,
};

/** A view of the tree as another user. */
export interface StartedView {
  /** Pass it as `viewAs` to `createClient`. */
  readonly viewToken: string;
  /** The end of the view, in ISO 8601 in UTC, for example `2026-01-31T12:15:00.000Z`. */
  readonly expiresAt: string;
}

/**
 * A client of one server: a session or an API key, and all operations that use it. Create it with `createClient`. With an API key,
 * `isLoggedIn` returns false, `onSession` reports nothing, and the other calls that need a session reject with FORBIDDEN.
 */
export interface Client extends Logins {
  /** The API root, without a trailing slash. */
  readonly url: string;
  /**
   * Reads and changes folders without writing GraphQL.
   *
   * @example
   * const { folders } = client;
   * const places = await folders.byPath('/Places');
   * const floor = await folders.create({ name: 'Floor 3', parentId: places?.id });
   * for await (const { name } of folders.children(floor.id)) console.log(name);
   */
  readonly folders: Folders;
  /**
   * Ends the session. Does nothing if there is none. If the client cannot reach the server, it deletes its tokens and rejects. The
   * session then stays valid on the server until it expires.
   */
  logout(options?: SignalOptions): Promise<void>;
  /** Checks whether this client has a session. Sends no request. */
  isLoggedIn(options?: SignalOptions): Promise<boolean>;
  /** Asks the server whether the auth token is valid now. */
  verify(options?: SignalOptions): Promise<boolean>;
  /**
   * Returns a valid auth token for your own requests, and refreshes it when it is about to expire. If the server rejected a
   * token, pass it as `refused` to get another one. A client with an API key returns the key.
   *
   * @example
   * const headers = { authorization: `Bearer ${await client.authToken()}` };
   */
  authToken(options?: SignalOptions & { refused?: string | undefined }): Promise<string>;
  /**
   * Runs a query and returns its data. GraphQL errors reject with an `EspalierError`; partial data is in `error.data`.
   *
   * @example
   * const { folder } = await client.query<{ folder: { name: string } }>('{ folder { name } }');
   * console.log(folder.name);
   */
  query: RunDocument;
  /**
   * Runs a mutation and returns its data. Each call sends its own idempotency key, so the server runs it once even if the
   * response is lost and the request is retried.
   *
   * @example
   * await client.mutate(
   *   'mutation ($input: CreateFolderInput!) { createFolder(input: $input) { folder { id } } }',
   *   { input: { name: 'Harbour Campus' } },
   * );
   */
  mutate: RunDocument;
  /**
   * Starts a subscription and returns its events in order. After a lost connection the client reconnects and sends the
   * subscription again. Pass `variables` as a function that returns your last cursor, so that you miss no event.
   *
   * The iterator throws when the server rejects the subscription, when the session ends or when you abort `signal`. It ends
   * without an error when you leave the loop with `break` (which calls `return`) or close the client.
   *
   * @example
   * const document = `subscription ($after: String) { folderChanges(after: $after) { kind folderId cursor } }`;
   * let { cursor: after } = await client.query<{ cursor: string }>('{ cursor }');
   * const onGoingAway = (cursor: string) => (after = cursor);
   * type Event = { folderChanges: { kind: string; folderId: string; cursor: string } };
   * for await (const { folderChanges } of client.subscribe<Event>(document, () => ({ after }), { onGoingAway })) {
   *   console.log(folderChanges.kind, folderChanges.folderId);
   *   after = folderChanges.cursor;
   * }
   */
  subscribe<Result = Record<string, unknown>, Variables = object>(
    document: GraphDocument<Result, Variables>,
    variables?: NoInfer<Variables | (() => Variables)>,
    options?: SubscribeOptions,
  ): AsyncIterableIterator<Result, undefined>;
  /**
   * Loads a part of the tree into memory and keeps it up to date, even after lost connections and expired tokens.
   *
   * @example
   * const tree = await client.watch();
   * console.log(tree.size, tree.children(tree.root!.id));
   * for await (const { kind, path, by } of tree) console.log(kind, path, by);
   */
  watch(options?: WatchOptions): Promise<WatchedTree>;
  /**
   * Starts a view of the tree as another user. Only for administrators. Pass the token as `viewAs` to a second client.
   *
   * @example
   * const storage = memoryStorage();
   * const client = createClient({ url, storage });
   * await client.login({ username: 'admin', password });
   * const { viewToken } = await client.startViewAs(userId);
   * const view = createClient({ url, storage, viewAs: viewToken });
   * for await (const { path } of view.folders.shared()) console.log(path);
   */
  startViewAs(userId: string, options?: CallOptions): Promise<StartedView>;
  /** The socket as a graphql-ws client, for libraries that accept one. */
  readonly socket: SocketClient;
  /**
   * Calls the listener after each login, each refresh and each end of the session, in this tab or another one. Returns a
   * function that removes the listener.
   *
   * @example
   * client.onSession(({ type }) => {
   *   if (type === 'logout' || type === 'ended') showLogin();
   * });
   */
  onSession(listener: (event: SessionEvent) => void): () => void;
  /** The state of the socket that subscriptions and watched trees share. */
  readonly connectionState: ConnectionState;
  /**
   * Calls the listener with each new connection state. Returns a function that removes the listener.
   *
   * @example
   * client.onConnection((state) => console.log(state === 'waiting' ? 'Offline. Reconnecting soon.' : state));
   */
  onConnection(listener: (state: ConnectionState) => void): () => void;
  /** Closes the socket and releases all resources: subscriptions and watched trees end. The session stays valid. */
  close(): void;
}

type SessionCall = 'startViewAs' | 'logout' | 'isLoggedIn' | 'verify' | 'authToken' | 'onSession';

/**
 * Creates a client with one session on one server, or with an API key. It sends no request before the first call.
 *
 * @example
 * import { createClient } from '@espalier/client';
 *
 * const client = createClient({ url: 'http://127.0.0.1:8080' });
 * await client.login({ username: 'admin', password });
 * for await (const folder of client.folders.children((await client.folders.root()).id)) console.log(folder.name);
 * await client.logout();
 *
 * @example
 * const client = createClient({ url: 'https://example.com', apiKey: process.env.ESPALIER_API_KEY! });
 * const tree = await client.watch();
 */
export function createClient(options: ClientOptions): Client {
  const { storage = memoryStorage(), clock = systemClock, retrySeconds = 30, timeoutSeconds = 30 } = options;
  const url = parseApiRoot(options.url);
  const send: typeof fetch = options.fetch ?? ((...request) => fetch(...request));
  const { headers } = options;
  const requests = new Requests({ url, fetch: send, headers, clock, retrySeconds, timeoutSeconds });
  const session = new Session(requests, { storage, clock });
  const apiKey = options.apiKey === undefined ? undefined : new ApiKey(options.apiKey);
  const authentication = apiKey ?? session;
  const { webSocket, viewAs: viewToken } = options;
  const socket = new GraphSocket({
    url,
    webSocket,
    session: authentication,
    clock,
    timeoutSeconds,
    viewToken,
  });
  const run =
    (isMutation: boolean) =>
    (document: GraphDocument<unknown, never>, variables?: unknown, callOptions?: CallOptions) =>
      call(requests, authentication, { document, variables, options: callOptions, isMutation, viewToken });
  const closing = new AbortController();
  const query: RunDocument = run(false);
  const mutate: RunDocument = run(true);
  const subscribe = <Result>(
    document: GraphDocument<unknown, never>,
    variables?: unknown,
    subscribeOptions?: SubscribeOptions,
  ) => {
    const subscription = socket.subscribe({ document, variables, options: subscribeOptions });
    return subscription as AsyncIterableIterator<Result, undefined>;
  };
  return {
    url,
    folders: createFolders({ query, mutate }),
    get socket() {
      return socket.client;
    },
    ...createLogins({ url, requests, clock, begin: (tokens) => session.begin(tokens) }),
    ...(apiKey ? createSessionCallsForApiKey(apiKey) : createSessionCalls(session, mutate)),
    query,
    mutate,
    subscribe,
    async watch(watchOptions) {
      // Checked before the tree is read, because reading can take long.
      requireWebSocket(webSocket);
      return watchTree({ query, subscribe, closing: closing.signal }, watchOptions);
    },
    get connectionState() {
      return socket.connection.state;
    },
    onConnection: (listener) => socket.connection.listen(listener),
    close() {
      closing.abort();
      socket.close();
      session.close();
    },
  };
}

function createSessionCalls(session: Session, mutate: RunDocument): Pick<Client, SessionCall> {
  return {
    async startViewAs(userId, callOptions) {
      const mutation = 'mutation($input:StartViewAsInput!){startViewAs(input:$input){viewToken expiresAt}}';
      type Data = { startViewAs: StartedView };
      return (await mutate<Data, object>(mutation, { input: { userId } }, callOptions)).startViewAs;
    },
    logout: (signalOptions) => session.logout(signalOptions),
    isLoggedIn: (signalOptions) => session.isLoggedIn(signalOptions),
    verify: (signalOptions) => session.verify(signalOptions),
    authToken: (tokenOptions) => session.authToken(tokenOptions),
    onSession: (listener) => session.listen(listener),
  };
}

/** Returns the API root without a trailing slash. In a browser it can be relative to the page. */
function parseApiRoot(input: string | URL): string {
  const pageUrl = (globalThis as { location?: { href: string } }).location?.href;
  const url = URL.canParse(String(input), pageUrl) ? new URL(input, pageUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new EspalierError(
      'BAD_INPUT',
      'The url of a client must be the API root, for example https://example.com.',
    );
  }
  if (url.username || url.password) {
    throw new EspalierError(
      'BAD_INPUT',
      'The url of a client must not contain a user name or a password. Pass them to login instead.',
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}
