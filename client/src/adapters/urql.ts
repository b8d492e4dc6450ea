/** For urql: its requests and subscriptions go through the client. */

import type { Client } from '../client.ts';
import { paths } from '../paths.ts';
import { authorizedFetch } from './authorized-fetch.ts';

/** As urql's `subscriptionExchange` gives a request. */
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
  /** In an address, what is asked would stand in the logs of whatever is on the way. */
  readonly preferGetMethod: false;
  readonly forwardSubscription: (request: UrqlRequest) => {
    subscribe(observer: UrqlObserver): { unsubscribe(): void };
  };
}

/**
 * `send` is what the client has as its own `fetch`, if it has one: for a proxy or a certificate.
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
