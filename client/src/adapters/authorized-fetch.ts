/** `fetch` for whatever else speaks with the server: it knows the token, keeps it fresh, and shows it to nobody else. */

import type { Client } from '../client.ts';

/**
 * A `fetch` that sends the client's auth token to the client's server, and is `fetch` itself for every other address. It
 * rejects with LOGGED_OUT when the session is over. If the client was given a `fetch` of its own, give it here, too.
 *
 * ```ts
 * const answer = await authorizedFetch(client)(`${client.url}/graphql`, { method: 'POST', headers, body });
 * ```
 */
export function authorizedFetch(client: Client, send: typeof fetch = fetch): typeof fetch {
  const base = new URL(client.url);
  const isOwn = (address: string) => {
    const { origin, pathname } = new URL(address);
    return origin === base.origin && `${pathname}/`.startsWith(base.pathname.replace(/\/*$/, '/'));
  };

  return async (input, init) => {
    const request = new Request(input, init);
    if (!isOwn(request.url)) return send(request);
    const sendWith = (authToken: string, given: Request) => {
      given.headers.set('authorization', `Bearer ${authToken}`);
      return send(given);
    };
    const authToken = await client.authToken();
    const again = request.clone();
    const answer = await sendWith(authToken, request);
    if (answer.status !== 401) return answer;
    // If the session is over, this says so, whatever the answer says.
    const another = await client.authToken({ refused: authToken });
    if (answer.headers.get('token-expired') !== 'true') return answer;
    await answer.body?.cancel();
    return sendWith(another, again);
  };
}
