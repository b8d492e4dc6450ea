/**
 * Rotates a signing key while two nodes with different clocks serve requests. No request may fail because of
 * the rotation.
 */

import assert from 'node:assert/strict';
import { sign } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { runChange } from '../../server/src/journal/journal.ts';
import { rotateSigningKey } from '../../server/src/sessions/manage-signing-keys.ts';
import { KeyEncryption } from '../../server/src/sessions/signing-keys.ts';
import { publicationMs } from '../../server/src/sessions/signing-keys.ts';
import { readKeyId } from './key-id.ts';
import { databaseKinds, type TestDatabase } from '../support/databases.ts';
import { readPrivateKeys, withDatabase } from '../support/stored-rows.ts';
import { Testbed, TestClock } from '../support/testbed.ts';

/** How far the clock of the second node is ahead. */
const aheadSeconds = 20;
const publicationSeconds = publicationMs / 1000;

for (const kind of databaseKinds) {
  describe(`signing keys on ${kind.name}`, () => {
    let database: TestDatabase;
    let firstNode: Testbed;
    let secondNode: Testbed;

    before(async () => {
      database = await kind.create();
      firstNode = await Testbed.start(kind, { database, purgesByTimer: true });
      const clock = new TestClock();
      clock.advanceSeconds(aheadSeconds);
      secondNode = await Testbed.start(kind, { database, clock, purgesByTimer: true });
    });
    after(async () => {
      await secondNode.stop();
      await firstNode.stop();
      await database.remove();
    });

    const rotate = () =>
      withDatabase(database.url, (opened) =>
        runChange(opened, (transaction) =>
          rotateSigningKey(transaction, {
            encryption: new KeyEncryption(undefined),
            now: firstNode.clock.now(),
          }),
        ),
      );
    const advance = (seconds: number) =>
      [firstNode, secondNode].forEach(({ clock }) => clock.advanceSeconds(seconds));
    /** Runs the work of the timers. */
    const purge = () => Promise.all([firstNode.purge(), secondNode.purge()]);
    const isAccepted = async (testbed: Testbed, { authToken }: LoginResponse) =>
      (await testbed.query('{folder{name}}', authToken)).status === 200 &&
      (await testbed.post('/login/verify', { authToken })).status === 204;
    const refresh = async (testbed: Testbed, tokens: LoginResponse) => {
      const response = await testbed.refresh(tokens);
      assert.equal(response.status, 200);
      return response.json<LoginResponse>();
    };

    test('are replaced on each node by its own clock, while both nodes accept both keys', async () => {
      const before = await firstNode.logIn();
      let firstNodeTokens = await firstNode.logIn();
      let secondNodeTokens = await secondNode.logIn();
      const old = readKeyId(before);
      assert.equal(readKeyId(secondNodeTokens), old);
      const { id: next, signsFrom } = await rotate();
      assert.notEqual(next, old);
      await purge();
      const seen = new Set<string>();
      for (let step = 0; step < 40; step++) {
        // The node that refreshes a session alternates.
        const [first, second] = step % 2 ? [firstNode, secondNode] : [secondNode, firstNode];
        firstNodeTokens = await refresh(first, firstNodeTokens);
        secondNodeTokens = await refresh(second, secondNodeTokens);
        for (const [testbed, tokens] of [
          [first, firstNodeTokens],
          [second, secondNodeTokens],
        ] as const) {
          const expected = testbed.clock.now() < signsFrom ? old : next;
          assert.equal(readKeyId(tokens), expected, `step ${step}`);
          seen.add(
            `${testbed === firstNode ? 'first' : 'second'} node, ${expected === old ? 'old' : 'new'} key`,
          );
          assert.ok(await isAccepted(firstNode, tokens), `step ${step}, first node`);
          assert.ok(await isAccepted(secondNode, tokens), `step ${step}, second node`);
        }
        assert.ok(await isAccepted(firstNode, before));
        advance(10);
      }
      assert.equal(seen.size, 4);

      // The token of the old key is valid until it expires, and can be refreshed after that.
      firstNode.clock.advanceSeconds(199);
      assert.ok(await isAccepted(firstNode, before));
      firstNode.clock.advanceSeconds(1);
      assert.equal(
        (await firstNode.query('{folder{name}}', before.authToken)).headers.get('token-expired'),
        'true',
      );
      assert.equal(readKeyId(await refresh(firstNode, before)), next);
      secondNode.clock.advanceSeconds(200);
    });

    test('work on a node that starts before or after the next key becomes active', async () => {
      const old = readKeyId(await firstNode.logIn());
      const { id: next } = await rotate();
      await purge();
      const { clock } = secondNode;
      const during = await Testbed.start(kind, { database, clock });
      const early = await during.logIn();
      assert.equal(readKeyId(early), old);
      advance(publicationSeconds);
      const later = await Testbed.start(kind, { database, clock });
      for (const testbed of [firstNode, secondNode, during, later]) {
        const tokens = await testbed.logIn();
        assert.equal(readKeyId(tokens), next);
        for (const other of [firstNode, secondNode, during, later])
          assert.ok(await isAccepted(other, tokens));
        assert.ok(await isAccepted(testbed, early));
      }
      await later.stop();
      await during.stop();
    });

    test('are read again as soon as a token arrives that an unknown key signed', async () => {
      const { id: next } = await rotate();
      advance(publicationSeconds);
      await firstNode.purge();
      const tokens = await firstNode.logIn();
      assert.equal(readKeyId(tokens), next);
      const start = performance.now();
      while (!(await isAccepted(secondNode, tokens)))
        assert.ok(performance.now() - start < 2_500, 'never accepted');
    });

    test('are read by each node every few seconds', async () => {
      const { id: next } = await rotate();
      advance(publicationSeconds);
      const start = performance.now();
      for (
        let tokens = await secondNode.logIn();
        readKeyId(tokens) !== next;
        tokens = await refresh(secondNode, tokens)
      ) {
        assert.ok(performance.now() - start < 10_000, 'never signed with the new key');
      }
    });

    test('cannot forge tokens after a rotation, for example if they come from an old backup', async () => {
      await purge();
      const tokens = await firstNode.logIn();
      // The newest key is first.
      const [stolen] = await readPrivateKeys(database.url);
      const forgeToken = () => {
        const [header, payload] = tokens.authToken.split('.') as [string, string];
        const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
        const iat = firstNode.clock.now() / 1000;
        const text = JSON.stringify({ ...claims, iat, nbf: Math.floor(iat), exp: iat + 600 });
        const signed = `${header}.${Buffer.from(text).toString('base64url')}`;
        return {
          ...tokens,
          authToken: `${signed}.${sign(null, Buffer.from(signed), stolen!).toString('base64url')}`,
        };
      };
      assert.ok(await isAccepted(firstNode, forgeToken()));
      await rotate();
      await purge();
      advance(publicationSeconds + 61);
      for (const testbed of [firstNode, secondNode]) {
        const token = forgeToken();
        const response = await testbed.query('{folder{name}}', token.authToken);
        assert.equal(response.status, 401);
        assert.equal(response.headers.get('token-expired'), null);
        assert.equal((await testbed.post('/login/verify', token)).status, 400);
        assert.equal((await testbed.refresh(token)).status, 401);
      }
      assert.ok(await isAccepted(secondNode, tokens));
      assert.equal((await firstNode.refresh(tokens)).status, 200);
    });

    test('verify valid tokens while many tokens with unknown keys arrive', async () => {
      const tokens = await firstNode.logIn();
      const [header, ...rest] = tokens.authToken.split('.');
      const unknownKeyTokens = Array.from({ length: 200 }, (_, index) => {
        const kid = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
        const text = Buffer.from(header!, 'base64url').toString().replace(readKeyId(tokens), kid);
        return [Buffer.from(text).toString('base64url'), ...rest].join('.');
      });
      const responses = await Promise.all(
        unknownKeyTokens.map((token) => firstNode.query('{folder{name}}', token)),
      );
      assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([401]));
      assert.ok(await isAccepted(firstNode, tokens));
    });
  });
}
