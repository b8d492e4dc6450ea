/** Who may sign in: unknown people, disabled users, and users who may not use a password. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginMethods, LoginResponse } from '@espalier/contract';
import { databaseKinds } from '../support/databases.ts';
import { disableUser } from '../support/stored-rows.ts';
import { administrator, problemOf, Testbed } from '../support/testbed.ts';
import { SignOnTestbed } from './sign-on-testbed.ts';

const password = 'a bench of walnut wood';
const createUser =
  'mutation($username: String!, $password: String!){createUser(input: {username: $username, password: $password}){user{id}}}';

for (const kind of databaseKinds) {
  describe(`accounts of single sign-on on ${kind.name}`, () => {
    let bed: SignOnTestbed;
    before(
      async () => (bed = await SignOnTestbed.start(kind, { settings: { PASSWORD_LOGIN: 'administrators' } })),
    );
    after(() => bed.stop());

    test('are refused while the user is disabled', async () => {
      bed.provider.addUser('ada');
      await bed.logIn('ada');
      await disableUser(bed.node.database.url, 'ada', bed.node.clock.now());
      const answer = await bed.exchange(await bed.signIn('ada'));
      assert.equal(answer.status, 403, answer.text);
      assert.equal(problemOf(answer).code, 'FORBIDDEN');
    });

    test('are refused after the user became a service account', async () => {
      bed.provider.addUser('robot');
      await bed.logIn('robot');
      const { authToken } = await bed.node.logIn();
      const found = await bed.node.query('{user(username: "robot"){id}}', authToken);
      const userId = found.json<{ data: { user: { id: string } } }>().data.user.id;
      const convert = 'mutation($userId: ID!){convertToServiceAccount(input: {userId: $userId}){user{kind}}}';
      assert.match((await bed.node.query(convert, authToken, { userId })).text, /SERVICE/);
      const linked = await bed.node.query('{user(username: "robot"){identities{id}}}', authToken);
      assert.deepEqual(linked.json(), { data: { user: { identities: [] } } });
      // The person is unknown now, and the service account has the name.
      assert.equal((await bed.exchange(await bed.signIn('robot'))).status, 409);
    });

    test('get a user name in the form in which it is stored', async () => {
      bed.provider.addUser('zoe', { username: 'Zoe\u0301' });
      const { authToken } = await bed.logIn('zoe');
      const answer = await bed.node.query('{viewer{user{username}}}', authToken);
      assert.match(answer.text, /"Zo\u00e9"/);
    });

    test('are refused if the provider sends no usable user name', async () => {
      const names = [
        '',
        'x'.repeat(129),
        'a\u0000b',
        'line\nbreak',
        'admin ',
        ' admin',
        'admin\u00a0',
        'ad\u200bmin',
      ];
      for (const [index, username] of names.entries()) {
        bed.provider.addUser(`odd ${index}`, { username });
        const answer = await bed.exchange(await bed.signIn(`odd ${index}`));
        assert.equal(answer.status, 403, JSON.stringify(username));
        assert.match(problemOf(answer).detail, /no usable user name/);
      }
    });

    test('are refused if a name differs from an existing one only in case', async () => {
      bed.provider.addUser('ADMIN');
      const answer = await bed.exchange(await bed.signIn('ADMIN'));
      assert.equal(answer.status, 409);
      assert.equal(problemOf(answer).code, 'CONFLICT');
    });

    test('create one user for two sign-ins of a new person at the same time', async () => {
      bed.provider.addUser('twin');
      const results = [await bed.signIn('twin'), await bed.signIn('twin')];
      const answers = await Promise.all([
        bed.exchange(results[0]!, bed.node),
        bed.exchange(results[1]!, bed.other),
      ]);
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200],
      );
      const [one, other] = answers.map((answer) => answer.json<LoginResponse>().authToken);
      const idOf = async (token: string | undefined) =>
        (await bed.node.query('{viewer{user{id}}}', token)).text;
      assert.equal(await idOf(one), await idOf(other));
    });

    test('are the only way to sign in for users who may not use a password', async () => {
      const { authToken } = await bed.node.logIn();
      await bed.node.query(createUser, authToken, { username: 'gardener', password });
      const refused = await bed.node.post('/login', { username: 'gardener', password });
      assert.equal(refused.status, 403);
      assert.equal(problemOf(refused).code, 'FORBIDDEN');
      const wrong = await bed.node.post('/login', { username: 'gardener', password: 'a wrong password' });
      assert.equal(wrong.status, 401, 'only the right password reveals the reason');
      assert.equal((await bed.node.post('/login', administrator)).status, 200);
      const methods = (await bed.node.send('GET', '/login/methods')).json<LoginMethods>();
      assert.equal(methods.password, true);
    });

    test('count as failed logins in the activity of the node, like refused passwords', async () => {
      const { authToken } = await bed.node.logIn();
      await bed.node.query(createUser, authToken, { username: 'counted', password });
      bed.provider.addUser('counted');
      bed.node.clock.advanceSeconds(60);
      const taken = await bed.signIn('counted');
      const statuses = [
        (await bed.exchange(taken)).status,
        (await bed.node.post('/login/sso', {})).status,
        (await bed.node.send('GET', '/login/sso', { redirect: 'manual' })).status,
        (await bed.node.post('/login', { username: 'counted', password })).status,
      ];
      const activity = await bed.node.query(
        '{server{activity(minutes: 1){minutes{failedLogins}}}}',
        authToken,
      );
      assert.deepEqual(statuses, [409, 400, 400, 403]);
      assert.match(activity.text, /"failedLogins":2\b/);
    });

    test('are not created unless the operator permits it', async () => {
      bed.provider.addUser('unknown');
      const settings = { ...bed.provider.settings, PUBLIC_URL: bed.node.url };
      const strict = await Testbed.start(kind, {
        settings,
        database: bed.node.database,
        clock: bed.node.clock,
      });
      const answer = await bed.exchange(await bed.signIn('unknown'), strict);
      // The server writes failed attempts before it stops.
      await strict.stop();
      const { authToken } = await bed.node.logIn();
      const query = '{signIns(filter: {results: [REFUSED]}, first: 5){items{detail}}}';
      const history = await bed.node.query(query, authToken);
      assert.equal(answer.status, 403);
      assert.match(problemOf(answer).detail, /link the account/);
      assert.match(
        history.text,
        /your account \\"unknown\\" at the provider/,
        'administrators see who it was',
      );
    });

    test('remain usable if passwords are off', async () => {
      bed.provider.addUser('solo');
      const settings = {
        ...bed.provider.settings,
        PUBLIC_URL: bed.node.url,
        SSO_CREATE_USERS: 'on',
        PASSWORD_LOGIN: 'off',
      };
      const node = await Testbed.start(kind, {
        settings,
        database: bed.node.database,
        clock: bed.node.clock,
      });
      const statuses = [];
      for (const credentials of [administrator, { username: 'nobody', password }]) {
        statuses.push((await node.post('/login', credentials)).status);
      }
      const { password: isOffered } = (await node.send('GET', '/login/methods')).json<LoginMethods>();
      const { status } = await bed.exchange(await bed.signIn('solo'), node);
      await node.stop();
      assert.deepEqual(statuses, [403, 403]);
      assert.equal(isOffered, false);
      assert.equal(status, 200);
    });
  });
}
