/**
 * Random events that affect tokens: time, changes of users, ended sessions, rotated keys and restarted nodes.
 */

import fc from 'fast-check';
import { runChange } from '../../server/src/journal/journal.ts';
import { retireSigningKey, rotateSigningKey } from '../../server/src/sessions/manage-signing-keys.ts';
import { KeyEncryption } from '../../server/src/sessions/signing-keys.ts';
import { readKeyRows } from '../../server/src/sessions/signing-keys.ts';
import { mutation, type GraphBody } from '../support/graph-testbed.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { defineOperation, type OperationTable } from './operation-table.ts';
import { refreshWith } from './token-operations.ts';
import {
  headerChoice,
  selectAuthToken,
  formatHeader,
  number,
  selectSession,
  type HeaderChoice,
} from './token-choices.ts';
import { spentRetentionMs, toleranceMs, type ModelSession, type ModelUser } from './token-model.ts';
import type { TokenWorld } from './token-world.ts';

const second = 1_000;
const day = 86_400 * second;

/** Times at which the state of a session changes. */
const boundaries: Record<string, (session: ModelSession, retryMs: number) => number | undefined> = {
  authTokenExpires: ({ authTokens }) => authTokens.at(-1)!.expiresAt,
  olderAuthTokenExpires: ({ authTokens }) => authTokens.at(-2)?.expiresAt,
  refreshTokenExpires: ({ refreshTokens }) => refreshTokens.at(-1)!.expiresAt,
  toleranceEnds: ({ refreshTokens }) => addMilliseconds(refreshTokens.at(-2)?.spent?.at, toleranceMs),
  retryEnds: ({ refreshTokens }, retryMs) => addMilliseconds(refreshTokens.at(-2)?.spent?.at, retryMs),
  spentIsForgotten: ({ refreshTokens }) => addMilliseconds(refreshTokens.at(-2)?.spent?.at, spentRetentionMs),
};

/** Boundaries that keep most sessions alive occur more often. */
const nearBoundaries = ['authTokenExpires', 'toleranceEnds', 'retryEnds'];

export const serverOperations: OperationTable = {
  timePasses: defineOperation(
    6,
    fc.constantFrom(1, second, second, 5 * second, 29_999, 30_000, 59_999, 60_001, 61_000, 300_000),
    (world, _, ms) => advance(world, ms),
  ),
  daysPass: defineOperation(
    1,
    fc.constantFrom(
      600 * second,
      3_600 * second,
      day,
      7 * day,
      7 * day + 1,
      59 * day,
      60 * day - 1,
      61 * day,
    ),
    (world, _, ms) => advance(world, ms),
  ),
  timeComes: defineOperation(
    5,
    fc.record({
      session: number,
      moment: fc.constantFrom(...Object.keys(boundaries), ...nearBoundaries, ...nearBoundaries),
      offMs: fc.constantFrom(-1, 0, 1),
    }),
    async (world, node, { session: index, moment, offMs }) => {
      const session = selectSession(world.model, index);
      const at = session && boundaries[moment]!(session, world.model.retryMs);
      if (at === undefined || at + offMs <= world.model.now) return;
      await advance(world, at + offMs - world.model.now);
      await testBoundary(world, node, session!, moment);
    },
  ),

  disable: defineOperation(1, number, async (world, node, index) => {
    const user = selectUser(world, index);
    if (!user) return;
    await administer(world, node, 'updateUser', { id: user.id, isDisabled: true });
    user.isDisabled = true;
    world.model.endAllSessions(user);
  }),
  enable: defineOperation(3, number, async (world, node, index) => {
    const user = selectUser(world, index);
    if (!user) return;
    await administer(world, node, 'updateUser', { id: user.id, isDisabled: false });
    user.isDisabled = false;
  }),
  resetPassword: defineOperation(1, number, async (world, node, index) => {
    const user = selectUser(world, index);
    if (!user) return;
    const password = world.newPassword();
    await administer(world, node, 'resetPassword', { userId: user.id, password });
    user.password = password;
    world.model.endAllSessions(user);
  }),
  /** Deletes a user and creates a new one with the same name and no sessions. */
  replaceUser: defineOperation(1, number, async (world, node, index) => {
    const user = selectUser(world, index);
    if (!user) return;
    await administer(world, node, 'deleteUser', { id: user.id });
    user.isDeleted = true;
    await world.createUser(node, user.username);
  }),

  changePassword: defineOperation(
    2,
    fc.record({ header: headerChoice, isRight: fc.boolean() }),
    async (world, node, { header, isRight }) => {
      const newPassword = world.newPassword();
      const session = selectSession(world.model, header.session);
      const oldPassword = isRight && session ? session.user.password : 'walnut cabin';
      const outcome = isRight ? 'done' : 'FORBIDDEN';
      const by = await run(
        world,
        node,
        header,
        'changePassword',
        { oldPassword, newPassword },
        () => outcome,
      );
      if (!by || !isRight) return;
      by.user.password = newPassword;
      world.model.endAllSessions(by.user, by);
    },
  ),
  revokeSessions: defineOperation(
    2,
    fc.record({ header: headerChoice, keepCurrent: fc.boolean() }),
    async (world, node, { header, keepCurrent }) => {
      const by = await run(world, node, header, 'revokeSessions', { keepCurrent }, () => 'done');
      if (by) world.model.endAllSessions(by.user, keepCurrent ? by : undefined);
    },
  ),
  revokeSession: defineOperation(
    3,
    fc.record({ header: headerChoice, session: number }),
    async (world, node, { header, session: index }) => {
      const session = selectSession(world.model, index);
      if (!session) return;
      const isThere = (by: ModelSession) => by.user === session.user && world.model.isAlive(session);
      const by = await run(world, node, header, 'revokeSession', { id: session.id }, (viewer) =>
        isThere(viewer) ? 'done' : 'NOT_FOUND',
      );
      if (by && isThere(by)) session.isEnded = true;
    },
  ),
  revokeAnySession: defineOperation(1, number, async (world, node, index) => {
    const session = selectSession(world.model, index);
    if (!session) return;
    const isThere = world.model.isAlive(session);
    await administer(world, node, 'revokeSession', { id: session.id }, isThere ? 'done' : 'NOT_FOUND');
    if (isThere) session.isEnded = true;
  }),

  purge: defineOperation(3, fc.constant(null), async (world, node) => {
    await node.purge();
    world.model.purge();
  }),
  rotateKey: defineOperation(1, fc.constant(null), async (world) => {
    await withDatabase(world.database.url, (database) =>
      runChange(database, async (transaction) => {
        const now = world.clock.now();
        const [newest] = await readKeyRows(transaction);
        // A pending key must become active before the next rotation.
        if (newest!.signsFrom > now) return;
        await rotateSigningKey(transaction, { encryption: new KeyEncryption(undefined), now });
      }),
    );
    // In production, a timer does this every few seconds, long before the key becomes active.
    for (const node of world.nodes) await node.purge();
    world.model.purge();
  }),
  retireKey: defineOperation(1, number, async (world, _, index) => {
    const id = await withDatabase(world.database.url, (database) =>
      runChange(database, async (transaction) => {
        const rows = await readKeyRows(transaction);
        const { id } = rows[index % rows.length]!;
        const change = {
          encryption: new KeyEncryption(undefined),
          now: world.clock.now(),
          isReplacedAtOnce: true,
        };
        await retireSigningKey(transaction, id, change);
        return id;
      }),
    );
    world.model.retireKey(id);
    for (const node of world.nodes) await node.purge();
    world.model.purge();
  }),
  restart: defineOperation(1, fc.nat(1), async (world, _, index) => {
    await world.nodes[index]!.stop();
    await world.startNode(index);
  }),
};

/** Tests the boundary at this exact time, because another random operation rarely would. */
async function testBoundary(
  world: TokenWorld,
  node: TokenWorld['nodes'][number],
  { authTokens, refreshTokens }: ModelSession,
  moment: string,
): Promise<void> {
  const { model } = world;
  if (moment.endsWith('AuthTokenExpires') || moment === 'authTokenExpires') {
    const { text } = authTokens.at(moment === 'authTokenExpires' ? -1 : -2)!;
    const authorization = `Bearer ${text}`;
    const response = await world.post(node, '/graphql', { query: '{__typename}' }, authorization);
    world.compare(response, model.authorize(authorization), [text]);
    return;
  }
  const previousToken = refreshTokens.at(-2);
  const testedToken =
    moment === 'refreshTokenExpires' || !previousToken ? refreshTokens.at(-1)! : previousToken;
  const withText = testedToken.spent?.withText ?? authTokens.at(-1)!.text;
  await refreshWith(world, node, `Bearer ${withText}`, testedToken.text);
}

function addMilliseconds(moment: number | undefined, ms: number): number | undefined {
  return moment === undefined ? undefined : moment + ms;
}

function advance(world: TokenWorld, ms: number): Promise<void> {
  world.clock.advanceMs(ms);
  return Promise.resolve();
}

function selectUser({ model }: TokenWorld, index: number): ModelUser | undefined {
  const users = model.users.filter(({ isDeleted }) => !isDeleted);
  return users[index % users.length];
}

async function administer(
  world: TokenWorld,
  node: TokenWorld['nodes'][number],
  name: string,
  input: Record<string, unknown>,
  expected = 'done',
): Promise<void> {
  const body = await world.asAdministrator(node, mutation(name, '__typename'), { input });
  world.assertSame(name, readOutcome(body), expected);
}

/** Runs a mutation with a chosen token. Returns its session if the token is valid. */
async function run(
  world: TokenWorld,
  node: TokenWorld['nodes'][number],
  header: HeaderChoice,
  name: string,
  input: Record<string, unknown>,
  outcome: (by: ModelSession) => string,
): Promise<ModelSession | undefined> {
  const session = selectSession(world.model, header.session);
  if (!session) return undefined;
  const text = selectAuthToken(world.model, session, header);
  const authorization = formatHeader(text, header);
  const expected = world.model.authorize(authorization);
  const body = { query: mutation(name, '__typename'), variables: { input } };
  const response = await world.post(node, '/graphql', body, authorization);
  world.compare(response, expected, [text]);
  if (!expected.session) return undefined;
  world.assertSame(name, readOutcome(response.json<GraphBody<unknown>>()), outcome(expected.session));
  return expected.session;
}

function readOutcome({ errors }: GraphBody<unknown>): string {
  return errors?.[0]?.extensions.code ?? 'done';
}
