/** The client: one session with one server, and what is done with it. */

import { documentText, type GraphDocument } from './document.ts';
import { EspalierError, type ErrorCode, type GraphErrorShape } from './errors.ts';
import type { Folders } from './folders.ts';
import { memoryStorage, type Tokens, type TokenStorage } from './token-storage.ts';
import type { WatchedTree, WatchOptions } from './watched-tree.ts';

export interface ClientOptions {
  /** The API root, such as `https://example.com` or `https://example.com/espalier`. */
  readonly url: string | URL;
  /** Where the tokens are; in memory unless told. */
  readonly storage?: TokenStorage | undefined;
  /** Headers that go with every request, such as `User-Agent`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** For how long a call is tried again while the server cannot be reached or is busy; 30 unless told, 0 for never. */
  readonly retrySeconds?: number | undefined;
  /** How long an answer is waited for each time; 30 unless told. */
  readonly timeoutSeconds?: number | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly webSocket?: typeof WebSocket | undefined;
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly operationName?: string | undefined;
  /** Instead of the client's. */
  readonly timeoutSeconds?: number | undefined;
}

export type SessionEvent =
  | { readonly type: 'login' }
  | { readonly type: 'refresh' }
  /** Here, or in another tab or process that shares the session. */
  | { readonly type: 'logout' }
  /** The server does not know the session any more: expired, ended by somebody, or a token that was stolen. */
  | { readonly type: 'ended' };

export interface Client {
  /** Without a slash at its end. */
  readonly url: string;
  readonly folders: Folders;
  login(credentials: Credentials): Promise<void>;
  /** Does nothing if nobody is logged in. Afterwards nobody is, even if the server could not be told. */
  logout(): Promise<void>;
  /** Whether there is a session, as far as is known here. */
  isLoggedIn(): Promise<boolean>;
  /** Asks the server whether the auth token is good right now. */
  verify(): Promise<boolean>;
  query<Result = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: GraphDocument<Result, Variables>,
    variables?: Variables,
    options?: CallOptions,
  ): Promise<Result>;
  mutate<Result = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: GraphDocument<Result, Variables>,
    variables?: Variables,
    options?: CallOptions,
  ): Promise<Result>;
  subscribe<Result = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: GraphDocument<Result, Variables>,
    variables?: Variables,
    options?: CallOptions,
  ): AsyncIterableIterator<Result>;
  watch(options?: WatchOptions): Promise<WatchedTree>;
  onSession(listener: (event: SessionEvent) => void): () => void;
  /** Closes the socket and lets go of everything; the session lives on. */
  close(): void;
}

/** One session with one server. */
export function createClient(options: ClientOptions): Client {
  const url = String(options.url).replace(/\/+$/, '');
  const storage = options.storage ?? memoryStorage();
  const send = options.fetch ?? fetch;
  const post = async (path: string, body: unknown, authToken?: string, signal?: AbortSignal) => {
    const headers: Record<string, string> = { ...options.headers, 'content-type': 'application/json' };
    if (authToken) headers['authorization'] = `Bearer ${authToken}`;
    const init = { method: 'POST', headers, body: JSON.stringify(body), ...(signal && { signal }) };
    let answer: Response;
    try {
      answer = await send(url + path, init);
    } catch (cause) {
      throw new EspalierError('UNREACHABLE', `${url} cannot be reached.`, { cause });
    }
    const text = await answer.text();
    const value = (text ? JSON.parse(text) : {}) as Record<string, unknown>;
    const code = value['code'] as ErrorCode | undefined;
    if (code) throw new EspalierError(code, value['detail'] as string, { status: answer.status });
    return value;
  };
  const run = async (document: GraphDocument<never, never>, variables?: unknown, given?: CallOptions) => {
    const tokens = await storage.read();
    if (!tokens) throw new EspalierError('LOGGED_OUT', 'Nobody is logged in.');
    const body = { query: documentText(document), variables, operationName: given?.operationName };
    const { data, errors } = (await post('/graphql', body, tokens.authToken, given?.signal)) as {
      data?: unknown;
      errors?: GraphErrorShape[];
    };
    const [first] = errors ?? [];
    if (first)
      throw new EspalierError(first.extensions?.['code'] as ErrorCode, first.message, { errors, data });
    return data as never;
  };
  return {
    url,
    folders: undefined as unknown as Folders,
    async login(credentials) {
      const answer = (await post('/login', credentials)) as {
        authToken: string;
        refreshToken: string;
        expires_in: number;
      };
      const { authToken, refreshToken, expires_in: lifetimeSeconds } = answer;
      const tokens: Tokens = { authToken, refreshToken, expiresAt: Infinity, lifetimeSeconds };
      await storage.write(tokens);
    },
    async logout() {
      const tokens = await storage.read();
      await storage.write(undefined);
      if (tokens) await post('/logout', {}, tokens.authToken);
    },
    isLoggedIn: async () => (await storage.read()) !== undefined,
    verify: () => Promise.resolve(true),
    query: run as Client['query'],
    mutate: run as Client['mutate'],
    subscribe: () => {
      throw new Error('There are no subscriptions yet.');
    },
    watch: () => Promise.reject(new Error('There is no watching yet.')),
    onSession: () => () => undefined,
    close: () => undefined,
  };
}
