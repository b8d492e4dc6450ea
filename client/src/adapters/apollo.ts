/** Makes Apollo Client send its requests and subscriptions with the session of this client. */

import type { Client as SocketClient } from 'graphql-ws';
import type { Client } from '../client.ts';
import { paths } from '../requests.ts';
import { authorizedFetch } from './authorized-fetch.ts';

export interface ApolloOptions {
  readonly uri: string;
  readonly fetch: typeof fetch;
  readonly wsClient: SocketClient;
}

/**
 * Returns options for Apollo Client's links. If you passed a `fetch` to `createClient`, pass the same one as `send`.
 *
 * ```ts
 * const { uri, fetch, wsClient } = apolloOptions(client);
 * const link = split(isSubscription, new GraphQLWsLink(wsClient), new HttpLink({ uri, fetch }));
 * ```
 */
export function apolloOptions(client: Client, send?: typeof fetch): ApolloOptions {
  return {
    uri: client.url + paths.graph,
    fetch: authorizedFetch(client, send),
    wsClient: client.socket,
  };
}
