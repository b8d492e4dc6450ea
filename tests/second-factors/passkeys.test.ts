/** Passkeys: both ceremonies with an authenticator in software, and the responses that an attacker could send. */

import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse, Problem } from '@espalier/contract';
import { databaseKinds } from '../support/databases.ts';
import { disableUser } from '../support/stored-rows.ts';
import { FactorTestbed, origin } from './factor-testbed.ts';
import { SoftwareAuthenticator, type Deviations } from './software-authenticator.ts';

for (const kind of databaseKinds) {
  describe(`a passkey on ${kind.name}`, () => {
    let factors: FactorTestbed;
    let otherNode: FactorTestbed;
    before(async () => {
      factors = await FactorTestbed.start(kind);
      otherNode = await factors.startNode(kind);
    });
    after(async () => {
      await otherNode.stop();
      await factors.stop();
    });

    /** Creates a user with a passkey. */
    const createPasskeyUser = async (counter = 1) => {
      const user = await factors.createUser();
      const { authToken } = await factors.logIn(user);
      const authenticator = new SoftwareAuthenticator(origin, { counter });
      const added = await factors.addPasskey(authToken, { password: user.password }, authenticator);
      return { user, authToken, ...added };
    };
    const logIn = async (authenticator: SoftwareAuthenticator, deviations?: Deviations, node = factors) => {
      const { challengeId, options } = await factors.challenge();
      return node.logInWithPasskey(challengeId, authenticator.get(options, deviations));
    };

    test('is offered by the server, with a challenge for verified users', async () => {
      const methods = await factors.server.send('GET', '/login/methods');
      assert.equal(methods.json<{ passkeys: boolean }>().passkeys, true);
      const { options } = await factors.challenge();
      assert.deepEqual(
        { ...options, challenge: '' },
        { rpId: 'tree.example.com', challenge: '', userVerification: 'required', timeout: 60_000 },
      );
      assert.notEqual(options.challenge, (await factors.challenge()).options.challenge);
    });

    test('is added with a proof, and is then a second factor', async () => {
      const user = await factors.createUser();
      const { authToken } = await factors.logIn(user);
      const fail = (proof: object) => factors.mutationError('startPasskeyEnrolment', { proof }, authToken);
      assert.match(await fail({ password: 'wrong walnut' }), /^FORBIDDEN/);
      const added = await factors.addPasskey(authToken, { password: user.password });
      assert.equal(added.recoveryCodes?.length, 10);
      const { code, methods } = (await factors.attempt(user)).json<Problem>();
      assert.equal(code, 'SECOND_FACTOR_REQUIRED');
      assert.deepEqual(methods, ['PASSKEY', 'RECOVERY_CODE']);
      assert.equal(await factors.outcome(user, added.recoveryCodes?.[0]), 'SUCCESS');
    });

    test('logs in without a name and a password, on any node', async () => {
      const { user, authenticator } = await createPasskeyUser();
      for (const node of [factors, otherNode]) {
        const response = await logIn(authenticator, {}, node);
        assert.equal(response.status, 200, response.text);
        const { authToken } = response.json<LoginResponse>();
        const query = '{viewer{user{username} secondFactor{passkeys{name isSynced lastUsedAt}}}}';
        const lastUsedAt = new Date(factors.server.clock.now()).toISOString();
        assert.deepEqual(await factors.query(query, {}, authToken), {
          viewer: {
            user: { username: user.username },
            secondFactor: { passkeys: [{ name: 'Phone', isSynced: false, lastUsedAt }] },
          },
        });
      }
    });

    test('is refused for any wrong response, and the refusals do not differ', async () => {
      const { authenticator } = await createPasskeyUser();
      const other = await createPasskeyUser();
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const deviations: readonly Deviations[] = [
        { origin: 'https://evil.example.com' },
        { origin: 'http://tree.example.com' },
        { origin: `${origin}:8443` },
        { rpId: 'example.com' },
        { type: 'webauthn.create' },
        { challenge: randomBytes(32).toString('base64url') },
        { isUserVerified: false },
        { signingKey: privateKey },
        { credentialId: other.authenticator.credentialId },
        { credentialId: randomBytes(32).toString('base64url') },
        { userHandle: Buffer.from(other.user.id).toString('base64url') },
      ];
      const bodies: string[] = [];
      for (const each of deviations) {
        const { status, text } = await logIn(authenticator, each);
        assert.equal(status, 401, JSON.stringify(each));
        bodies.push(text.replace(/"requestId":"[^"]*"/, ''));
      }
      const unknown = new SoftwareAuthenticator(origin);
      const { challengeId, options } = await factors.challenge();
      for (const response of [unknown.get(options, { userHandle: 'eA' }), {}, { id: 'x' }]) {
        const { text } = await factors.logInWithPasskey(challengeId, response);
        bodies.push(text.replace(/"requestId":"[^"]*"/, ''));
      }
      const { text } = await factors.logInWithPasskey('unknown', authenticator.get(options));
      bodies.push(text.replace(/"requestId":"[^"]*"/, ''));
      assert.equal(new Set(bodies).size, 1, [...new Set(bodies)].join('\n'));
      assert.match(bodies[0]!, /"code":"INVALID_CREDENTIALS"/);
      for (const response of [undefined, 'text', 7, []]) {
        assert.equal((await factors.logInWithPasskey(challengeId, response)).status, 400);
      }
      assert.equal((await logIn(authenticator)).status, 200);
    });

    test('accepts each response and each challenge once, also with concurrent requests on two nodes', async () => {
      for (const counter of [1, 0]) {
        const { authenticator } = await createPasskeyUser(counter);
        const { challengeId, options } = await factors.challenge();
        const response = authenticator.get(options);
        const statuses = await Promise.all(
          Array.from({ length: 6 }, async (_, index) => {
            const node = index % 2 ? otherNode : factors;
            return (await node.logInWithPasskey(challengeId, response)).status;
          }),
        );
        assert.deepEqual(statuses.toSorted(), [200, 401, 401, 401, 401, 401]);
        const again = await otherNode.logInWithPasskey(challengeId, authenticator.get(options));
        assert.equal(again.status, 401);
      }
    });

    test('has a sign-in for each concurrent attempt with one response', async () => {
      const { authenticator } = await createPasskeyUser();
      const { challengeId, options } = await factors.challenge();
      const response = authenticator.get(options);
      const address = '203.0.113.20';
      await Promise.all(
        Array.from({ length: 6 }, () => factors.logInWithPasskey(challengeId, response, address)),
      );
      await factors.server.purge();
      const query = '{signIns(first: 100, filter: {methods: [PASSKEY]}){items{result count address}}}';
      type SignIn = { result: string; count: number; address: string };
      const { signIns } = await factors.query<{ signIns: { items: SignIn[] } }>(query);
      const results = signIns.items
        .filter((each) => each.address === address)
        .flatMap(({ result, count }) => Array<string>(count).fill(result));
      assert.deepEqual(results.toSorted(), ['SUCCESS', ...Array<string>(5).fill('WRONG_CREDENTIALS')]);
    });

    test('is refused if the counter does not increase, as for a copied authenticator', async () => {
      const { authenticator } = await createPasskeyUser(5);
      assert.equal((await logIn(authenticator)).status, 200);
      authenticator.counter -= 1;
      assert.equal((await logIn(authenticator)).status, 401);
      assert.equal((await logIn(authenticator)).status, 200);
    });

    test('is refused after five minutes, for a disabled user, and after its removal', async () => {
      const { authenticator, authToken, user, id } = await createPasskeyUser();
      const { challengeId, options } = await factors.challenge();
      factors.server.clock.advanceSeconds(300);
      const late = await factors.logInWithPasskey(challengeId, authenticator.get(options));
      assert.equal(late.status, 401);
      const proof = { password: user.password };
      const removed = await factors.mutate('removePasskey', { id, proof }, 'endedSessions', authToken);
      assert.deepEqual(removed, { endedSessions: 0 });
      assert.equal((await logIn(authenticator)).status, 401);
      assert.equal(await factors.outcome(user), 'SUCCESS');
      const other = await createPasskeyUser();
      await disableUser(factors.server.database.url, other.user.username, factors.server.clock.now());
      assert.equal((await logIn(other.authenticator)).status, 401);
      await factors.server.purge();
    });

    test('belongs to one user and to the session that began the enrolment', async () => {
      const [{ authToken, authenticator, user }, other] = [
        await createPasskeyUser(),
        await factors.createUser(),
      ];
      const { authToken: otherToken } = await factors.logIn(other);
      const own = await factors.startPasskey(authToken, { password: user.password });
      const theirs = await factors.startPasskey(otherToken, { password: other.password });
      const fresh = new SoftwareAuthenticator(origin);
      const finish = (token: string, challengeId: string, response: unknown) =>
        factors.mutationError('finishPasskeyEnrolment', { challengeId, response, name: 'Phone' }, token);
      // The challenge of another user.
      assert.match(await finish(otherToken, own.challengeId, fresh.create(own.options)), /^BAD_INPUT/);
      // The response to another challenge.
      assert.match(await finish(otherToken, theirs.challengeId, fresh.create(own.options)), /^BAD_INPUT/);
      // The passkey of another user.
      const copied = authenticator.create(theirs.options);
      assert.match(
        await finish(otherToken, theirs.challengeId, copied),
        /^CONFLICT: This passkey is already/,
      );
      // A challenge of a login.
      const login = await factors.challenge();
      const response = fresh.create({ ...theirs.options, challenge: login.options.challenge });
      assert.match(await finish(otherToken, login.challengeId, response), /^BAD_INPUT/);
      // A challenge of an enrolment does not log in.
      const request = { challenge: own.options.challenge, rpId: 'tree.example.com' };
      const misused = await factors.logInWithPasskey(own.challengeId, authenticator.get(request));
      assert.equal(misused.status, 401);
    });

    test('is not added with a wrong origin, without verification, or with a statement that needs the network', async () => {
      const user = await factors.createUser();
      const { authToken } = await factors.logIn(user);
      const deviations: readonly Deviations[] = [
        { origin: 'https://evil.example.com' },
        { rpId: 'evil.example.com' },
        { isUserVerified: false },
        { type: 'webauthn.get' },
        { format: 'fido-u2f' },
        { format: 'tpm' },
      ];
      for (const each of deviations) {
        const { challengeId, options } = await factors.startPasskey(authToken, { password: user.password });
        const response = new SoftwareAuthenticator(origin).create(options, each);
        const input = { challengeId, response, name: 'Phone' };
        const error = await factors.mutationError('finishPasskeyEnrolment', input, authToken);
        assert.match(error, /^BAD_INPUT: The passkey was not accepted/, JSON.stringify(each));
      }
      for (const response of [null, {}, [], 'text']) {
        const { challengeId } = await factors.startPasskey(authToken, { password: user.password });
        const input = { challengeId, response, name: 'Phone' };
        assert.match(
          await factors.mutationError('finishPasskeyEnrolment', input, authToken),
          /BAD_INPUT|null/,
        );
      }
    });

    test('can be named, and is a proof for changes of its own user only', async () => {
      const [anna, bert] = [await createPasskeyUser(), await createPasskeyUser()];
      const rename = (name: string, token = anna.authToken) =>
        factors.mutationError('renamePasskey', { id: anna.id, name }, token);
      assert.match(await rename(' '), /^BAD_INPUT: A passkey name must have 1 to 128 characters/);
      assert.match(await rename('x'.repeat(129)), /^BAD_INPUT/);
      assert.match(await rename('Mine', bert.authToken), /^NOT_FOUND/);
      const named = await factors.mutate(
        'renamePasskey',
        { id: anna.id, name: ' Key ' },
        'passkey{name}',
        anna.authToken,
      );
      assert.deepEqual(named, { passkey: { name: 'Key' } });
      const prove = async ({ authenticator }: typeof anna) => {
        const { challengeId, options } = await factors.challenge();
        return { passkey: { challengeId, response: authenticator.get(options) } };
      };
      const proof = await prove(bert);
      const wrong = await factors.mutationError('createRecoveryCodes', { proof }, anna.authToken);
      assert.match(wrong, /^FORBIDDEN: The passkey was not accepted/);
      const right = { proof: await prove(anna) };
      const selection = 'secondFactor{recoveryCodesLeft}';
      const created = await factors.mutate('createRecoveryCodes', right, selection, anna.authToken);
      assert.deepEqual(created, { secondFactor: { recoveryCodesLeft: 10 } });
      assert.match(await factors.mutationError('createRecoveryCodes', right, anna.authToken), /^FORBIDDEN/);
    });

    test('of an earlier host name is not offered, and the password alone is still not enough', async () => {
      const { user, recoveryCodes } = await createPasskeyUser();
      const moved = await factors.startNode(kind, { PUBLIC_URL: 'https://new.example.com' });
      const { code, methods } = (await moved.attempt(user)).json<Problem>();
      assert.deepEqual([code, methods], ['SECOND_FACTOR_REQUIRED', ['RECOVERY_CODE']]);
      assert.equal(await moved.outcome(user, recoveryCodes![0]), 'SUCCESS');
      await moved.stop();
    });

    test('satisfies a required second factor', async () => {
      const { authenticator } = await createPasskeyUser();
      const strict = await factors.startNode(kind, { SECOND_FACTOR: 'everyone' });
      assert.equal((await logIn(authenticator, {}, strict)).status, 200);
      await strict.stop();
    });

    test('is throttled by address, on all nodes', async () => {
      const { authenticator } = await createPasskeyUser();
      const { challengeId, options } = await factors.challenge();
      const wrong = authenticator.get(options, { isUserVerified: false });
      const send = async (index: number, address: string) => {
        const node = index % 2 ? otherNode : factors;
        return (await node.logInWithPasskey(challengeId, wrong, address)).status;
      };
      const statuses: number[] = [];
      for (let index = 0; index < 520; index += 20) {
        const batch = Array.from({ length: 20 }, (_, each) => send(index + each, '203.0.113.9'));
        statuses.push(...(await Promise.all(batch)));
      }
      const refused = statuses.filter((status) => status === 401).length;
      assert.ok(refused >= 500 && refused <= 500 + 64, String(refused));
      assert.ok(statuses.includes(429));
      assert.equal(await send(0, '203.0.113.10'), 401);
    });
  });

  test(`passkeys are off without a host name and https on ${kind.name}`, async () => {
    for (const url of ['http://tree.example.com', 'https://192.0.2.1', 'https://[2001:db8::1]:8443']) {
      const factors = await FactorTestbed.start(kind, { settings: { PUBLIC_URL: url } });
      const methods = await factors.server.send('GET', '/login/methods');
      assert.equal(methods.json<{ passkeys: boolean }>().passkeys, false);
      assert.equal((await factors.server.post('/login/passkey/options', {})).status, 404);
      assert.equal((await factors.logInWithPasskey('x', {})).status, 404);
      await factors.stop();
    }
  });
}
