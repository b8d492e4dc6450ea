// Connects urql to @espalier/client, which refreshes the tokens over HTTP and on the socket. It also works in a browser.
// Create the client there like this:
//
//   const client = createClient({ url: '/', storage: tabStorage() });
//   if (!(await client.isLoggedIn())) await client.login(await askForPassword());
//   client.onSession(({ type }) => (type === 'logout' || type === 'ended') && showLogin());
//   const urql = connectUrql(client);

import { cacheExchange, Client as UrqlClient, fetchExchange, subscriptionExchange } from '@urql/core';
import { urqlOptions, type Client } from '@espalier/client';

export function connectUrql(client: Client): UrqlClient {
  const { forwardSubscription, ...options } = urqlOptions(client);
  const exchanges = [cacheExchange, fetchExchange, subscriptionExchange({ forwardSubscription })];
  return new UrqlClient({ ...options, exchanges });
}
