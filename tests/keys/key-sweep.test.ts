/** Signing keys over time: they are replaced by themselves, and go when nobody can need them any more. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { KeySet, LoginResponse } from '@espalier/contract';
import { databaseKinds, type TestDatabase } from '../support/databases.ts';
import { readPrivateKeys } from '../support/stored-rows.ts';
import { Testbed } from '../support/testbed.ts';
import { keyOf } from './key-of.ts';

const daySeconds = 86_400;
const publishingSeconds = 300;

for (const kind of databaseKinds) {
  describe(`signing keys over time on ${kind.name}`, () => {
    let database: TestDatabase;
    let bed: Testbed;
    before(async () => (database = await kind.create()));
    afterEach(() => bed.stop());
    after(() => database.remove());

    const start = async (settings: Record<string, string> = {}) => {
      const clock = bed?.clock;
      bed = await Testbed.start(kind, { database, settings, ...(clock && { clock }) });
    };
    const pass = async (days: number) => {
      bed.clock.advanceSeconds(days * daySeconds);
      await bed.purge();
    };
    const shownKeys = async () =>
      (await bed.send('GET', '/.well-known/jwks.json')).json<KeySet>().keys.map(({ kid }) => kid);
    const refreshed = async (pair: LoginResponse) => (await bed.refresh(pair)).json<LoginResponse>();

    test('after 90 days a new key is published, and signs five minutes later; nobody notices', async () => {
      await start();
      let pair = await bed.logIn();
      const old = keyOf(pair);
      await pass(45);
      pair = await refreshed(pair);
      await pass(44.9);
      assert.deepEqual(await shownKeys(), [old]);
      await pass(0.1);
      const [next, ...others] = await shownKeys();
      assert.deepEqual(others, [old]);
      bed.clock.advanceSeconds(publishingSeconds - 1);
      assert.equal(keyOf((pair = await refreshed(pair))), old);
      bed.clock.advanceSeconds(1);
      assert.equal((await bed.query('{folder{name}}', pair.authToken)).status, 200);
      assert.equal(keyOf(await refreshed(pair)), next);
      await bed.purge();
      assert.equal((await shownKeys()).length, 2);
    });

    test('the old key goes when no session can need it, and not a moment before', async () => {
      await start({ KEY_ROTATION_DAYS: '0', REFRESH_TOKEN_SECONDS: String(10 * daySeconds) });
      const [next, old] = await shownKeys();
      // The session of the test before is the only one; its refresh token lives for 60 days.
      await pass(59.9);
      assert.deepEqual(await shownKeys(), [next, old]);
      await pass(0.2);
      assert.deepEqual(await shownKeys(), [next]);
      assert.equal((await readPrivateKeys(database.url)).length, 1);
    });

    test('with 0 days no key is replaced, however old it is', async () => {
      await start({ KEY_ROTATION_DAYS: '0' });
      const before = await shownKeys();
      await pass(4_000);
      assert.deepEqual(await shownKeys(), before);
    });

    test('two nodes that find the same key old make one new key', async () => {
      await start();
      const other = await Testbed.start(kind, { database, clock: bed.clock });
      try {
        const before = await shownKeys();
        await Promise.all([bed.purge(), other.purge()]);
        assert.equal((await shownKeys()).length, before.length + 1);
      } finally {
        await other.stop();
      }
    });
  });
}
