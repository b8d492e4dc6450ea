/** What a client's own modules need of it and nobody else should: the way to its tokens and to its socket. */

import type { Client as SocketClient } from 'graphql-ws';
import type { Client } from './client.ts';

export interface Internals {
  /** An auth token that is good for a while; exchanged before if it has to be. */
  readonly freshAuthToken: () => Promise<string>;
  /** It was refused as expired: the next fresh one is another. */
  readonly expire: (authToken: string) => void;
  /** Opens when it is first subscribed with. */
  readonly socket: SocketClient;
}

const key = Symbol('internals');

/** Also a copy of the client, made by spreading it, has them. */
export function withInternals<Given extends object>(client: Given, internals: Internals): Given {
  return Object.assign(client, { [key]: internals });
}

export function internalsOf(client: Client): Internals {
  const internals = (client as { readonly [key]?: Internals })[key];
  if (!internals) throw new TypeError('This is not a client that createClient made.');
  return internals;
}
