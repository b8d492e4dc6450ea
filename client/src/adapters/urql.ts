/** Makes urql send its requests and subscriptions with the session of this client. */

import type { Client } from '../client.ts';
import { paths } from '../requests.ts';
import { authorizedFetch } from './authorized-fetch.ts';

/** The request that urql's `subscriptionExchange` passes. */
export interface UrqlRequest {
  readonly query?: string | undefined;
  readonly operationName?: string | undefined;
  readonly variables?: object | undefined;
  readonly extensions?: object | undefined;
}

export interface UrqlObserver {
  next(value: never): void;
  error(error: unknown): void;
  complete(): void;
}

export interface UrqlOptions {
  readonly url: string;
  readonly fetch: typeof fetch;
  /** With GET, the query would be part of the URL, which proxies log. */
  readonly preferGetMethod: false;
  readonly forwardSubscription: (request: UrqlRequest) => {
    subscribe(observer: UrqlObserver): { unsubscribe(): void };
  };
}

/**
 * Returns options for urql's client. If you passed a `fetch` to `createClient`, pass the same one as `send`.
 *
 * ```ts
 * const { forwardSubscription, ...options } = urqlOptions(client);
 * const exchanges = [cacheExchange, fetchExchange, subscriptionExchange({ forwardSubscription })];
 * const urql = new Client({ ...options, exchanges });
 * ```
 */
export function urqlOptions(client: Client, send?: typeof fetch): UrqlOptions {
  return {
    url: client.url + paths.graph,
    fetch: authorizedFetch(client, send),
    preferGetMethod: false,
    forwardSubscription: ({ query = '', operationName, variables, extensions }) => ({
      subscribe(observer) {
        const payload = {
          query,
          operationName,
          variables: variables as Record<string, unknown>,
          extensions: extensions as Record<string, unknown>,
        };
        const unsubscribe = client.socket.subscribe(payload, {
          next: (value) => observer.next(value as never),
          error: (error) => observer.error(error),
          complete: () => observer.complete(),
        });
        return { unsubscribe };
      },
    }),
  };
}
