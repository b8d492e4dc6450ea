/** The lifetime of signing keys: automatic rotation, and removal when no session needs them. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { KeySet, LoginResponse } from '@espalier/contract';
import { databaseKinds, type TestDatabase } from '../support/databases.ts';
import { readPrivateKeys } from '../support/stored-rows.ts';
import { Testbed } from '../support/testbed.ts';
import { readKeyId } from './key-id.ts';

const daySeconds = 86_400;
const publishingSeconds = 300;

for (const kind of databaseKinds) {
  describe(`a signing key on ${kind.name}`, () => {
    let database: TestDatabase;
    let testbed: Testbed;
    before(async () => (database = await kind.create()));
    afterEach(() => testbed.stop());
    after(() => database.remove());

    const start = async (settings: Record<string, string> = {}) => {
      const clock = testbed?.clock;
      testbed = await Testbed.start(kind, { database, settings, ...(clock && { clock }) });
    };
    const advance = async (days: number) => {
      testbed.clock.advanceSeconds(days * daySeconds);
      await testbed.purge();
    };
    const readPublishedKeys = async () =>
      (await testbed.send('GET', '/.well-known/jwks.json')).json<KeySet>().keys.map(({ kid }) => kid);
    const refresh = async (tokens: LoginResponse) => (await testbed.refresh(tokens)).json<LoginResponse>();

    test('is replaced after 90 days by a key that signs five minutes after its publication', async () => {
      await start();
      let tokens = await testbed.logIn();
      const old = readKeyId(tokens);
      await advance(45);
      tokens = await refresh(tokens);
      await advance(44.9);
      assert.deepEqual(await readPublishedKeys(), [old]);
      await advance(0.1);
      const [next, ...others] = await readPublishedKeys();
      assert.deepEqual(others, [old]);
      testbed.clock.advanceSeconds(publishingSeconds - 1);
      assert.equal(readKeyId((tokens = await refresh(tokens))), old);
      testbed.clock.advanceSeconds(1);
      assert.equal((await testbed.query('{folder{name}}', tokens.authToken)).status, 200);
      assert.equal(readKeyId(await refresh(tokens)), next);
      await testbed.purge();
      assert.equal((await readPublishedKeys()).length, 2);
    });

    test('is removed exactly when no session needs it', async () => {
      await start({ KEY_ROTATION_DAYS: '0', REFRESH_TOKEN_SECONDS: String(10 * daySeconds) });
      const [next, old] = await readPublishedKeys();
      // The session of the previous test is the only one; its refresh token is valid for 60 days.
      await advance(59.9);
      assert.deepEqual(await readPublishedKeys(), [next, old]);
      await advance(0.2);
      assert.deepEqual(await readPublishedKeys(), [next]);
      assert.equal((await readPrivateKeys(database.url)).length, 1);
    });

    test('is never replaced if ESPALIER_KEY_ROTATION_DAYS is 0', async () => {
      await start({ KEY_ROTATION_DAYS: '0' });
      const before = await readPublishedKeys();
      await advance(4_000);
      assert.deepEqual(await readPublishedKeys(), before);
    });

    test('is replaced only once if two nodes rotate it at the same time', async () => {
      await start();
      const other = await Testbed.start(kind, { database, clock: testbed.clock });
      try {
        const before = await readPublishedKeys();
        await Promise.all([testbed.purge(), other.purge()]);
        assert.equal((await readPublishedKeys()).length, before.length + 1);
      } finally {
        await other.stop();
      }
    });
  });
}
