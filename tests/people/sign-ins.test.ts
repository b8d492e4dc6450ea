/** The history of sign-ins in GraphQL: filters, pages, rights and its lifetime. */

import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { Database } from '../../server/src/database/database.ts';
import { sql } from '../../server/src/database/statement.ts';
import { countSignIns, listSignIns } from '../../server/src/sessions/sign-in-reads.ts';
import {
  signInMethods,
  signInResults,
  type SignIn,
  type SignInMethod,
  type SignInResult,
} from '../../server/src/sessions/sign-in-buffer.ts';
import { databaseKinds } from '../support/databases.ts';
import { administrator } from '../support/testbed.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { PeopleTestbed, type Person } from './people-testbed.ts';

interface SignInView {
  readonly at: string;
  readonly lastAt: string;
  readonly count: number;
  readonly method: string;
  readonly result: string;
  readonly userId: string | null;
  readonly user: { readonly username: string } | null;
  readonly username: string | null;
  readonly sessionId: string | null;
  readonly address: string | null;
  readonly agent: string | null;
}

interface SignInPage {
  readonly totalCount: number;
  readonly items: readonly SignInView[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

const pageFields = `totalCount pageInfo{hasNextPage endCursor}
  items{at lastAt count method result userId user{username} username sessionId address agent detail}`;
const allSignIns = `query($filter: SignInFilter, $first: Int, $after: String){
  signIns(filter: $filter, first: $first, after: $after){${pageFields}}}`;
const ownSignIns = `query($first: Int, $after: String){viewer{signIns(first: $first, after: $after){${pageFields}}}}`;

type Stored = Pick<SignIn, 'id' | 'at' | 'userId' | 'method' | 'result'>;
const insert = sql<Stored>`
  insert into sign_ins (id, at, last_at, count, user_id, method, result)
  values (${'id'}, ${'at'}, ${'at'}, 1, ${'userId'}, ${'method'}, ${'result'})`;

const addRows = (url: string, rows: readonly Stored[]) =>
  withDatabase(url, (database) => database.transaction((transaction) => transaction.runEach(insert, rows)));

for (const kind of databaseKinds) {
  describe(`the history of sign-ins on ${kind.name}`, () => {
    let people: PeopleTestbed;
    let anna: Person;
    let annasToken: string;
    before(async () => {
      people = await PeopleTestbed.start(kind);
      anna = await people.createUser({ username: 'Anna' });
      annasToken = (await people.logIn(anna)).authToken;
    });
    after(() => people.stop());

    const list = async (variables: object = {}) =>
      (await people.query<{ signIns: SignInPage }>(allSignIns, { ...variables })).signIns;
    const listOwn = async (variables: object = {}) =>
      (await people.query<{ viewer: { signIns: SignInPage } }>(ownSignIns, { ...variables }, annasToken))
        .viewer.signIns;

    test('contains successes and failures with the user, the address and the client', async () => {
      people.server.clock.advanceSeconds(60);
      await people.server.post('/login', { username: 'anna', password: 'wrong' });
      await people.server.purge();
      const [failed, success] = (await list({ filter: { userId: anna.id } })).items;
      assert.deepEqual(failed, {
        at: '2026-03-01T12:01:00.000Z',
        lastAt: '2026-03-01T12:01:00.000Z',
        count: 1,
        method: 'PASSWORD',
        result: 'WRONG_CREDENTIALS',
        userId: anna.id,
        user: { username: 'Anna' },
        username: 'Anna',
        sessionId: null,
        address: '127.0.0.1',
        agent: 'node',
        detail: null,
      });
      const { viewer } = await people.query<{ viewer: { session: { id: string } } }>(
        '{viewer{session{id}}}',
        {},
        annasToken,
      );
      const expected = { ...failed, at: '2026-03-01T12:00:00.000Z', lastAt: '2026-03-01T12:00:00.000Z' };
      assert.deepEqual(success, { ...expected, result: 'SUCCESS', sessionId: viewer.session.id });
    });

    test('returns only their own sign-ins to users, page by page', async () => {
      const own = await listOwn();
      assert.ok(own.totalCount > 1);
      assert.ok(own.items.every(({ userId }) => userId === anna.id));
      assert.deepEqual(
        own,
        await list({ filter: { userId: anna.id } }).then((page) => ({
          ...page,
          pageInfo: own.pageInfo,
        })),
      );
      const first = await listOwn({ first: 1 });
      const second = await listOwn({ first: 1, after: first.pageInfo.endCursor });
      assert.deepEqual([first.items[0], second.items[0]], own.items.slice(0, 2));
    });

    test('is only for administrators, and not in a view', async () => {
      assert.match(await people.queryError(allSignIns, {}, annasToken), /^FORBIDDEN/);
      const { viewToken } = await people.mutate<{ viewToken: string }>(
        'startViewAs',
        { userId: anna.id },
        'viewToken',
      );
      for (const query of [allSignIns, ownSignIns]) {
        const response = await people.server.postRaw('/graphql', JSON.stringify({ query }), {
          'content-type': 'application/json',
          authorization: `Bearer ${people.authToken}`,
          'espalier-view-as': viewToken,
        });
        const { errors } = response.json<{ errors: { extensions: { code: string } }[] }>();
        assert.deepEqual(
          errors.map(({ extensions }) => extensions.code),
          ['FORBIDDEN'],
        );
      }
    });

    test('keeps the name of a deleted user', async () => {
      const person = await people.createUser({ username: 'Gone' });
      await people.logIn(person);
      await people.mutate('deleteUser', { id: person.id }, '__typename');
      const [signIn] = (await list({ filter: { userId: person.id } })).items;
      assert.deepEqual([signIn!.username, signIn!.user, signIn!.userId], ['Gone', null, person.id]);
    });

    test('rejects a cursor of another list, and returns nothing for an unknown user', async () => {
      const { pageInfo } = await list({ first: 1 });
      const after = pageInfo.endCursor;
      const variables = { filter: { results: ['SUCCESS'] }, after };
      assert.match(await people.queryError(allSignIns, variables), /^BAD_INPUT/);
      assert.match(await people.queryError(allSignIns, { first: 1001 }), /^BAD_INPUT/);
      for (const userId of ['nonsense', randomUUID()]) {
        assert.deepEqual((await list({ filter: { userId } })).items, []);
      }
    });

    test('applies every combination of filters, on every page', async () => {
      const { url } = people.server.database;
      const start = Date.parse('2026-02-01T00:00:00Z');
      const userIds = [randomUUID(), randomUUID()];
      const pick = <T>(values: readonly T[]): T => values[randomInt(values.length)]!;
      const some = <T>(values: readonly T[]) => values.filter(() => randomInt(3) > 0);
      const rows = Array.from({ length: 300 }, (): Stored => ({
        id: randomUUID(),
        at: start + randomInt(40),
        userId: pick([...userIds, null]),
        method: pick<SignInMethod>(signInMethods),
        result: pick<SignInResult>(signInResults),
      }));
      await addRows(url, rows);
      const sorted = rows.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
      await withDatabase(url, async (database: Database) => {
        for (let round = 0; round < 60; round++) {
          const from = start + randomInt(20);
          const filter = {
            from,
            until: from + randomInt(25),
            userId: pick([undefined, ...userIds]),
            methods: pick([undefined, some(signInMethods)]),
            results: pick([undefined, some(signInResults)]),
          };
          const expected = sorted.filter(
            ({ at, userId, method, result }) =>
              at >= filter.from &&
              at < filter.until &&
              (filter.userId === undefined || userId === filter.userId) &&
              (filter.methods?.includes(method) ?? true) &&
              (filter.results?.includes(result) ?? true),
          );
          const found: SignIn[] = [];
          for (;;) {
            const page = await listSignIns(database, filter, { after: found.at(-1), limit: 7 });
            found.push(...page);
            if (page.length < 7) break;
          }
          const idsOf = (list: readonly Stored[]) => list.map(({ id }) => id);
          assert.deepEqual(idsOf(found), idsOf(expected), JSON.stringify(filter));
          assert.equal(await countSignIns(database, filter), expected.length);
        }
      });
    });

    test('ends after ESPALIER_SIGN_IN_DAYS', async () => {
      const old = people.server.clock.now() - 90 * 86_400_000;
      const userId = randomUUID();
      const row = { userId, method: 'PASSWORD', result: 'SUCCESS' } as const;
      await addRows(people.server.database.url, [
        { ...row, id: randomUUID(), at: old },
        { ...row, id: randomUUID(), at: old - 1 },
      ]);
      await people.server.purge();
      const { items, totalCount } = await list({ filter: { userId } });
      assert.equal(totalCount, 1);
      assert.equal(Date.parse(items[0]!.at), old);
    });

    test('contains the administrator of the first start only after a login', async () => {
      const { items } = await list({ filter: { results: ['SUCCESS'], methods: ['PASSWORD'] } });
      assert.ok(items.some(({ username }) => username === administrator.username));
      assert.equal(
        (await list({ filter: { methods: ['PASSKEY'], from: '2026-02-15T00:00:00Z' } })).totalCount,
        0,
      );
    });
  });
}
