/** The client: one session with one server, and what is done with it. */

import type { Client as SocketClient } from 'graphql-ws';
import { apiRoot } from './api-root.ts';
import { call, type CallOptions, type RunDocument } from './calls.ts';
import { systemClock, type Clock } from './clock.ts';
import type { GraphDocument } from './document.ts';
import { createFolders, type Folders } from './folders.ts';
import { GraphSocket, type SubscribeOptions } from './graph-socket.ts';
import { requireWebSocket } from './noted-socket.ts';
import { Requests } from './requests.ts';
import { Session, type Credentials, type SessionEvent } from './session.ts';
import { memoryStorage, type TokenStorage } from './token-storage.ts';
import { watchTree, type WatchedTree, type WatchOptions } from './watched-tree.ts';

export type { CallOptions, Credentials, RunDocument, SessionEvent, SubscribeOptions };

export interface ClientOptions {
  /** The API root, such as `https://example.com` or `https://example.com/espalier`; `/` for that of the page. */
  readonly url: string | URL;
  /** Where the tokens are; in memory unless told. `tabStorage()` is for browsers. */
  readonly storage?: TokenStorage | undefined;
  /** Headers that go with every request, such as `User-Agent`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * For how long a call is tried again, after it has failed for the first time, while the server cannot be reached or is
   * busy; 30 unless told, 0 for never.
   */
  readonly retrySeconds?: number | undefined;
  /** How long an answer is waited for each time; 30 unless told. */
  readonly timeoutSeconds?: number | undefined;
  /** Instead of the global one: for a proxy, a certificate, a test. */
  readonly fetch?: typeof fetch | undefined;
  /** Instead of the global one. */
  readonly webSocket?: typeof WebSocket | undefined;
  /** Instead of the machine's, for tests that do not wait. */
  readonly clock?: Clock | undefined;
}

export interface Client {
  /** Without a slash at its end. */
  readonly url: string;
  /**
   * The tree in calls.
   *
   * @example
   * const { folders } = client;
   * const places = await folders.byPath('/Places');
   * const made = await folders.create({ name: 'Floor 3', parentId: places?.id });
   * for await (const { name } of folders.children(made.id)) console.log(name);
   */
  readonly folders: Folders;
  /**
   * Takes the place of a session that there may be here; it is not ended. If that was somebody else's, what is followed
   * ends with LOGGED_OUT: it is of what they may see.
   */
  login(credentials: Credentials): Promise<void>;
  /**
   * Does nothing if nobody is logged in. Afterwards nobody is, even if the server could not be told: then it rejects,
   * and the server knows the session until it expires.
   */
  logout(): Promise<void>;
  /** Whether there is a session, as far as is known here. */
  isLoggedIn(): Promise<boolean>;
  /** Asks the server whether the auth token is good right now. */
  verify(): Promise<boolean>;
  /** An auth token that is good for a while, for requests of your own; another one, if `refused` was. */
  authToken(options?: { refused?: string | undefined; signal?: AbortSignal | undefined }): Promise<string>;
  /**
   * The data of a query. Errors of the graph reject, with what there is of data in `error.data`.
   *
   * @example
   * const { folder } = await client.query<{ folder: { name: string } }>('{ folder { name } }');
   * console.log(folder.name);
   */
  query: RunDocument;
  /**
   * The data of a mutation. It is sent under a key of its own, so that it is done once even if its reply is lost and it
   * is sent again.
   *
   * @example
   * await client.mutate(
   *   'mutation ($input: CreateFolderInput!) { createFolder(input: $input) { folder { id } } }',
   *   { input: { name: 'Harbour Campus' } },
   * );
   */
  mutate: RunDocument;
  /**
   * What a subscription tells, in order; it begins at once. A lost connection comes back by itself, and the subscription
   * is sent again: give `variables` as a function, so that it goes on after the last cursor that you have, and nothing is
   * missed. It ends with an error when the server refuses it or the session is over, and with `signal`, `return` (as
   * `break` does) or `close`.
   *
   * @example
   * const document = `subscription ($after: String) { folderChanges(after: $after) { kind folderId cursor } }`;
   * let { cursor: after } = await client.query<{ cursor: string }>('{ cursor }');
   * const onGoingAway = (cursor: string) => (after = cursor);
   * type Told = { folderChanges: { kind: string; folderId: string; cursor: string } };
   * for await (const { folderChanges } of client.subscribe<Told>(document, () => ({ after }), { onGoingAway })) {
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
   * A part of the tree in memory that is always what the server has, across lost connections and expired tokens.
   *
   * @example
   * const tree = await client.watch();
   * console.log(tree.size, tree.children(tree.root!.id));
   * for await (const { kind, path, by } of tree) console.log(kind, path, by);
   */
  watch(options?: WatchOptions): Promise<WatchedTree>;
  /** The socket as a client of graphql-ws, for libraries that take one. */
  readonly socket: SocketClient;
  /** Tells of logins, refreshes and the end of the session, in other tabs too; answers with how to stop. */
  onSession(listener: (event: SessionEvent) => void): () => void;
  /** Closes the socket and lets go of everything: what is followed or watched ends. The session lives on. */
  close(): void;
}

/**
 * One session with one server. Nothing is sent before it is needed.
 *
 * @example
 * import { createClient } from '@espalier/client';
 *
 * const client = createClient({ url: 'http://127.0.0.1:8080' });
 * await client.login({ username: 'admin', password });
 * for await (const folder of client.folders.children((await client.folders.root()).id)) console.log(folder.name);
 * await client.logout();
 */
export function createClient(options: ClientOptions): Client {
  const { storage = memoryStorage(), clock = systemClock, retrySeconds = 30, timeoutSeconds = 30 } = options;
  const url = apiRoot(options.url);
  const send: typeof fetch = options.fetch ?? ((...request) => fetch(...request));
  const { headers } = options;
  const requests = new Requests({ url, fetch: send, headers, clock, retrySeconds, timeoutSeconds });
  const session = new Session(requests, { storage, clock });
  const { webSocket } = options;
  const socket = new GraphSocket({ url, webSocket, session, clock, timeoutSeconds });
  const run =
    (isMutation: boolean) =>
    (document: GraphDocument<unknown, never>, variables?: unknown, given?: CallOptions) =>
      call(requests, session, { document, variables, options: given, isMutation });
  const closing = new AbortController();
  const query: RunDocument = run(false);
  const mutate: RunDocument = run(true);
  const subscribe = <Result>(
    document: GraphDocument<unknown, never>,
    variables?: unknown,
    given?: SubscribeOptions,
  ) => socket.subscribe({ document, variables, options: given }) as AsyncIterableIterator<Result, undefined>;
  return {
    url,
    folders: createFolders({ query, mutate }),
    get socket() {
      return socket.client;
    },
    login: (credentials) => session.login(credentials),
    logout: () => session.logout(),
    isLoggedIn: () => session.isLoggedIn(),
    verify: () => session.verify(),
    authToken: (given) => session.authToken(given),
    query,
    mutate,
    subscribe,
    async watch(given) {
      // Before all is read for nothing.
      requireWebSocket(webSocket);
      return watchTree({ query, subscribe, closing: closing.signal }, given);
    },
    onSession: (listener) => session.listen(listener),
    close() {
      closing.abort();
      socket.close();
      session.close();
    },
  };
}
