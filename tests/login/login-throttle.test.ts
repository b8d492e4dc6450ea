/** All nodes together throttle password guessing. The throttle does not affect other users and addresses. */

import assert from 'node:assert/strict';
import { describe, test, type MockTracker } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import type { PromiseOrValue } from '../../server/src/concurrency/promise-or-value.ts';
import { sql } from '../../server/src/database/statement.ts';
import { readStoredIssuer } from '../../server/src/startup/installation.ts';
import {
  AttemptQueues,
  type QueuedAttempt,
  type QueueKey,
} from '../../server/src/sessions/attempt-queues.ts';
import { LoginThrottle } from '../../server/src/sessions/login-throttle.ts';
import { databaseKinds } from '../support/databases.ts';
import { withoutRequestId, type GraphBody } from '../support/graph-testbed.ts';
import { withDatabase } from '../support/stored-rows.ts';
import {
  administrator,
  problemOf,
  Testbed,
  TestClock,
  type TestResponse,
  type TestbedOptions,
} from '../support/testbed.ts';

interface Credentials {
  readonly username: string;
  readonly password: string;
}

const wrongCredentials: Credentials = { username: administrator.username, password: 'walnut cellar' };
const attackerAddress = '192.0.2.1';
const otherAddress = '198.51.100.7';
const behindProxy = { TRUST_PROXY: 'true' };

const logInFrom = (testbed: Testbed, address: string, guess: Credentials): Promise<TestResponse> =>
  testbed.postRaw('/login', JSON.stringify(guess), {
    'content-type': 'application/json',
    'x-forwarded-for': address,
  });

/** Records failed logins with these names like another node, without hashing passwords. */
async function failOnAnotherNode(
  testbed: Testbed,
  address: string,
  usernames: readonly string[],
): Promise<void> {
  await withDatabase(testbed.database.url, async (database) => {
    const installation = await readStoredIssuer(database);
    const throttle = new LoginThrottle({ database, clock: testbed.clock, installation, isOn: true });
    for (const username of usernames) {
      await throttle.attempt({ username, address }, () => Promise.resolve(undefined));
    }
  });
}
const names = (count: number) => Array.from({ length: count }, (_, index) => `name ${index}`);
const repeatAdmin = (count: number) => Array<string>(count).fill(administrator.username);

function countStatuses(answers: readonly TestResponse[]): Record<string, number> {
  const byStatus = Map.groupBy(answers, ({ status }) => status);
  return Object.fromEntries([...byStatus].map(([status, { length }]) => [status, length]));
}

/** Holds the attempts of one queue until `release`, so that their number does not depend on the speed of the machine. */
function holdAttempts(mock: MockTracker): { holdLastQueue: () => void; release: () => void } {
  const queues = new AttemptQueues();
  const join = queues.join.bind(queues);
  const released = Promise.withResolvers<void>();
  let last: string | undefined;
  let held: string | undefined;
  const joinAndHold = (keys: readonly QueueKey[]): PromiseOrValue<QueuedAttempt> => {
    const attempt = join(keys);
    last = keys.at(-1)!.key;
    return last === held ? released.promise.then(() => attempt) : attempt;
  };
  // The throttle accepts a promise: workers join a queue in another process.
  mock.method(AttemptQueues.prototype, 'join', joinAndHold as typeof join);
  return { holdLastQueue: () => (held = last), release: released.resolve };
}

const selectDigests = sql<object, { digest: Uint8Array }>`select digest from login_failures`;
const readDigests = (url: string) => withDatabase(url, async (database) => database.all(selectDigests, {}));

for (const kind of databaseKinds) {
  const withTestbed = async (options: TestbedOptions, work: (testbed: Testbed) => Promise<void>) => {
    const testbed = await Testbed.start(kind, { settings: behindProxy, ...options });
    try {
      await work(testbed);
    } finally {
      await testbed.stop();
    }
  };
  const withTwoNodes = async (work: (one: Testbed, two: Testbed) => Promise<void>) => {
    const database = await kind.create();
    const clock = new TestClock();
    await withTestbed({ database, clock }, (one) =>
      withTestbed({ database, clock }, (two) => work(one, two)),
    );
    await database.remove();
  };

  describe(`password guessing on ${kind.name}`, () => {
    test('gets 401 for 50 attempts, then 429 during a pause, and one attempt after each pause', () =>
      withTestbed({}, async (testbed) => {
        for (let index = 0; index < 50; index++) {
          const answer = await logInFrom(testbed, attackerAddress, wrongCredentials);
          assert.equal(answer.status, 401);
          assert.equal(answer.headers.get('retry-after'), null);
        }
        const refused = await logInFrom(testbed, attackerAddress, wrongCredentials);
        assert.equal(refused.status, 429);
        assert.equal(refused.headers.get('retry-after'), '1');
        assert.equal(refused.headers.get('cache-control'), 'no-store');
        assert.equal(refused.headers.get('www-authenticate'), null);
        assert.match(refused.headers.get('content-type')!, /^application\/problem\+json/);
        const { code, status, title } = problemOf(refused);
        assert.deepEqual(
          { code, status, title },
          { code: 'TOO_MANY_ATTEMPTS', status: 429, title: 'Too Many Requests' },
        );

        assert.equal((await logInFrom(testbed, attackerAddress, administrator)).status, 429);
        testbed.clock.advanceSeconds(0.999);
        assert.equal((await logInFrom(testbed, attackerAddress, administrator)).status, 429);
        testbed.clock.advanceSeconds(0.001);
        assert.equal((await logInFrom(testbed, attackerAddress, wrongCredentials)).status, 401);
        const longer = await logInFrom(testbed, attackerAddress, wrongCredentials);
        assert.equal(longer.status, 429);
        assert.equal(longer.headers.get('retry-after'), '2');
        testbed.clock.advanceSeconds(2);
        assert.equal((await logInFrom(testbed, attackerAddress, administrator)).status, 200);
        for (let index = 0; index < 3; index++) {
          assert.equal(
            (await logInFrom(testbed, attackerAddress, wrongCredentials)).status,
            401,
            'a successful login clears the failures',
          );
        }
      }));

    test('gets the same responses for unknown and existing names', () =>
      withTestbed({}, async (testbed) => {
        const shapes = async (username: string) => {
          await failOnAnotherNode(testbed, attackerAddress, Array<string>(49).fill(username));
          const answers = [];
          for (let index = 0; index < 2; index++) {
            const answer = await logInFrom(testbed, attackerAddress, { ...wrongCredentials, username });
            const { requestId, ...problem } = problemOf(answer);
            assert.match(requestId, /./);
            const headers: Record<string, string> = Object.fromEntries(answer.headers);
            delete headers['date'];
            answers.push({ status: answer.status, headers, problem });
          }
          return answers;
        };
        const existing = await shapes(administrator.username);
        assert.deepEqual(
          existing.map(({ status }) => status),
          [401, 429],
        );
        assert.deepEqual(await shapes('nobody'), existing);
      }));

    test('affects neither the same user elsewhere nor another user at the same address', () =>
      withTestbed({}, async (testbed) => {
        await failOnAnotherNode(testbed, attackerAddress, repeatAdmin(50));
        assert.equal((await logInFrom(testbed, attackerAddress, administrator)).status, 429);
        assert.equal((await logInFrom(testbed, otherAddress, administrator)).status, 200);
        assert.equal(
          (await logInFrom(testbed, attackerAddress, { ...wrongCredentials, username: 'anna' })).status,
          401,
        );
        assert.equal(
          (await logInFrom(testbed, attackerAddress, administrator)).status,
          429,
          'a login from elsewhere does not clear the failures',
        );
      }));

    test('is counted for the /64 prefix of an IPv6 address and for an IPv4 address in any notation', () =>
      withTestbed({}, async (testbed) => {
        await failOnAnotherNode(testbed, '2001:db8:1:2::1', repeatAdmin(50));
        await failOnAnotherNode(testbed, '::ffff:192.0.2.1', repeatAdmin(50));
        const statusFrom = async (address: string) =>
          (await logInFrom(testbed, address, administrator)).status;
        assert.equal(await statusFrom('2001:db8:1:2:aaaa:bbbb:cccc:dddd'), 429);
        assert.equal(await statusFrom('2001:db8:1:3::1'), 200);
        assert.equal(await statusFrom('192.0.2.1'), 429);
        assert.equal(await statusFrom('::ffff:192.0.2.2'), 200);
      }));

    test('is throttled by address after 500 failures, even after a successful login', () =>
      withTestbed({}, async (testbed) => {
        await failOnAnotherNode(testbed, attackerAddress, names(499));
        assert.equal((await logInFrom(testbed, attackerAddress, administrator)).status, 200);
        assert.equal(
          (await logInFrom(testbed, attackerAddress, { ...wrongCredentials, username: 'anna' })).status,
          401,
        );
        assert.equal((await logInFrom(testbed, attackerAddress, administrator)).status, 429);
        assert.equal((await logInFrom(testbed, otherAddress, administrator)).status, 200);
        testbed.clock.advanceSeconds(1);
        assert.equal((await logInFrom(testbed, attackerAddress, administrator)).status, 200);
        assert.equal(
          (await logInFrom(testbed, attackerAddress, administrator)).status,
          200,
          'no pause after a successful login',
        );
        assert.equal(
          (await logInFrom(testbed, attackerAddress, { ...wrongCredentials, username: 'bert' })).status,
          401,
        );
        const refused = await logInFrom(testbed, attackerAddress, administrator);
        assert.equal(refused.headers.get('retry-after'), '2');
      }));

    test('is counted across nodes, and after the pause one node admits one attempt', () =>
      withTwoNodes(async (one, two) => {
        for (let index = 0; index < 50; index++) {
          assert.equal(
            (await logInFrom(index % 2 ? one : two, attackerAddress, wrongCredentials)).status,
            401,
          );
        }
        assert.equal((await logInFrom(one, attackerAddress, wrongCredentials)).status, 429);
        assert.equal((await logInFrom(two, attackerAddress, wrongCredentials)).status, 429);
        one.clock.advanceSeconds(1);
        const concurrentLogins = Array.from({ length: 40 }, (_, index) =>
          logInFrom(index % 2 ? one : two, attackerAddress, wrongCredentials),
        );
        assert.deepEqual(countStatuses(await Promise.all(concurrentLogins)), { 401: 1, 429: 39 });
        one.clock.advanceSeconds(2);
        assert.equal((await logInFrom(two, attackerAddress, administrator)).status, 200);
        assert.equal((await logInFrom(one, attackerAddress, administrator)).status, 200);
      }));

    test('is allowed no more attempts with 200 concurrent requests than with sequential ones', () =>
      withTestbed({}, async (testbed) => {
        const guesses = Array.from({ length: 200 }, () =>
          logInFrom(testbed, attackerAddress, wrongCredentials),
        );
        assert.deepEqual(countStatuses(await Promise.all(guesses)), { 401: 50, 429: 150 });
        testbed.clock.advanceSeconds(1);
        const more = Array.from({ length: 200 }, () => logInFrom(testbed, attackerAddress, wrongCredentials));
        assert.deepEqual(countStatuses(await Promise.all(more)), { 401: 1, 429: 199 });
      }));

    test('gets 503 with Retry-After beyond 500 concurrent attempts, and does not delay other requests', ({
      mock,
    }) =>
      withTestbed({}, async (testbed) => {
        const attempts = holdAttempts(mock);
        const { authToken } = (
          await logInFrom(testbed, attackerAddress, administrator)
        ).json<LoginResponse>();
        attempts.holdLastQueue();
        const refused = Promise.withResolvers<void>();
        const shed: TestResponse[] = [];
        const guesses = Array.from({ length: 600 }, async () => {
          const answer = await logInFrom(testbed, attackerAddress, wrongCredentials);
          if (answer.status === 503 && shed.push(answer) === 100) refused.resolve();
          return answer;
        });
        await refused.promise;
        assert.equal((await testbed.query('{folder{name}}', authToken)).status, 200);
        assert.equal((await logInFrom(testbed, otherAddress, administrator)).status, 200);
        attempts.release();
        assert.deepEqual(countStatuses(await Promise.all(guesses)), { 401: 50, 429: 450, 503: 100 });
        assert.equal(shed[0]!.headers.get('retry-after'), '5');
        assert.equal(problemOf(shed[0]!).code, 'UNAVAILABLE');
      }));

    test('does not affect 200 concurrent successful logins from another address', () =>
      withTestbed({}, async (testbed) => {
        await failOnAnotherNode(testbed, otherAddress, repeatAdmin(50));
        const logins = Array.from({ length: 200 }, () => logInFrom(testbed, attackerAddress, administrator));
        assert.equal((await logInFrom(testbed, otherAddress, administrator)).status, 429);
        assert.deepEqual(countStatuses(await Promise.all(logins)), { 200: 200 });
      }));

    test('does not include requests with malformed bodies', () =>
      withTestbed({}, async (testbed) => {
        await failOnAnotherNode(testbed, attackerAddress, repeatAdmin(49));
        for (const body of ['', '{', '[]', '{"username":"admin"}', '{"username":"admin","password":1}']) {
          const headers = { 'content-type': 'application/json', 'x-forwarded-for': attackerAddress };
          assert.equal((await testbed.postRaw('/login', body, headers)).status, 400);
        }
        assert.equal((await logInFrom(testbed, attackerAddress, wrongCredentials)).status, 401);
        assert.equal((await logInFrom(testbed, attackerAddress, wrongCredentials)).status, 429);
      }));

    test('does not delay a refresh, and stays throttled after one', () =>
      withTestbed({}, async (testbed) => {
        const tokens = (await logInFrom(testbed, attackerAddress, administrator)).json<LoginResponse>();
        await failOnAnotherNode(testbed, attackerAddress, repeatAdmin(50));
        await failOnAnotherNode(testbed, '127.0.0.1', repeatAdmin(50));
        assert.equal((await testbed.refresh(tokens)).status, 200);
        assert.equal((await logInFrom(testbed, attackerAddress, administrator)).status, 429);
        assert.equal((await testbed.post('/login', administrator)).status, 429);
      }));

    test('no longer counts after 15 minutes, when its rows are purged', () =>
      withTestbed({}, async (testbed) => {
        await failOnAnotherNode(testbed, attackerAddress, repeatAdmin(50));
        testbed.clock.advanceSeconds(15 * 60 - 0.001);
        await failOnAnotherNode(testbed, otherAddress, ['anna']);
        await testbed.purge();
        assert.equal((await readDigests(testbed.database.url)).length, 4);
        testbed.clock.advanceSeconds(0.001);
        await testbed.purge();
        assert.equal((await readDigests(testbed.database.url)).length, 2);
        await failOnAnotherNode(testbed, attackerAddress, repeatAdmin(49));
        assert.equal((await logInFrom(testbed, attackerAddress, wrongCredentials)).status, 401);
        assert.equal((await logInFrom(testbed, attackerAddress, wrongCredentials)).status, 429);
      }));

    test('leaves no rows after one purge, even if it needs several batches', () =>
      withTestbed({}, async (testbed) => {
        await withDatabase(testbed.database.url, (database) =>
          database.transaction((transaction) => {
            const now = testbed.clock.now();
            const each = names(2_500).map((name) => ({
              digest: Buffer.from(name),
              now,
              expiresAt: now + 15 * 60_000,
            }));
            return transaction.runEach(insertFailure, each);
          }),
        );
        testbed.clock.advanceSeconds(15 * 60);
        await testbed.purge();
        assert.deepEqual(await readDigests(testbed.database.url), []);
      }));

    test('is still counted after a restart', async () => {
      const database = await kind.create();
      const clock = new TestClock();
      await withTestbed({ database, clock }, async (testbed) => {
        await failOnAnotherNode(testbed, attackerAddress, repeatAdmin(49));
        assert.equal((await logInFrom(testbed, attackerAddress, wrongCredentials)).status, 401);
      });
      await withTestbed({ database, clock }, async (testbed) => {
        assert.equal((await logInFrom(testbed, attackerAddress, administrator)).status, 429);
      });
      await database.remove();
    });

    test('is not throttled if ESPALIER_LOGIN_THROTTLE is off', () =>
      withTestbed({ settings: { ...behindProxy, LOGIN_THROTTLE: 'off' } }, async (testbed) => {
        await failOnAnotherNode(testbed, attackerAddress, repeatAdmin(50));
        assert.equal((await logInFrom(testbed, attackerAddress, wrongCredentials)).status, 401);
        assert.equal((await logInFrom(testbed, attackerAddress, administrator)).status, 200);
      }));

    test('is stored as digests without names and addresses', () =>
      withTestbed({}, async (testbed) => {
        assert.equal(
          (await logInFrom(testbed, attackerAddress, { ...wrongCredentials, username: 'my secret' })).status,
          401,
        );
        const digests = await readDigests(testbed.database.url);
        assert.deepEqual(
          digests.map(({ digest }) => digest.length),
          [32, 32],
        );
      }));

    test('is checked with one read, which is the only one of a throttled login', async () => {
      const statements: string[] = [];
      const onStatement = (text: string) => void statements.push(text.trim().replace(/\s+/g, ' '));
      await withTestbed({ onStatement }, async (testbed) => {
        const loginStatements = async (guess: Credentials) => {
          await testbed.logIn();
          statements.length = 0;
          const { status } = await logInFrom(testbed, attackerAddress, guess);
          const counting = statements.filter((text) => text.includes('login_failures'));
          return { status, verbs: counting.map((text) => text.slice(0, 6)) };
        };
        const good = await loginStatements(administrator);
        assert.deepEqual(good, { status: 200, verbs: ['select'] });
        const bad = await loginStatements(wrongCredentials);
        // One statement updates both counts. SQLite reports it once.
        assert.deepEqual(
          { ...bad, verbs: [...new Set(bad.verbs)] },
          { status: 401, verbs: ['select', 'insert'] },
        );
        await failOnAnotherNode(testbed, attackerAddress, repeatAdmin(49));
        const refused = await loginStatements(administrator);
        assert.deepEqual(refused, { status: 429, verbs: ['select'] });
        assert.equal(statements.length, 1, 'no user is looked up');
      });
    });

    test('is also throttled if it guesses the old password of a password change', () =>
      withTestbed({}, async (testbed) => {
        const stolen = await testbed.logIn();
        const own = await testbed.logIn();
        const change = async (oldPassword: string, { authToken }: LoginResponse) => {
          const query =
            'mutation($input: ChangePasswordInput!){changePassword(input: $input){endedSessions}}';
          const input = { oldPassword, newPassword: 'walnut cabin 72' };
          return (await testbed.query(query, authToken, { input })).json<GraphBody<unknown>>().errors?.[0];
        };
        for (let index = 0; index < 50; index++) {
          assert.equal((await change('walnut cellar', stolen))?.extensions.code, 'FORBIDDEN');
        }
        const { extensions } = withoutRequestId((await change(administrator.password, stolen))!);
        assert.deepEqual(extensions, { code: 'UNAVAILABLE', retryAfterSeconds: 1 });
        assert.equal((await testbed.post('/login', administrator)).status, 200);
        assert.equal(await change(administrator.password, own), undefined);
      }));
  });
}

const insertFailure = sql<{ digest: Uint8Array; now: number; expiresAt: number }>`
  insert into login_failures (digest, failures, started_at, failed_at, expires_at)
  values (${'digest'}, 1, ${'now'}, ${'now'}, ${'expiresAt'})`;
