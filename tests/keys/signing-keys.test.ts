/** A signing key is rotated while two nodes with different clocks serve: nobody notices, at any moment. */

import assert from 'node:assert/strict';
import { sign } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { changeInTurn } from '../../server/src/journal/journal.ts';
import { rotateSigningKey } from '../../server/src/sessions/change-keys.ts';
import { createKeyEncryption } from '../../server/src/sessions/key-encryption.ts';
import { publishingMs } from '../../server/src/sessions/signing-keys.ts';
import { keyOf } from './key-of.ts';
import { databaseKinds, type TestDatabase } from '../support/databases.ts';
import { readPrivateKeys, withDatabase } from '../support/stored-rows.ts';
import { Testbed, TestClock } from '../support/testbed.ts';

/** How far the clock there is ahead of the clock here. */
const aheadSeconds = 20;
const publishingSeconds = publishingMs / 1000;

for (const kind of databaseKinds) {
  describe(`signing keys on ${kind.name}`, () => {
    let database: TestDatabase;
    let here: Testbed;
    let there: Testbed;

    before(async () => {
      database = await kind.create();
      here = await Testbed.start(kind, { database, purgesByTimer: true });
      const clock = new TestClock();
      clock.advanceSeconds(aheadSeconds);
      there = await Testbed.start(kind, { database, clock, purgesByTimer: true });
    });
    after(async () => {
      await there.stop();
      await here.stop();
      await database.remove();
    });

    const rotate = () =>
      withDatabase(database.url, (opened) =>
        changeInTurn(opened, (transaction) =>
          rotateSigningKey(transaction, { seal: createKeyEncryption(undefined), now: here.clock.now() }),
        ),
      );
    const pass = (seconds: number) => [here, there].forEach(({ clock }) => clock.advanceSeconds(seconds));
    /** What timers do. */
    const sweep = () => Promise.all([here.purge(), there.purge()]);
    const isAccepted = async (bed: Testbed, { authToken }: LoginResponse) =>
      (await bed.query('{folder{name}}', authToken)).status === 200 &&
      (await bed.post('/login/verify', { authToken })).status === 204;
    const refreshed = async (bed: Testbed, pair: LoginResponse) => {
      const answer = await bed.refresh(pair);
      assert.equal(answer.status, 200);
      return answer.json<LoginResponse>();
    };

    test('both nodes sign with the old key until its time is over, then with the new one; each accepts both', async () => {
      const before = await here.logIn();
      let ofHere = await here.logIn();
      let ofThere = await there.logIn();
      const old = keyOf(before);
      assert.equal(keyOf(ofThere), old);
      const { id: next, signsFrom } = await rotate();
      assert.notEqual(next, old);
      await sweep();
      const seen = new Set<string>();
      for (let step = 0; step < 40; step++) {
        // Each pair is exchanged at the other node than the last time.
        const [first, second] = step % 2 ? [here, there] : [there, here];
        ofHere = await refreshed(first, ofHere);
        ofThere = await refreshed(second, ofThere);
        for (const [bed, pair] of [
          [first, ofHere],
          [second, ofThere],
        ] as const) {
          const expected = bed.clock.now() < signsFrom ? old : next;
          assert.equal(keyOf(pair), expected, `step ${step}`);
          seen.add(`${bed === here ? 'here' : 'there'} ${expected === old ? 'old' : 'new'}`);
          assert.ok(await isAccepted(here, pair), `step ${step}, here`);
          assert.ok(await isAccepted(there, pair), `step ${step}, there`);
        }
        assert.ok(await isAccepted(here, before));
        pass(10);
      }
      assert.equal(seen.size, 4);

      // The token of the old key is good until it expires, and refreshes after that.
      here.clock.advanceSeconds(199);
      assert.ok(await isAccepted(here, before));
      here.clock.advanceSeconds(1);
      assert.equal(
        (await here.query('{folder{name}}', before.authToken)).headers.get('token-expired'),
        'true',
      );
      assert.equal(keyOf(await refreshed(here, before)), next);
      there.clock.advanceSeconds(200);
    });

    test('a node that starts while a key is published, and one that starts after, fit in', async () => {
      const old = keyOf(await here.logIn());
      const { id: next } = await rotate();
      await sweep();
      const { clock } = there;
      const during = await Testbed.start(kind, { database, clock });
      const early = await during.logIn();
      assert.equal(keyOf(early), old);
      pass(publishingSeconds);
      const later = await Testbed.start(kind, { database, clock });
      for (const bed of [here, there, during, later]) {
        const pair = await bed.logIn();
        assert.equal(keyOf(pair), next);
        for (const other of [here, there, during, later]) assert.ok(await isAccepted(other, pair));
        assert.ok(await isAccepted(bed, early));
      }
      await later.stop();
      await during.stop();
    });

    test('a node that has missed a key learns of it by the first token that it signed', async () => {
      const { id: next } = await rotate();
      pass(publishingSeconds);
      await here.purge();
      const pair = await here.logIn();
      assert.equal(keyOf(pair), next);
      const start = performance.now();
      while (!(await isAccepted(there, pair))) assert.ok(performance.now() - start < 2_500, 'never accepted');
    });

    test('nodes read the keys by themselves every few seconds', async () => {
      const { id: next } = await rotate();
      pass(publishingSeconds);
      const start = performance.now();
      for (let pair = await there.logIn(); keyOf(pair) !== next; pair = await refreshed(there, pair)) {
        assert.ok(performance.now() - start < 10_000, 'never signed with the new key');
      }
    });

    test('whoever has the private key of before, out of a backup, makes nothing with it that a node takes', async () => {
      await sweep();
      const pair = await here.logIn();
      // The newest first.
      const [stolen] = await readPrivateKeys(database.url);
      const forged = () => {
        const [header, payload] = pair.authToken.split('.') as [string, string];
        const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
        const iat = here.clock.now() / 1000;
        const text = JSON.stringify({ ...claims, iat, nbf: Math.floor(iat), exp: iat + 600 });
        const signed = `${header}.${Buffer.from(text).toString('base64url')}`;
        return {
          ...pair,
          authToken: `${signed}.${sign(null, Buffer.from(signed), stolen!).toString('base64url')}`,
        };
      };
      assert.ok(await isAccepted(here, forged()));
      await rotate();
      await sweep();
      pass(publishingSeconds + 61);
      for (const bed of [here, there]) {
        const token = forged();
        const answer = await bed.query('{folder{name}}', token.authToken);
        assert.equal(answer.status, 401);
        assert.equal(answer.headers.get('token-expired'), null);
        assert.equal((await bed.post('/login/verify', token)).status, 400);
        assert.equal((await bed.refresh(token)).status, 401);
      }
      assert.ok(await isAccepted(there, pair));
      assert.equal((await here.refresh(pair)).status, 200);
    });

    test('however many tokens of keys that do not exist arrive, those that are good are served', async () => {
      const pair = await here.logIn();
      const [header, ...rest] = pair.authToken.split('.');
      const strange = Array.from({ length: 200 }, (_, place) => {
        const kid = `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`;
        const text = Buffer.from(header!, 'base64url').toString().replace(keyOf(pair), kid);
        return [Buffer.from(text).toString('base64url'), ...rest].join('.');
      });
      const answers = await Promise.all(strange.map((token) => here.query('{folder{name}}', token)));
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([401]));
      assert.ok(await isAccepted(here, pair));
    });
  });
}
