/** Users set up, replace and remove their own factors, and administrators reset the factors of others. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { EnrolledLoginResponse, EnrolmentResponse, Problem } from '@espalier/contract';
import { administrator } from '../support/testbed.ts';
import { databaseKinds } from '../support/databases.ts';
import { mutation } from '../support/graph-testbed.ts';
import { sql } from '../../server/src/database/statement.ts';
import { disableUser, withDatabase } from '../support/stored-rows.ts';
import { decodeBase32 } from './authenticator-app.ts';
import { FactorTestbed } from './factor-testbed.ts';

const statusQuery =
  '{viewer{secondFactor{isEnrolled isRequired totpSince recoveryCodesLeft passkeys{name} passkeyHost}}}';
const noFactor = {
  isEnrolled: false,
  isRequired: false,
  totpSince: null,
  recoveryCodesLeft: 0,
  passkeys: [],
  passkeyHost: 'tree.example.com',
};
const countFactors = sql<{ userId: string }, object>`
  select (select count(*) from totp_secrets where user_id = ${'userId'}) as secrets,
    (select count(*) from recovery_codes where user_id = ${'userId'}) as codes,
    (select count(*) from passkeys where user_id = ${'userId'}) as passkeys,
    (select count(*) from totp_enrolments where user_id = ${'userId'}) as enrolments`;
const findSecrets = sql<object, { secret: Uint8Array; sealedWith: string | null }>`
  select secret, sealed_with as "sealedWith" from totp_secrets`;

for (const kind of databaseKinds) {
  describe(`an authenticator app on ${kind.name}`, () => {
    let factors: FactorTestbed;
    before(async () => {
      factors = await FactorTestbed.start(kind);
    });
    after(() => factors.stop());

    const start = (authToken: string, proof?: object) =>
      factors.mutate<{ secret: string; uri: string; expiresAt: string }>(
        'startTotpEnrolment',
        { proof },
        'secret uri expiresAt',
        authToken,
      );
    const status = async (authToken: string) =>
      (await factors.query<{ viewer: { secondFactor: object } }>(statusQuery, {}, authToken)).viewer
        .secondFactor;

    test('is set up with a proof and a code, and ends the other sessions', async () => {
      const user = await factors.createUser({ username: 'Anna' });
      const [session, other] = [await factors.logIn(user), await factors.logIn(user)];
      assert.deepEqual(await status(session.authToken), noFactor);
      const { secret, uri, expiresAt } = await start(session.authToken, { password: user.password });
      assert.match(secret, /^[A-Z2-7]{32}$/);
      assert.match(uri, /^otpauth:\/\/totp\/Espalier%20\(tree\.example\.com\):Anna\?/);
      assert.equal(Date.parse(expiresAt), factors.server.clock.now() + 600_000);
      assert.deepEqual(await status(session.authToken), noFactor);
      assert.equal(await factors.outcome(user), 'SUCCESS');
      const confirmed = await factors.confirmApp(decodeBase32(secret), session.authToken);
      assert.equal(confirmed.recoveryCodes?.length, 10);
      assert.equal(confirmed.endedSessions, 2);
      assert.equal((await factors.server.query('{__typename}', other.authToken)).status, 401);
      assert.deepEqual(await status(session.authToken), {
        ...noFactor,
        isEnrolled: true,
        totpSince: new Date(factors.server.clock.now()).toISOString(),
        recoveryCodesLeft: 10,
      });
      assert.equal(await factors.outcome(user), 'SECOND_FACTOR_REQUIRED');
    });

    test('cannot be set up without a correct proof', async () => {
      const user = await factors.createUser();
      const { authToken } = await factors.logIn(user);
      const fail = (proof?: object) => factors.mutationError('startTotpEnrolment', { proof }, authToken);
      assert.match(await fail(), /^BAD_INPUT: Send a `proof`/);
      assert.match(await fail({}), /^BAD_INPUT: Set exactly one field/);
      assert.match(await fail({ password: user.password, code: '123456' }), /^BAD_INPUT: Set exactly one/);
      assert.equal(await fail({ password: 'wrong walnut' }), 'FORBIDDEN: The password is wrong.');
      assert.match(await fail({ code: '123456' }), /^FORBIDDEN: The code is wrong/);
      const confirm = await factors.mutationError('confirmTotpEnrolment', { code: '123456' }, authToken);
      assert.match(confirm, /^NOT_FOUND: There is no started enrolment/);
    });

    test('is not confirmed with a wrong code, in another session, twice, or too late', async () => {
      const user = await factors.createUser();
      const [{ authToken }, other] = [await factors.logIn(user), await factors.logIn(user)];
      const { secret } = await start(authToken, { password: user.password });
      const code = factors.code({ secret: decodeBase32(secret) });
      const confirm = (input: string, token = authToken) =>
        factors.mutationError('confirmTotpEnrolment', { code: input }, token);
      assert.match(await confirm(code === '000000' ? '000001' : '000000'), /^BAD_INPUT: The code is wrong/);
      assert.match(await confirm(code, other.authToken), /^NOT_FOUND/);
      await factors.confirmApp(decodeBase32(secret), authToken);
      assert.match(await confirm(code), /^NOT_FOUND/);
      const late = await factors.createUser();
      const session = await factors.logIn(late);
      const started = await start(session.authToken, { password: late.password });
      factors.server.clock.advanceSeconds(600);
      const lateCode = factors.code({ secret: decodeBase32(started.secret) });
      assert.match(await confirm(lateCode, session.authToken), /^NOT_FOUND/);
    });

    test('is replaced without a time in which no app works', async () => {
      const user = await factors.createAppUser();
      const { authToken } = await factors.logInWithCode(user);
      const { secret } = await start(authToken, { code: factors.nextCode(user) });
      const replaced = { ...user, secret: decodeBase32(secret) };
      assert.equal(await factors.outcome(user, factors.nextCode(user)), 'SUCCESS');
      const confirmed = await factors.confirmApp(replaced.secret, authToken);
      assert.equal(confirmed.recoveryCodes, null);
      assert.equal(confirmed.endedSessions, 2);
      assert.equal(await factors.outcome(user, factors.nextCode(user)), 'WRONG_SECOND_FACTOR');
      assert.equal(await factors.outcome(user, factors.code(replaced)), 'SUCCESS');
      assert.equal(await factors.outcome(user, user.recoveryCodes[0]), 'SUCCESS');
    });

    test('is removed with a proof, together with the recovery codes', async () => {
      const user = await factors.createAppUser();
      const { authToken } = await factors.logInWithCode(user);
      const remove = (proof: object) => factors.mutationError('removeTotp', { proof }, authToken);
      assert.match(await remove({ password: 'wrong walnut' }), /^FORBIDDEN/);
      // A code that was used for a login is not a proof.
      assert.match(await remove({ code: factors.code(user) }), /^FORBIDDEN/);
      const input = { proof: { code: factors.nextCode(user) } };
      const selection = 'endedSessions secondFactor{isEnrolled recoveryCodesLeft}';
      assert.deepEqual(await factors.mutate('removeTotp', input, selection, authToken), {
        endedSessions: 1,
        secondFactor: { isEnrolled: false, recoveryCodesLeft: 0 },
      });
      assert.equal(await factors.outcome(user), 'SUCCESS');
      assert.match(await remove({ password: user.password }), /^NOT_FOUND/);
      const codes = await factors.mutationError(
        'createRecoveryCodes',
        { proof: { password: user.password } },
        authToken,
      );
      assert.match(codes, /^CONFLICT/);
    });

    test('gets new recovery codes, which replace the old ones and are returned once', async () => {
      const user = await factors.createAppUser();
      const { authToken } = await factors.logInWithCode(user);
      const query = mutation('createRecoveryCodes', 'recoveryCodes secondFactor{recoveryCodesLeft}');
      const body = JSON.stringify({ query, variables: { input: { proof: { password: user.password } } } });
      const headers = {
        'content-type': 'application/json',
        authorization: `Bearer ${authToken}`,
        'idempotency-key': randomUUID(),
      };
      type Answer = {
        data: { createRecoveryCodes: { recoveryCodes: string[] | null; secondFactor: object } };
      };
      const send = async () =>
        (await factors.server.postRaw('/graphql', body, headers)).json<Answer>().data.createRecoveryCodes;
      const first = await send();
      assert.deepEqual(first.secondFactor, { recoveryCodesLeft: 10 });
      assert.equal((await send()).recoveryCodes, null);
      assert.equal(await factors.outcome(user, user.recoveryCodes[0]), 'WRONG_SECOND_FACTOR');
      assert.equal(await factors.outcome(user, first.recoveryCodes![0]), 'SUCCESS');
    });

    test('is reset by an administrator only, which ends all sessions and is in the journal', async () => {
      const [user, other] = [await factors.createAppUser(), await factors.createUser()];
      const { authToken } = await factors.logInWithCode(user);
      const reset = { userId: user.id };
      const { authToken: otherToken } = await factors.logIn(other);
      assert.match(await factors.mutationError('resetSecondFactor', reset, otherToken), /^FORBIDDEN/);
      assert.deepEqual(
        await factors.mutate('resetSecondFactor', reset, 'endedSessions user{hasSecondFactor}'),
        { endedSessions: 2, user: { hasSecondFactor: false } },
      );
      assert.equal((await factors.server.query('{__typename}', authToken)).status, 401);
      assert.equal(await factors.outcome(user), 'SUCCESS');
      assert.equal(await factors.outcome(user, user.recoveryCodes[0]), 'SUCCESS');
      assert.match(await factors.mutationError('resetSecondFactor', reset), /^CONFLICT/);
      const journal = `query($userId: ID!){journal(first: 9, filter: {userId: $userId}){items{kind by{username} before after}}}`;
      type Journal = { journal: { items: { kind: string; by: { username: string }; after: unknown }[] } };
      const { items } = (await factors.query<Journal>(journal, { userId: user.id })).journal;
      assert.deepEqual(
        items.map(({ kind: each, by }) => `${each} ${by.username}`),
        [
          'END_SESSION admin',
          'RESET_SECOND_FACTOR admin',
          `END_SESSION ${user.username}`,
          `ENROL_SECOND_FACTOR ${user.username}`,
          'CREATE_USER admin',
        ].filter((line) => items.length === 5 || !line.startsWith('END_SESSION person')),
      );
    });

    test('is deleted with all other factors when the user becomes a service account', async () => {
      const user = await factors.createAppUser();
      const { authToken } = await factors.logInWithCode(user);
      const { authenticator } = await factors.addPasskey(authToken, { password: user.password });
      await start(authToken, { password: user.password });
      await factors.mutate('convertToServiceAccount', { userId: user.id });
      assert.equal((await factors.server.query('{__typename}', authToken)).status, 401);
      const { challengeId, options } = await factors.challenge();
      const login = await factors.logInWithPasskey(challengeId, authenticator.get(options));
      assert.equal(login.status, 401, login.text);
      const codes = [factors.nextCode(user), user.recoveryCodes[0]];
      for (const code of codes) assert.equal(await factors.outcome(user, code), 'INVALID_CREDENTIALS');
      const counts = await withDatabase(factors.server.database.url, async (database) =>
        database.get(countFactors, { userId: user.id }),
      );
      assert.deepEqual({ ...counts }, { secrets: 0, codes: 0, passkeys: 0, enrolments: 0 });
    });

    test('of an administrator is not reset by the administrator alone', async () => {
      const query = '{viewer{user{id}}}';
      const { viewer } = await factors.query<{ viewer: { user: { id: string } } }>(query);
      const error = await factors.mutationError('resetSecondFactor', { userId: viewer.user.id });
      assert.match(error, /^CONFLICT: You cannot reset your own second factor/);
    });

    test('is listed for administrators, and hidden from other users', async () => {
      const user = await factors.createAppUser({ username: 'listed with app' });
      await factors.createUser({ username: 'listed without' });
      const list = (hasSecondFactor: boolean) =>
        factors.query(
          'query($has: Boolean){users(text: "listed", hasSecondFactor: $has){totalCount items{username hasSecondFactor}}}',
          { has: hasSecondFactor },
        );
      const one = (username: string, hasSecondFactor: boolean) => ({
        users: { totalCount: 1, items: [{ username, hasSecondFactor }] },
      });
      assert.deepEqual(await list(true), one('listed with app', true));
      assert.deepEqual(await list(false), one('listed without', false));
      const other = await factors.createUser();
      await factors.mutate('grantAccess', {
        folderId: (await factors.query<{ folder: { id: string } }>('{folder{id}}')).folder.id,
        userId: other.id,
        level: 'MANAGE',
      });
      const { authToken } = await factors.logIn(other);
      const error = await factors.queryError(
        'query($id: ID){user(id: $id){hasSecondFactor}}',
        { id: user.id },
        authToken,
      );
      assert.match(error, /^FORBIDDEN/);
    });

    test('counts wrong proofs by session', async () => {
      const user = await factors.createUser();
      const { authToken } = await factors.logIn(user);
      const fail = (password: string) =>
        factors.mutationError('startTotpEnrolment', { proof: { password } }, authToken);
      for (let count = 0; count < 50; count++) assert.match(await fail('wrong walnut'), /^FORBIDDEN/);
      assert.match(await fail(user.password), /^UNAVAILABLE: Too many failed attempts/);
      assert.equal(await factors.outcome(user), 'SUCCESS');
    });

    test('counts wrong codes of proofs by session, on all nodes, with the limit for codes', async () => {
      const user = await factors.createAppUser();
      const { authToken } = await factors.logInWithCode(user);
      const node = await factors.startNode(kind);
      const fail = (code: string, at = factors) =>
        at.mutationError('createRecoveryCodes', { proof: { code } }, authToken);
      for (let count = 0; count < 10; count++) {
        const code = count % 2 ? 'abcd-2345-6789-2345' : factors.code(user, 3600);
        assert.match(await fail(code, count % 3 ? node : factors), /^FORBIDDEN/);
      }
      for (const at of [factors, node]) {
        assert.match(await fail(factors.code(user, 30), at), /^UNAVAILABLE: Too many failed attempts/);
        assert.match(await fail(user.recoveryCodes[0]!, at), /^UNAVAILABLE: Too many failed attempts/);
      }
      await node.stop();
      // A stolen session cannot prevent the logins and the other proofs of its user.
      const { authToken: own } = await factors.logInWithCode(user);
      const proof = { code: user.recoveryCodes[1] };
      await factors.mutate('createRecoveryCodes', { proof }, 'recoveryCodes', own);
      const otherProof = { password: user.password };
      await factors.mutate('createRecoveryCodes', { proof: otherProof }, 'recoveryCodes', authToken);
    });
  });

  describe(`a required second factor on ${kind.name}`, () => {
    let optional: FactorTestbed;
    let factors: FactorTestbed;
    before(async () => {
      // Starts the session of the administrator, which continues on the node that requires a second factor.
      optional = await FactorTestbed.start(kind, { settings: { MASTER_KEY: 'm'.repeat(32) } });
      factors = await optional.startNode(kind, { SECOND_FACTOR: 'everyone', MASTER_KEY: 'm'.repeat(32) });
    });
    after(async () => {
      await factors.stop();
      await optional.stop();
    });

    test('is set up at the next login, and existing sessions continue until then', async () => {
      const user = await factors.createUser();
      const response = await factors.attempt(user);
      const { code, enrolmentToken, methods } = response.json<Problem>();
      assert.equal(response.status, 401);
      assert.deepEqual([code, methods], ['SECOND_FACTOR_ENROLMENT_REQUIRED', undefined]);
      const started = await factors.startEnrolment(enrolmentToken!);
      assert.equal(started.headers.get('cache-control'), 'no-store');
      const { secret, uri, username } = started.json<EnrolmentResponse>();
      assert.equal(username, user.username);
      assert.ok(uri.includes(secret));
      assert.equal((await factors.startEnrolment(enrolmentToken!)).json<EnrolmentResponse>().secret, secret);
      const app = { secret: decodeBase32(secret) };
      const wrong = await factors.confirmEnrolment(enrolmentToken!, '000000');
      assert.equal(wrong.json<Problem>().code, 'WRONG_SECOND_FACTOR');
      const confirmed = await factors.confirmEnrolment(enrolmentToken!, factors.code(app));
      const login = confirmed.json<EnrolledLoginResponse>();
      assert.equal(login.recoveryCodes.length, 10);
      const viewer = await factors.query('{viewer{user{username}}}', {}, login.authToken);
      assert.deepEqual(viewer, { viewer: { user: { username: user.username } } });
      assert.equal((await factors.server.refresh(login)).status, 200);
      assert.equal(await factors.outcome(user), 'SECOND_FACTOR_REQUIRED');
      assert.equal(await factors.outcome(user, factors.nextCode(app)), 'SUCCESS');
    });

    test('stores the secret encrypted with the master key', async () => {
      const { secret } = await factors.enrolAtLogin(await factors.createUser());
      const rows = await withDatabase(factors.server.database.url, async (database) =>
        database.all(findSecrets, {}),
      );
      assert.ok(rows.length > 0);
      for (const row of rows) {
        assert.ok(row.sealedWith !== null);
        assert.ok(!Buffer.from(row.secret).includes(Buffer.from(secret)));
      }
    });

    test('refuses enrolment tokens that are unknown, used, expired or of a disabled user', async () => {
      const codeOf = async (token: string) => (await factors.startEnrolment(token)).json<Problem>().code;
      assert.equal(await codeOf(''), 'INVALID_ENROLMENT_TOKEN');
      assert.equal(await codeOf(randomUUID()), 'INVALID_ENROLMENT_TOKEN');
      const begin = async () => {
        const user = await factors.createUser();
        const token = (await factors.attempt(user)).json<Problem>().enrolmentToken!;
        const { secret } = (await factors.startEnrolment(token)).json<EnrolmentResponse>();
        const confirm = async () =>
          (await factors.confirmEnrolment(token, factors.code({ secret: decodeBase32(secret) }))).json<
            Partial<Problem>
          >().code;
        return { user, token, confirm };
      };
      const used = await begin();
      const earlier = (await factors.attempt(used.user)).json<Problem>().enrolmentToken!;
      const outcomes = await Promise.all([used.confirm(), used.confirm(), used.confirm()]);
      assert.equal(outcomes.filter((code) => code === undefined).length, 1, outcomes.join());
      assert.equal(await codeOf(used.token), 'INVALID_ENROLMENT_TOKEN');
      assert.equal(await codeOf(earlier), 'INVALID_ENROLMENT_TOKEN');
      const disabled = await begin();
      await disableUser(factors.server.database.url, disabled.user.username, factors.server.clock.now());
      assert.equal(await disabled.confirm(), 'INVALID_ENROLMENT_TOKEN');
      const changed = await begin();
      const input = { userId: changed.user.id, password: 'copper lantern meadow' };
      await factors.mutate('resetPassword', input, 'endedSessions');
      assert.equal(await changed.confirm(), 'INVALID_ENROLMENT_TOKEN');
      const expired = await begin();
      factors.server.clock.advanceSeconds(600);
      assert.equal(await expired.confirm(), 'INVALID_ENROLMENT_TOKEN');
      await factors.server.purge();
    });

    test('is set up once if two people with the password confirm concurrently, on two nodes', async () => {
      const user = await factors.createUser();
      const apps = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const { enrolmentToken = '' } = (await factors.attempt(user)).json<Problem>();
          const { secret } = (await factors.startEnrolment(enrolmentToken)).json<EnrolmentResponse>();
          return { enrolmentToken, secret: decodeBase32(secret) };
        }),
      );
      const statuses = await Promise.all(
        apps.map(async (app, index) => {
          const node = index % 2 ? optional : factors;
          return (await node.confirmEnrolment(app.enrolmentToken, factors.code(app))).status;
        }),
      );
      assert.deepEqual(statuses.toSorted(), [200, 401, 401, 401]);
      factors.server.clock.advanceSeconds(30);
      const outcomes = [];
      for (const app of apps) outcomes.push(await factors.outcome(user, factors.code(app)));
      assert.deepEqual(
        outcomes,
        statuses.map((status) => (status === 200 ? 'SUCCESS' : 'WRONG_SECOND_FACTOR')),
      );
    });

    test('does not let a token of an enrolment do anything else', async () => {
      const user = await factors.createUser();
      const token = (await factors.attempt(user)).json<Problem>().enrolmentToken!;
      assert.equal((await factors.server.query('{__typename}', token)).status, 401);
      assert.equal((await factors.server.post('/login/verify', { authToken: token })).status, 400);
      const tokens = { authToken: token, refreshToken: token };
      assert.equal((await factors.server.refresh(tokens)).status, 401);
    });

    test('keeps at most five enrolments of a user', async () => {
      const user = await factors.createUser();
      const tokens: string[] = [];
      for (let count = 0; count < 7; count++) {
        factors.server.clock.advanceSeconds(1);
        tokens.push((await factors.attempt(user)).json<Problem>().enrolmentToken!);
      }
      const statuses = await Promise.all(
        tokens.map(async (token) => (await factors.startEnrolment(token)).status),
      );
      assert.deepEqual(statuses, [401, 401, 200, 200, 200, 200, 200]);
    });

    test('is not confirmed during a pause after ten wrong codes, and the history contains the attempts', async () => {
      const user = await factors.createUser();
      const { enrolmentToken = '' } = (await factors.attempt(user)).json<Problem>();
      const outcomes: string[] = [];
      for (let index = 0; index < 11; index++) {
        outcomes.push((await factors.confirmEnrolment(enrolmentToken, 'no code')).json<Problem>().code);
      }
      const wrong = Array<string>(10).fill('WRONG_SECOND_FACTOR');
      assert.deepEqual(outcomes, [...wrong, 'TOO_MANY_ATTEMPTS']);
      await factors.server.purge();
      const query = 'query($userId: ID!){signIns(first: 20, filter: {userId: $userId}){items{result}}}';
      type History = { signIns: { items: { result: string }[] } };
      const { items } = (await factors.query<History>(query, { userId: user.id })).signIns;
      assert.deepEqual(
        items.map(({ result }) => result).toSorted(),
        ['SECOND_FACTOR_REQUIRED', 'THROTTLED', ...wrong].toSorted(),
      );
    });

    test('cannot be removed', async () => {
      const user = await factors.createUser();
      const { secret, login } = await factors.enrolAtLogin(user);
      factors.server.clock.advanceSeconds(30);
      const input = { proof: { code: factors.code({ secret }) } };
      const error = await factors.mutationError('removeTotp', input, login.authToken);
      assert.match(error, /^CONFLICT: This server requires a second factor/);
      // The refused change has not spent the code.
      assert.equal(await factors.outcome(user, input.proof.code), 'SUCCESS');
    });

    test('is required of administrators too', async () => {
      assert.equal(await factors.outcome(administrator), 'SECOND_FACTOR_ENROLMENT_REQUIRED');
    });
  });

  test(`codes work after the master key is set, and recovery codes also if it is lost, on ${kind.name}`, async () => {
    const plain = await FactorTestbed.start(kind);
    const user = await plain.createAppUser();
    const sealed = await plain.startNode(kind, { MASTER_KEY: 'm'.repeat(32) });
    const rows = await withDatabase(plain.server.database.url, async (database) =>
      database.all(findSecrets, {}),
    );
    assert.ok(rows.every(({ secret, sealedWith }) => sealedWith !== null && secret.length > 20));
    assert.equal(await sealed.outcome(user, sealed.nextCode(user)), 'SUCCESS');
    // This node has not been restarted with the master key.
    const response = await plain.attempt(user, plain.nextCode(user));
    assert.equal(response.status, 503, response.text);
    assert.equal(await plain.outcome(user, user.recoveryCodes[0]), 'SUCCESS');
    await sealed.stop();
    await plain.stop();
  });

  test(`a second factor is required of administrators only, if so set, on ${kind.name}`, async () => {
    const optional = await FactorTestbed.start(kind);
    const user = await optional.createUser();
    const strict = await optional.startNode(kind, { SECOND_FACTOR: 'administrators' });
    assert.equal(await strict.outcome(user), 'SUCCESS');
    assert.equal(await strict.outcome(administrator), 'SECOND_FACTOR_ENROLMENT_REQUIRED');
    await strict.stop();
    await optional.stop();
  });
}
