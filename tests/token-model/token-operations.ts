/** Random requests of clients with valid and invalid passwords and tokens, at either node. */

import fc from 'fast-check';
import { malformedBodies } from '../contract/malformed-bodies.ts';
import type { GraphBody } from '../support/graph-testbed.ts';
import type { Testbed } from '../support/testbed.ts';
import {
  selectAuthToken,
  headerChoice,
  formatHeader,
  noToken,
  number,
  selectSession,
  refreshChoice,
  selectRefreshToken,
  type HeaderChoice,
  type RefreshChoice,
} from './token-choices.ts';
import type { ModelUser, Tokens } from './token-model.ts';
import { defineOperation, type OperationTable } from './operation-table.ts';
import { DisagreementError, type TokenWorld } from './token-world.ts';

const racers = 6;

const fieldsOf = {
  '/login': ['username', 'password'],
  '/login/refresh': ['refreshToken'],
  '/login/verify': ['authToken'],
  '/logout': ['refreshToken'],
} as const;

/** The credentials of a login by this user, or by a client that claims to be this user. */
const credentials: Record<string, (user: ModelUser) => { username: string; password: string }> = {
  right: ({ username, password }) => ({ username, password }),
  otherCase: ({ username, password }) => ({ username: username.toUpperCase(), password }),
  wrong: ({ username }) => ({ username, password: 'walnut cabin' }),
  otherPasswordCase: ({ username, password }) => ({ username, password: password.toUpperCase() }),
  unknownUser: ({ password }) => ({ username: 'dora', password }),
};

const tokensChoice = fc.record({
  header: headerChoice,
  token: refreshChoice,
  /** Whether the two tokens may come from different logins. */
  isMixed: fc.nat(9).map((index) => index === 0),
});

interface TokensChoice {
  readonly header: HeaderChoice;
  readonly token: RefreshChoice;
  readonly isMixed: boolean;
}

export const clientOperations: OperationTable = {
  logIn: defineOperation(
    14,
    fc.record({ user: number, how: fc.constantFrom('right', 'right', 'right', ...Object.keys(credentials)) }),
    async (world, node, { user: index, how }) => {
      const user = world.model.users[index % world.model.users.length]!;
      const { username, password } = credentials[how]!(user);
      const expected = world.model.logIn(username, password);
      const response = await world.post(node, '/login', { username, password });
      const tokens = world.compare(response, expected, [password]);
      if (tokens) world.startSession(world.model.findUser(username)!, tokens);
    },
  ),

  malformed: defineOperation(
    4,
    fc.record({ path: fc.constantFrom(...Object.keys(fieldsOf)), body: number, header: headerChoice }),
    async (world, node, { path, body: index, header }) => {
      const bodies = malformedBodies(...fieldsOf[path as keyof typeof fieldsOf]);
      const [, body, headers] = bodies[index % bodies.length]!;
      const { authorization, secrets } = chooseHeader(world, header);
      // §4.1: a logout with an auth token does not validate the body, which this operation tests.
      const sent = path === '/logout' ? undefined : authorization;
      const response = await world.post(node, path, body, sent, headers);
      world.compare(response, { status: 400 }, secrets);
    },
  ),

  refresh: defineOperation(30, tokensChoice, async (world, node, choice) => {
    const { authorization, refreshToken } = chooseTokens(world, choice);
    await refreshWith(world, node, authorization, refreshToken);
  }),

  /**
   * Several concurrent refreshes at both nodes: one wins, and the others get the response of a second attempt.
   */
  race: defineOperation(3, tokensChoice, async (world, _, choice) => {
    const { authorization, refreshToken, secrets } = chooseTokens(world, choice);
    const { model, nodes } = world;
    const first = model.refresh(authorization, refreshToken);
    const responses = await Promise.all(
      Array.from({ length: racers }, (_each, index) =>
        world.post(nodes[index % 2]!, '/login/refresh', { refreshToken }, authorization),
      ),
    );
    const winner = first.session ? responses.find(({ status }) => status === 200) : responses[0];
    if (!winner) throw new DisagreementError('No request won the race.');
    const tokens = world.compare(winner, first, secrets);
    if (tokens && first.session) model.exchange(first.session, tokenIn(authorization), tokens);
    for (const response of responses) {
      if (response !== winner) world.compare(response, model.refresh(authorization, refreshToken), secrets);
    }
  }),

  logOut: defineOperation(
    5,
    fc.record({
      header: headerChoice,
      token: refreshChoice,
      sent: fc.constantFrom('header', 'token', 'token', 'both', 'neither'),
    }),
    async (world, node, { header, token, sent }) => {
      const withHeader = sent === 'header' || sent === 'both';
      const { authorization, secrets } = chooseHeader(world, header);
      const refreshToken = sent === 'token' || sent === 'both' ? chooseRefreshToken(world, token) : undefined;
      const sentHeader = withHeader ? authorization : undefined;
      const expected = world.model.logOut(sentHeader, refreshToken);
      const response = await world.post(
        node,
        '/logout',
        refreshToken === undefined ? '' : { refreshToken },
        sentHeader,
      );
      world.compare(response, expected, [...secrets, refreshToken ?? '']);
    },
  ),

  verify: defineOperation(12, headerChoice, async (world, node, choice) => {
    const { text: authToken } = chooseHeader(world, choice);
    const response = await world.post(node, '/login/verify', { authToken });
    world.compare(response, world.model.verify(authToken), [authToken]);
  }),

  query: defineOperation(20, headerChoice, async (world, node, choice) => {
    const { authorization, secrets } = chooseHeader(world, choice);
    const expected = world.model.authorize(authorization);
    const response = await world.post(node, '/graphql', { query: '{viewer{user{id}}}' }, authorization);
    world.compare(response, expected, secrets);
    if (!expected.session) return;
    const { data } = response.json<GraphBody<unknown>>();
    world.assertSame('the viewer', data, { viewer: { user: { id: expected.session.user.id } } });
  }),

  /** The refresh token in place of the auth token, and the reverse. */
  swapped: defineOperation(2, refreshChoice, async (world, node, choice) => {
    const session = selectSession(world.model, choice.session);
    if (!session) return;
    const { text: refreshToken } = session.refreshTokens.at(-1)!;
    const { text: authToken } = session.authTokens.at(-1)!;
    const authorization = `Bearer ${refreshToken}`;
    const expected = world.model.refresh(authorization, authToken);
    const body = { refreshToken: authToken };
    const secrets = [authToken, refreshToken];
    world.compare(await world.post(node, '/login/refresh', body, authorization), expected, secrets);
    world.compare(await world.post(node, '/logout', body), world.model.logOut(undefined, authToken), secrets);
  }),
};

export async function refreshWith(
  world: TokenWorld,
  node: Testbed,
  authorization: string | undefined,
  refreshToken: string,
): Promise<void> {
  const expected = world.model.refresh(authorization, refreshToken);
  const response = await world.post(node, '/login/refresh', { refreshToken }, authorization);
  const tokens = world.compare(response, expected, [authorization ?? '', refreshToken]);
  if (tokens && expected.session) world.model.exchange(expected.session, tokenIn(authorization), tokens);
}

function chooseHeader(world: TokenWorld, choice: HeaderChoice, index = choice.session) {
  const session = selectSession(world.model, index);
  const text = session ? selectAuthToken(world.model, session, choice) : noToken;
  return { text, authorization: formatHeader(text, choice), secrets: [text] };
}

function chooseRefreshToken(world: TokenWorld, choice: RefreshChoice): string {
  const session = selectSession(world.model, choice.session);
  return session ? selectRefreshToken(session, choice) : 'not-a-stored-token';
}

function chooseTokens(
  world: TokenWorld,
  { header, token, isMixed }: TokensChoice,
): { authorization: string | undefined; refreshToken: string; secrets: string[] } {
  const { text, authorization } = chooseHeader(world, header, isMixed ? header.session : token.session);
  const refreshToken = chooseRefreshToken(world, token);
  return { authorization, refreshToken, secrets: [text, refreshToken] };
}

function tokenIn(authorization: string | undefined): Tokens['authToken'] {
  return authorization!.slice('Bearer '.length);
}
