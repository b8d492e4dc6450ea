/** Whoever guesses passwords is slowed down, on all nodes together, and nobody else is. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { sql } from '../server/src/database/statement.ts';
import { storedIssuer } from '../server/src/first-start.ts';
import { createLoginThrottle } from '../server/src/sessions/login-throttle.ts';
import { databaseKinds } from './databases.ts';
import type { GraphBody } from './graph-bed.ts';
import { withDatabase } from './stored-rows.ts';
import { administrator, problemOf, Testbed, TestClock, type Answer, type TestbedOptions } from './testbed.ts';

interface Guess {
  readonly username: string;
  readonly password: string;
}

const wrong: Guess = { username: administrator.username, password: 'walnut cellar' };
const here = '192.0.2.1';
const elsewhere = '198.51.100.7';
const behindProxy = { TRUST_PROXY: 'true' };

const logInFrom = (bed: Testbed, address: string, guess: Guess): Promise<Answer> =>
  bed.postRaw('/login', JSON.stringify(guess), {
    'content-type': 'application/json',
    'x-forwarded-for': address,
  });

/** As if another node had seen these names fail, without the time that it takes to hash. */
async function failOnAnotherNode(bed: Testbed, address: string, usernames: readonly string[]): Promise<void> {
  await withDatabase(bed.database.url, async (database) => {
    const installation = await storedIssuer(database);
    const throttle = createLoginThrottle({ database, clock: bed.clock, installation, isOn: true });
    for (const username of usernames) {
      await throttle.attempt({ username, address }, () => Promise.resolve(undefined));
    }
  });
}
const names = (count: number) => Array.from({ length: count }, (_, place) => `name ${place}`);
const timesAdmin = (count: number) => Array<string>(count).fill(administrator.username);

function tally(answers: readonly Answer[]): Record<string, number> {
  const byStatus = Map.groupBy(answers, ({ status }) => status);
  return Object.fromEntries([...byStatus].map(([status, { length }]) => [status, length]));
}

const rows = sql<object, { digest: Uint8Array }>`select digest from login_failures`;
const readDigests = (url: string) => withDatabase(url, async (database) => database.all(rows, {}));

for (const kind of databaseKinds) {
  const withBed = async (options: TestbedOptions, work: (bed: Testbed) => Promise<void>) => {
    const bed = await Testbed.start(kind, { settings: behindProxy, ...options });
    try {
      await work(bed);
    } finally {
      await bed.stop();
    }
  };
  /** Two nodes of one installation. */
  const withTwo = async (work: (one: Testbed, two: Testbed) => Promise<void>) => {
    const database = await kind.create();
    const clock = new TestClock();
    await withBed({ database, clock }, (one) => withBed({ database, clock }, (two) => work(one, two)));
    await database.remove();
  };

  describe(`guessing passwords on ${kind.name}`, () => {
    test('50 wrong ones are 401; then there is a pause with 429, for the right one too, and one attempt after it', () =>
      withBed({}, async (bed) => {
        for (let place = 0; place < 50; place++) {
          const answer = await logInFrom(bed, here, wrong);
          assert.equal(answer.status, 401);
          assert.equal(answer.headers.get('retry-after'), null);
        }
        const refused = await logInFrom(bed, here, wrong);
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

        assert.equal((await logInFrom(bed, here, administrator)).status, 429);
        bed.clock.advanceSeconds(0.999);
        assert.equal((await logInFrom(bed, here, administrator)).status, 429);
        bed.clock.advanceSeconds(0.001);
        assert.equal((await logInFrom(bed, here, wrong)).status, 401);
        const longer = await logInFrom(bed, here, wrong);
        assert.equal(longer.status, 429);
        assert.equal(longer.headers.get('retry-after'), '2');
        bed.clock.advanceSeconds(2);
        assert.equal((await logInFrom(bed, here, administrator)).status, 200);
        for (let place = 0; place < 3; place++) {
          assert.equal((await logInFrom(bed, here, wrong)).status, 401, 'a right one makes all forgotten');
        }
      }));

    test('unknown and known names get the same answers', () =>
      withBed({}, async (bed) => {
        const shapes = async (username: string) => {
          await failOnAnotherNode(bed, here, Array<string>(49).fill(username));
          const answers = [];
          for (let place = 0; place < 2; place++) {
            const answer = await logInFrom(bed, here, { ...wrong, username });
            const { requestId, ...problem } = problemOf(answer);
            assert.match(requestId, /./);
            const headers: Record<string, string> = Object.fromEntries(answer.headers);
            delete headers['date'];
            answers.push({ status: answer.status, headers, problem });
          }
          return answers;
        };
        const known = await shapes(administrator.username);
        assert.deepEqual(
          known.map(({ status }) => status),
          [401, 429],
        );
        assert.deepEqual(await shapes('nobody'), known);
      }));

    test('nobody else is kept out: not the same user elsewhere, nor another user here', () =>
      withBed({}, async (bed) => {
        await failOnAnotherNode(bed, here, timesAdmin(50));
        assert.equal((await logInFrom(bed, here, administrator)).status, 429);
        assert.equal((await logInFrom(bed, elsewhere, administrator)).status, 200);
        assert.equal((await logInFrom(bed, here, { ...wrong, username: 'anna' })).status, 401);
        assert.equal((await logInFrom(bed, here, administrator)).status, 429, 'not cleared from elsewhere');
      }));

    test('an IPv6 client is its /64; an IPv4 address is itself, however it is written', () =>
      withBed({}, async (bed) => {
        await failOnAnotherNode(bed, '2001:db8:1:2::1', timesAdmin(50));
        await failOnAnotherNode(bed, '::ffff:192.0.2.1', timesAdmin(50));
        const statusFrom = async (address: string) => (await logInFrom(bed, address, administrator)).status;
        assert.equal(await statusFrom('2001:db8:1:2:aaaa:bbbb:cccc:dddd'), 429);
        assert.equal(await statusFrom('2001:db8:1:3::1'), 200);
        assert.equal(await statusFrom('192.0.2.1'), 429);
        assert.equal(await statusFrom('::ffff:192.0.2.2'), 200);
      }));

    test('500 failures over many names slow down the address; a right login neither counts nor clears', () =>
      withBed({}, async (bed) => {
        await failOnAnotherNode(bed, here, names(499));
        assert.equal((await logInFrom(bed, here, administrator)).status, 200);
        assert.equal((await logInFrom(bed, here, { ...wrong, username: 'anna' })).status, 401);
        assert.equal((await logInFrom(bed, here, administrator)).status, 429);
        assert.equal((await logInFrom(bed, elsewhere, administrator)).status, 200);
        bed.clock.advanceSeconds(1);
        assert.equal((await logInFrom(bed, here, administrator)).status, 200);
        assert.equal((await logInFrom(bed, here, administrator)).status, 200, 'no pause after a right one');
        assert.equal((await logInFrom(bed, here, { ...wrong, username: 'bert' })).status, 401);
        const refused = await logInFrom(bed, here, administrator);
        assert.equal(refused.headers.get('retry-after'), '2');
      }));

    test('nodes count together, and after the pause only one of them lets somebody in', () =>
      withTwo(async (one, two) => {
        for (let place = 0; place < 50; place++) {
          assert.equal((await logInFrom(place % 2 ? one : two, here, wrong)).status, 401);
        }
        assert.equal((await logInFrom(one, here, wrong)).status, 429);
        assert.equal((await logInFrom(two, here, wrong)).status, 429);
        one.clock.advanceSeconds(1);
        const racing = Array.from({ length: 40 }, (_, place) =>
          logInFrom(place % 2 ? one : two, here, wrong),
        );
        assert.deepEqual(tally(await Promise.all(racing)), { 401: 1, 429: 39 });
        one.clock.advanceSeconds(2);
        assert.equal((await logInFrom(two, here, administrator)).status, 200);
        assert.equal((await logInFrom(one, here, administrator)).status, 200);
      }));

    test('200 wrong ones at once get no further than one after the other', () =>
      withBed({}, async (bed) => {
        const guesses = Array.from({ length: 200 }, () => logInFrom(bed, here, wrong));
        assert.deepEqual(tally(await Promise.all(guesses)), { 401: 50, 429: 150 });
        bed.clock.advanceSeconds(1);
        const more = Array.from({ length: 200 }, () => logInFrom(bed, here, wrong));
        assert.deepEqual(tally(await Promise.all(more)), { 401: 1, 429: 199 });
      }));

    test('more than 500 at once are shed with 503 and told when to come back, and everybody else is served', () =>
      withBed({ hashesAtFullCost: true }, async (bed) => {
        const { authToken } = (await logInFrom(bed, elsewhere, administrator)).json<LoginResponse>();
        const guesses = Array.from({ length: 600 }, () => logInFrom(bed, here, wrong));
        assert.equal((await bed.query('{folder{name}}', authToken)).status, 200);
        assert.equal((await logInFrom(bed, elsewhere, administrator)).status, 200);
        const answers = await Promise.all(guesses);
        const { 401: wrongOnes, 429: later, 503: shedOnes, ...others } = tally(answers);
        assert.deepEqual({ wrongOnes, others }, { wrongOnes: 50, others: {} });
        // Those who have been answered have made room for others.
        assert.ok(later! <= 500 && shedOnes! > 0, JSON.stringify(tally(answers)));
        const shed = answers.find(({ status }) => status === 503)!;
        assert.equal(shed.headers.get('retry-after'), '5');
        assert.equal(problemOf(shed).code, 'UNAVAILABLE');
      }));

    test('200 right ones at once all succeed, while another address is slowed down', () =>
      withBed({}, async (bed) => {
        await failOnAnotherNode(bed, elsewhere, timesAdmin(50));
        const logins = Array.from({ length: 200 }, () => logInFrom(bed, here, administrator));
        assert.equal((await logInFrom(bed, elsewhere, administrator)).status, 429);
        assert.deepEqual(tally(await Promise.all(logins)), { 200: 200 });
      }));

    test('malformed bodies do not count', () =>
      withBed({}, async (bed) => {
        await failOnAnotherNode(bed, here, timesAdmin(49));
        for (const body of ['', '{', '[]', '{"username":"admin"}', '{"username":"admin","password":1}']) {
          const headers = { 'content-type': 'application/json', 'x-forwarded-for': here };
          assert.equal((await bed.postRaw('/login', body, headers)).status, 400);
        }
        assert.equal((await logInFrom(bed, here, wrong)).status, 401);
        assert.equal((await logInFrom(bed, here, wrong)).status, 429);
      }));

    test('a refresh clears nothing, and is not slowed down', () =>
      withBed({}, async (bed) => {
        const pair = (await logInFrom(bed, here, administrator)).json<LoginResponse>();
        await failOnAnotherNode(bed, here, timesAdmin(50));
        await failOnAnotherNode(bed, '127.0.0.1', timesAdmin(50));
        assert.equal((await bed.refresh(pair)).status, 200);
        assert.equal((await logInFrom(bed, here, administrator)).status, 429);
        assert.equal((await bed.post('/login', administrator)).status, 429);
      }));

    test('after 15 minutes all is forgotten, and then the rows go, too', () =>
      withBed({}, async (bed) => {
        await failOnAnotherNode(bed, here, timesAdmin(50));
        bed.clock.advanceSeconds(15 * 60 - 0.001);
        await failOnAnotherNode(bed, elsewhere, ['anna']);
        await bed.sweep();
        assert.equal((await readDigests(bed.database.url)).length, 4);
        bed.clock.advanceSeconds(0.001);
        await bed.sweep();
        assert.equal((await readDigests(bed.database.url)).length, 2);
        await failOnAnotherNode(bed, here, timesAdmin(49));
        assert.equal((await logInFrom(bed, here, wrong)).status, 401);
        assert.equal((await logInFrom(bed, here, wrong)).status, 429);
      }));

    test('rows beyond a batch are swept in one go', () =>
      withBed({}, async (bed) => {
        await withDatabase(bed.database.url, (database) =>
          database.transaction((transaction) => {
            const each = names(2_500).map((name) => ({ digest: Buffer.from(name), now: bed.clock.now() }));
            return transaction.runEach(plant, each);
          }),
        );
        bed.clock.advanceSeconds(15 * 60);
        await bed.sweep();
        assert.deepEqual(await readDigests(bed.database.url), []);
      }));

    test('a restart forgets nothing', async () => {
      const database = await kind.create();
      const clock = new TestClock();
      await withBed({ database, clock }, async (bed) => {
        await failOnAnotherNode(bed, here, timesAdmin(49));
        assert.equal((await logInFrom(bed, here, wrong)).status, 401);
      });
      await withBed({ database, clock }, async (bed) => {
        assert.equal((await logInFrom(bed, here, administrator)).status, 429);
      });
      await database.remove();
    });

    test('a setting turns it off', () =>
      withBed({ settings: { ...behindProxy, LOGIN_THROTTLE: 'off' } }, async (bed) => {
        await failOnAnotherNode(bed, here, timesAdmin(50));
        assert.equal((await logInFrom(bed, here, wrong)).status, 401);
        assert.equal((await logInFrom(bed, here, administrator)).status, 200);
      }));

    test('neither names nor addresses are kept, only digests', () =>
      withBed({}, async (bed) => {
        assert.equal((await logInFrom(bed, here, { ...wrong, username: 'my secret' })).status, 401);
        const digests = await readDigests(bed.database.url);
        assert.deepEqual(
          digests.map(({ digest }) => digest.length),
          [32, 32],
        );
      }));

    test('a right login costs one read more, and a refused one nothing but that read', async () => {
      const statements: string[] = [];
      const onStatement = (text: string) => void statements.push(text.trim().replace(/\s+/g, ' '));
      await withBed({ onStatement }, async (bed) => {
        const during = async (guess: Guess) => {
          await bed.logIn();
          statements.length = 0;
          const { status } = await logInFrom(bed, here, guess);
          const counting = statements.filter((text) => text.includes('login_failures'));
          return { status, verbs: counting.map((text) => text.slice(0, 6)) };
        };
        const good = await during(administrator);
        assert.deepEqual(good, { status: 200, verbs: ['select'] });
        const bad = await during(wrong);
        // One statement for both counts, which SQLite tells of once.
        assert.deepEqual(
          { ...bad, verbs: [...new Set(bad.verbs)] },
          { status: 401, verbs: ['select', 'insert'] },
        );
        await failOnAnotherNode(bed, here, timesAdmin(49));
        const refused = await during(administrator);
        assert.deepEqual(refused, { status: 429, verbs: ['select'] });
        assert.equal(statements.length, 1, 'nobody is looked up');
      });
    });

    test('the old password is not to be guessed either, when a password is changed', () =>
      withBed({}, async (bed) => {
        const stolen = await bed.logIn();
        const own = await bed.logIn();
        const change = async (oldPassword: string, { authToken }: LoginResponse) => {
          const query =
            'mutation($input: ChangePasswordInput!){changePassword(input: $input){endedSessions}}';
          const input = { oldPassword, newPassword: 'walnut cabin 72' };
          return (await bed.query(query, authToken, { input })).json<GraphBody<unknown>>().errors?.[0];
        };
        for (let place = 0; place < 50; place++) {
          assert.equal((await change('walnut cellar', stolen))?.extensions.code, 'FORBIDDEN');
        }
        const { extensions } = (await change(administrator.password, stolen))!;
        assert.deepEqual(extensions, { code: 'UNAVAILABLE', retryAfterSeconds: 1 });
        assert.equal((await bed.post('/login', administrator)).status, 200);
        assert.equal(await change(administrator.password, own), undefined);
      }));
  });
}

const plant = sql<{ digest: Uint8Array; now: number }>`
  insert into login_failures (digest, failures, started_at, failed_at)
  values (${'digest'}, 1, ${'now'}, ${'now'})`;
