// Connects Apollo Client to @espalier/client, which refreshes the tokens over HTTP and on the socket. It also works in a
// browser. Create the client there like this:
//
//   const client = createClient({ url: '/', storage: tabStorage() });
//   if (!(await client.isLoggedIn())) await client.login(await askForPassword());
//   client.onSession(({ type }) => (type === 'logout' || type === 'ended') && apollo.clearStore().then(showLogin));
//   const apollo = connectApollo(client);

import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { OperationTypeNode } from 'graphql';
import { apolloOptions, type Client } from '@espalier/client';

export function connectApollo(client: Client): ApolloClient {
  const { uri, fetch, wsClient } = apolloOptions(client);
  return new ApolloClient({
    cache: new InMemoryCache(),
    link: ApolloLink.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      new GraphQLWsLink(wsClient),
      new HttpLink({ uri, fetch }),
    ),
  });
}
