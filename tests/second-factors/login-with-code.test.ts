/** The second step of a login: codes of authenticator apps and recovery codes, their replay, and the throttle. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse, Problem } from '@espalier/contract';
import { databaseKinds } from '../support/databases.ts';
import { Testbed } from '../support/testbed.ts';
import { FactorTestbed, origin } from './factor-testbed.ts';

const count = (outcomes: readonly string[]) =>
  Object.fromEntries([...Map.groupBy(outcomes, (each) => each)].map(([each, { length }]) => [each, length]));

for (const kind of databaseKinds) {
  describe(`a login with a code on ${kind.name}`, () => {
    let factors: FactorTestbed;
    let otherNode: Testbed;
    before(async () => {
      factors = await FactorTestbed.start(kind);
      const { database, clock } = factors.server;
      const settings = { PUBLIC_URL: origin, TRUST_PROXY: 'true' };
      otherNode = await Testbed.start(kind, { database, clock, settings });
    });
    after(async () => {
      await otherNode.stop();
      await factors.stop();
    });

    test('needs the password and a code', async () => {
      const user = await factors.createAppUser();
      const code = factors.nextCode(user);
      assert.equal(await factors.outcome(user), 'SECOND_FACTOR_REQUIRED');
      assert.equal(await factors.outcome(user, null), 'SECOND_FACTOR_REQUIRED');
      assert.equal(await factors.outcome({ ...user, password: 'wrong walnut' }, code), 'INVALID_CREDENTIALS');
      assert.equal(await factors.outcome({ ...user, password: 'wrong walnut' }), 'INVALID_CREDENTIALS');
      assert.equal(await factors.outcome(user, ` ${code.slice(0, 3)} ${code.slice(3)} `), 'SUCCESS');
    });

    test('names the methods of the user, and nothing else', async () => {
      const user = await factors.createAppUser();
      const { status, headers, ...response } = await factors.attempt(user);
      const { requestId, detail, ...problem } = response.json<Problem>();
      assert.equal(status, 401);
      assert.equal(headers.get('www-authenticate'), 'Bearer realm="espalier"');
      assert.match(requestId, /^[\w-]+$/);
      assert.match(detail, /^The password is correct\./);
      assert.deepEqual(problem, {
        type: 'about:blank',
        title: 'Unauthorized',
        status: 401,
        code: 'SECOND_FACTOR_REQUIRED',
        methods: ['TOTP', 'RECOVERY_CODE'],
      });
    });

    test('ignores the code of a user without a second factor, if it is a text', async () => {
      const user = await factors.createUser();
      assert.equal(await factors.outcome(user, '123456'), 'SUCCESS');
      assert.equal(await factors.outcome(user, null), 'SUCCESS');
      for (const code of [123456, ['123456'], {}, true]) {
        assert.equal(await factors.outcome(user, code), 'BAD_INPUT');
      }
    });

    test('accepts a clock that is up to 30 seconds wrong, and no more', async () => {
      const offsets = [-61, -30, 0, 30, 61];
      const outcomes: string[] = [];
      for (const offset of offsets) {
        const user = await factors.createAppUser();
        factors.server.clock.advanceSeconds(120);
        outcomes.push(await factors.outcome(user, factors.code(user, offset)));
      }
      const [wrong, right] = ['WRONG_SECOND_FACTOR', 'SUCCESS'];
      assert.deepEqual(outcomes, [wrong, right, right, right, wrong]);
    });

    test('refuses a code that was used before, also at the enrolment, and older codes', async () => {
      const user = await factors.createAppUser();
      assert.equal(await factors.outcome(user, factors.code(user)), 'WRONG_SECOND_FACTOR');
      const code = factors.nextCode(user);
      assert.equal(await factors.outcome(user, code), 'SUCCESS');
      assert.equal(await factors.outcome(user, code), 'WRONG_SECOND_FACTOR');
      assert.equal(await factors.outcome(user, code, '192.0.2.9', otherNode), 'WRONG_SECOND_FACTOR');
      assert.equal(await factors.outcome(user, factors.code(user, 30)), 'SUCCESS');
      assert.equal(await factors.outcome(user, factors.code(user)), 'WRONG_SECOND_FACTOR');
    });

    test('refuses a code of a login as a proof, and a code of a proof at the login', async () => {
      const user = await factors.createAppUser();
      const code = factors.nextCode(user);
      const { authToken } = (await factors.attempt(user, code)).json<LoginResponse>();
      const input = (used: string) => ({ proof: { code: used } });
      const other = new FactorTestbed(otherNode, factors.authToken);
      const error = await other.mutationError('createRecoveryCodes', input(code), authToken);
      assert.match(error, /^FORBIDDEN: The code is wrong, too old, or was used already/);
      const next = factors.nextCode(user);
      const change = () => factors.mutate('createRecoveryCodes', input(next), 'recoveryCodes', authToken);
      await change();
      assert.equal(await factors.outcome(user, next, '192.0.2.1', otherNode), 'WRONG_SECOND_FACTOR');
      await assert.rejects(change);
      assert.equal(await factors.outcome(user, user.recoveryCodes[0]), 'WRONG_SECOND_FACTOR');
    });

    test('lets one of many concurrent logins with one code succeed, on two nodes', async () => {
      const user = await factors.createAppUser();
      const code = factors.nextCode(user);
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          factors.outcome(user, code, `192.0.2.${index}`, index % 2 ? otherNode : factors.server),
        ),
      );
      assert.deepEqual(count(outcomes), { SUCCESS: 1, WRONG_SECOND_FACTOR: 7 });
    });

    test('accepts each recovery code once, and the count of unused codes is visible', async () => {
      const user = await factors.createAppUser();
      assert.equal(new Set(user.recoveryCodes).size, 10);
      const [first = '', second = ''] = user.recoveryCodes;
      assert.match(first, /^([a-km-np-z2-9]{4}-){3}[a-km-np-z2-9]{4}$/);
      assert.equal(await factors.outcome(user, first), 'SUCCESS');
      assert.equal(await factors.outcome(user, first), 'WRONG_SECOND_FACTOR');
      const outcomes = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          factors.outcome(
            user,
            second.toUpperCase().replaceAll('-', ' '),
            '192.0.2.1',
            index % 2 ? otherNode : factors.server,
          ),
        ),
      );
      assert.deepEqual(count(outcomes), { SUCCESS: 1, WRONG_SECOND_FACTOR: 5 });
      const { authToken } = await factors.logInWithCode(user);
      const query = '{viewer{secondFactor{recoveryCodesLeft}}}';
      const expected = { viewer: { secondFactor: { recoveryCodesLeft: 8 } } };
      assert.deepEqual(await factors.query(query, {}, authToken), expected);
    });

    test('refuses the recovery code of another user', async () => {
      const [anna, bert] = [await factors.createAppUser(), await factors.createAppUser()];
      assert.equal(await factors.outcome(anna, bert.recoveryCodes[0]), 'WRONG_SECOND_FACTOR');
      assert.equal(await factors.outcome(bert, bert.recoveryCodes[0]), 'SUCCESS');
    });

    test('is throttled after ten wrong codes from any address, on all nodes, and not for a wrong password', async () => {
      const user = await factors.createAppUser();
      const outcomes: string[] = [];
      for (let index = 0; index < 12; index++) {
        const node = index % 2 ? otherNode : factors.server;
        outcomes.push(await factors.outcome(user, '000000', `198.51.100.${index}`, node));
      }
      assert.deepEqual(count(outcomes), { WRONG_SECOND_FACTOR: 10, TOO_MANY_ATTEMPTS: 2 });
      const refused = await factors.attempt(user, factors.code(user), '203.0.113.1', otherNode);
      assert.equal(refused.status, 429);
      assert.equal(refused.headers.get('retry-after'), '1');
      assert.match(refused.json<Problem>().detail, /^Too many failed attempts\. Try again in 1 second/);
      // Without a code, the response depends on the password only.
      assert.equal(await factors.outcome(user), 'SECOND_FACTOR_REQUIRED');
      const wrong = { ...user, password: 'wrong walnut' };
      assert.equal(await factors.outcome(wrong, '000000'), 'INVALID_CREDENTIALS');
      factors.server.clock.advanceSeconds(1);
      assert.equal(await factors.outcome(user, factors.code(user, 30)), 'SUCCESS');
      assert.equal(await factors.outcome(user, '000000'), 'WRONG_SECOND_FACTOR');
    });

    test('pauses up to 15 minutes after many wrong codes', async () => {
      const user = await factors.createAppUser();
      for (let index = 0; index < 10; index++) await factors.outcome(user, '000000');
      let guesses = 0;
      for (let second = 0; second < 890; second++) {
        factors.server.clock.advanceSeconds(1);
        if (second > 600) continue;
        const outcome = await factors.outcome(user, '000000', `198.51.100.${second % 200}`);
        if (outcome === 'WRONG_SECOND_FACTOR') guesses++;
      }
      assert.ok(guesses <= 10, String(guesses));
    });

    test('counts wrong codes as failed logins of the user name and address', async () => {
      const user = await factors.createAppUser();
      const address = '203.0.113.77';
      const outcomes: string[] = [];
      for (let index = 0; index < 60; index++) {
        const code = index % 9 === 0 ? factors.nextCode(user) : undefined;
        // Only a success clears the failures; a correct password without a code does not.
        if (code === undefined)
          outcomes.push(await factors.outcome({ ...user, password: 'wrong walnut' }, undefined, address));
        else outcomes.push(await factors.outcome(user, undefined, address));
      }
      assert.equal(count(outcomes)['INVALID_CREDENTIALS'], 50);
      assert.equal(await factors.outcome(user, factors.code(user), address), 'TOO_MANY_ATTEMPTS');
    });

    /** The results of the sign-ins after the enrolment. */
    async function readResults(user: { readonly id: string }): Promise<string[]> {
      await factors.server.purge();
      const query = `query($userId: ID!){signIns(filter: {userId: $userId}){items{result}}}`;
      type SignIns = { signIns: { items: { result: string }[] } };
      const { items } = (await factors.query<SignIns>(query, { userId: user.id })).signIns;
      return items.map(({ result }) => result).toSorted();
    }

    test('is part of the history of sign-ins', async () => {
      const user = await factors.createAppUser();
      await factors.outcome(user);
      await factors.outcome(user, '000000');
      const results = ['SECOND_FACTOR_REQUIRED', 'SUCCESS', 'WRONG_SECOND_FACTOR'];
      assert.deepEqual(await readResults(user), results);
    });

    for (const isStored of [true, false]) {
      test(`replaces its first step in the history, ${isStored ? 'stored' : 'in memory'}`, async () => {
        const user = await factors.createAppUser();
        await factors.outcome(user, undefined, '192.0.2.7');
        await factors.outcome(user, undefined, '192.0.2.8');
        if (isStored) await factors.server.purge();
        assert.equal(await factors.outcome(user, factors.nextCode(user), '192.0.2.8'), 'SUCCESS');
        assert.deepEqual(await readResults(user), ['SECOND_FACTOR_REQUIRED', 'SUCCESS', 'SUCCESS']);
      });
    }

    test('does not replace a first step of 15 minutes before', async () => {
      const user = await factors.createAppUser();
      await factors.outcome(user);
      await factors.server.purge();
      factors.server.clock.advanceSeconds(15 * 60);
      assert.equal(await factors.outcome(user, factors.nextCode(user)), 'SUCCESS');
      assert.deepEqual(await readResults(user), ['SECOND_FACTOR_REQUIRED', 'SUCCESS', 'SUCCESS']);
    });
  });
}
