/** The options of `createClient`. */

import type { Clock } from './clock.ts';
import type { TokenStorage } from './session/token-storage.ts';

/** Options of `createClient`: with a session, or with an API key. */
export type ClientOptions = SessionClientOptions | ApiKeyClientOptions;

/** The options of every client. */
export interface BaseClientOptions {
  /**
   * The API root, for example `https://example.com` or `https://example.com/espalier`. In a browser it can be relative to
   * the page, for example `/`.
   */
  readonly url: string | URL;
  /** Headers that every request sends, for example `User-Agent`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * How long a call is retried after its first failure, in seconds, while the server is unreachable or busy. Default: 30.
   * Set it to 0 to disable retries.
   */
  readonly retrySeconds?: number | undefined;
  /** Timeout of each attempt, in seconds. Default: 30. */
  readonly timeoutSeconds?: number | undefined;
  /** Replaces the global `fetch`, for example to use a proxy or to trust a certificate. */
  readonly fetch?: typeof fetch | undefined;
  /** Replaces the global `WebSocket`. */
  readonly webSocket?: typeof WebSocket | undefined;
  /** Replaces the system clock, for example in tests. */
  readonly clock?: Clock | undefined;
}

/** Options of a client with a session, which starts with a login. */
export interface SessionClientOptions extends BaseClientOptions {
  /** Stores the tokens. Default: `memoryStorage()`. Use `tabStorage()` in a browser to share a session between tabs. */
  readonly storage?: TokenStorage | undefined;
  /**
   * A view token from `startViewAs`. Queries and subscriptions then run with the rights of the viewed user, and mutations
   * reject with FORBIDDEN. The view needs the session that started it, so pass the same `storage`.
   */
  readonly viewAs?: string | undefined;
  readonly apiKey?: undefined;
}

/** Options of a client with an API key, which needs no login and has no session. For programs, not for web pages. */
export interface ApiKeyClientOptions extends BaseClientOptions {
  /**
   * The API key, for example from `process.env.ESPALIER_API_KEY`. The client sends it in headers and in the first message of a
   * socket, never in a URL. When it expires or is revoked, calls and subscriptions end with INVALID_API_KEY.
   */
  readonly apiKey: string;
  readonly storage?: undefined;
  readonly viewAs?: undefined;
}
