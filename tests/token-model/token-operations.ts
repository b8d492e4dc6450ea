/** Random requests of clients with valid and invalid passwords and tokens, at either node. */

import fc from 'fast-check';
import { malformedBodies } from '../contract/malformed-bodies.ts';
import type { GraphBody } from '../support/graph-testbed.ts';
import type { Testbed } from '../support/testbed.ts';
import {
  authTokenOf,
  headerChoice,
  headerWith,
  noToken,
  number,
  sessionAt,
  refreshChoice,
  refreshTokenOf,
  type HeaderChoice,
  type RefreshChoice,
} from './token-choices.ts';
import type { ModelUser, Pair } from './token-model.ts';
import { kind, type OperationTable } from './operation-table.ts';
import { Disagreement, type TokenWorld } from './token-world.ts';

const racers = 6;

const fieldsOf = {
  '/login': ['username', 'password'],
  '/login/refresh': ['refreshToken'],
  '/login/verify': ['authToken'],
  '/logout': ['refreshToken'],
} as const;

/** The credentials sent at a login, by this user or by someone who claims to be this user. */
const credentials: Record<string, (user: ModelUser) => { username: string; password: string }> = {
  right: ({ username, password }) => ({ username, password }),
  otherCase: ({ username, password }) => ({ username: username.toUpperCase(), password }),
  wrong: ({ username }) => ({ username, password: 'walnut cabin' }),
  otherPasswordCase: ({ username, password }) => ({ username, password: password.toUpperCase() }),
  nobody: ({ password }) => ({ username: 'dora', password }),
};

const pairChoice = fc.record({
  header: headerChoice,
  token: refreshChoice,
  /** Whether the two tokens may come from different logins. */
  isMixed: fc.nat(9).map((place) => place === 0),
});

interface PairChoice {
  readonly header: HeaderChoice;
  readonly token: RefreshChoice;
  readonly isMixed: boolean;
}

export const clientOperations: OperationTable = {
  logIn: kind(
    14,
    fc.record({ user: number, how: fc.constantFrom('right', 'right', 'right', ...Object.keys(credentials)) }),
    async (world, node, { user: place, how }) => {
      const user = world.model.users[place % world.model.users.length]!;
      const { username, password } = credentials[how]!(user);
      const expected = world.model.logIn(username, password);
      const answer = await world.post(node, '/login', { username, password });
      const pair = world.compare(answer, expected, [password]);
      if (pair) world.startSession(world.model.userNamed(username)!, pair);
    },
  ),

  malformed: kind(
    4,
    fc.record({ path: fc.constantFrom(...Object.keys(fieldsOf)), body: number, header: headerChoice }),
    async (world, node, { path, body: place, header }) => {
      const bodies = malformedBodies(...fieldsOf[path as keyof typeof fieldsOf]);
      const [, body, headers] = bodies[place % bodies.length]!;
      const { authorization, secrets } = shown(world, header);
      // §4.1: with an auth token the body of a logout is not validated, and this operation tests the body.
      const sent = path === '/logout' ? undefined : authorization;
      const answer = await world.post(node, path, body, sent, headers);
      world.compare(answer, { status: 400 }, secrets);
    },
  ),

  refresh: kind(30, pairChoice, async (world, node, given) => {
    const { authorization, refreshToken } = pairOf(world, given);
    await refreshWith(world, node, authorization, refreshToken);
  }),

  /**
   * Several refreshes at once at both nodes: one wins, and the others get the response of a second attempt.
   */
  race: kind(3, pairChoice, async (world, _, given) => {
    const { authorization, refreshToken, secrets } = pairOf(world, given);
    const { model, nodes } = world;
    const first = model.refresh(authorization, refreshToken);
    const answers = await Promise.all(
      Array.from({ length: racers }, (_each, place) =>
        world.post(nodes[place % 2]!, '/login/refresh', { refreshToken }, authorization),
      ),
    );
    const won = first.session ? answers.find(({ status }) => status === 200) : answers[0];
    if (!won) throw new Disagreement('Nobody has won the race.');
    const pair = world.compare(won, first, secrets);
    if (pair && first.session) model.exchange(first.session, tokenIn(authorization), pair);
    for (const answer of answers) {
      if (answer !== won) world.compare(answer, model.refresh(authorization, refreshToken), secrets);
    }
  }),

  logOut: kind(
    5,
    fc.record({
      header: headerChoice,
      token: refreshChoice,
      sent: fc.constantFrom('header', 'token', 'token', 'both', 'neither'),
    }),
    async (world, node, { header, token, sent }) => {
      const withHeader = sent === 'header' || sent === 'both';
      const { authorization, secrets } = shown(world, header);
      const refreshToken = sent === 'token' || sent === 'both' ? refreshTokenAt(world, token) : undefined;
      const given = withHeader ? authorization : undefined;
      const expected = world.model.logOut(given, refreshToken);
      const answer = await world.post(
        node,
        '/logout',
        refreshToken === undefined ? '' : { refreshToken },
        given,
      );
      world.compare(answer, expected, [...secrets, refreshToken ?? '']);
    },
  ),

  verify: kind(12, headerChoice, async (world, node, given) => {
    const { text: authToken } = shown(world, given);
    const answer = await world.post(node, '/login/verify', { authToken });
    world.compare(answer, world.model.verify(authToken), [authToken]);
  }),

  query: kind(20, headerChoice, async (world, node, given) => {
    const { authorization, secrets } = shown(world, given);
    const expected = world.model.authorized(authorization);
    const answer = await world.post(node, '/graphql', { query: '{viewer{user{id}}}' }, authorization);
    world.compare(answer, expected, secrets);
    if (!expected.session) return;
    const { data } = answer.json<GraphBody<unknown>>();
    world.same('the viewer', data, { viewer: { user: { id: expected.session.user.id } } });
  }),

  /** The refresh token in place of the auth token, and the reverse. */
  swapped: kind(2, refreshChoice, async (world, node, given) => {
    const session = sessionAt(world.model, given.session);
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
  const answer = await world.post(node, '/login/refresh', { refreshToken }, authorization);
  const pair = world.compare(answer, expected, [authorization ?? '', refreshToken]);
  if (pair && expected.session) world.model.exchange(expected.session, tokenIn(authorization), pair);
}

function shown(world: TokenWorld, given: HeaderChoice, place = given.session) {
  const session = sessionAt(world.model, place);
  const text = session ? authTokenOf(world.model, session, given) : noToken;
  return { text, authorization: headerWith(text, given), secrets: [text] };
}

function refreshTokenAt(world: TokenWorld, given: RefreshChoice): string {
  const session = sessionAt(world.model, given.session);
  return session ? refreshTokenOf(session, given) : 'no token';
}

function pairOf(
  world: TokenWorld,
  { header, token, isMixed }: PairChoice,
): { authorization: string | undefined; refreshToken: string; secrets: string[] } {
  const { text, authorization } = shown(world, header, isMixed ? header.session : token.session);
  const refreshToken = refreshTokenAt(world, token);
  return { authorization, refreshToken, secrets: [text, refreshToken] };
}

function tokenIn(authorization: string | undefined): Pair['authToken'] {
  return authorization!.slice('Bearer '.length);
}
