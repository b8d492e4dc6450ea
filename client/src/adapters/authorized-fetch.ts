/** A `fetch` for other libraries. It adds a valid auth token to requests to the client's server, and never to others. */

import type { Client } from '../client.ts';

/**
 * Returns a `fetch` that sends the client's auth token to the client's server. Requests to other addresses stay unchanged.
 * The function rejects with LOGGED_OUT when the session has ended. If you passed a `fetch` to `createClient`, pass the same one as `send`.
 *
 * ```ts
 * const response = await authorizedFetch(client)(`${client.url}/graphql`, { method: 'POST', headers, body });
 * ```
 */
export function authorizedFetch(client: Client, send: typeof fetch = fetch): typeof fetch {
  const base = new URL(client.url);
  const isClientServer = (address: string) => {
    const { origin, pathname } = new URL(address);
    return origin === base.origin && `${pathname}/`.startsWith(base.pathname.replace(/\/*$/, '/'));
  };

  return async (input, init) => {
    const original = new Request(input, init);
    if (!isClientServer(original.url)) return send(original);
    const sendWithToken = (authToken: string, request: Request) => {
      request.headers.set('authorization', `Bearer ${authToken}`);
      return send(request);
    };
    const authToken = await client.authToken();
    const copy = original.clone();
    const response = await sendWithToken(authToken, original);
    if (response.status !== 401) return response;
    // If the session has ended, this rejects with LOGGED_OUT, whatever reason the response gives.
    const newToken = await client.authToken({ refused: authToken });
    if (response.headers.get('token-expired') !== 'true') return response;
    await response.body?.cancel();
    return sendWithToken(newToken, copy);
  };
}
