/** Links between users and their accounts at the provider. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { sql } from '../../server/src/database/statement.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { mutation, type GraphBody } from '../support/graph-testbed.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { administrator, problemOf, Testbed } from '../support/testbed.ts';
import {
  SoftwareAuthenticator,
  type CreationOptions,
  type RequestOptions,
} from '../second-factors/software-authenticator.ts';
import { SignOnTestbed, type SignInReturn } from './sign-on-testbed.ts';

const password = 'a bench of walnut wood';
const insertOtherIssuer = sql<{ id: string }>`
  insert into user_identities (id, user_id, issuer, subject, name, created_at)
  select user_id, user_id, 'https://old.example.com', subject, name, created_at
  from user_identities where id = ${'id'}`;
type Identity = { id: string; issuer: string; subject: string; name: string; lastUsedAt: string | null };

for (const kind of databaseKinds) {
  describe(`linked accounts on ${kind.name}`, () => {
    let bed: SignOnTestbed;
    let admin: string;
    before(async () => {
      bed = await SignOnTestbed.start(kind);
      admin = (await bed.node.logIn()).authToken;
    });
    after(() => bed.stop());

    async function execute<T>(query: string, variables: object, authToken: string, at: Testbed = bed.node) {
      const answer = await at.post('/graphql', { query, variables }, authToken);
      return answer.json<GraphBody<T>>();
    }

    async function createUser(username: string): Promise<LoginResponse> {
      const query =
        'mutation($username: String!, $password: String!){createUser(input: {username: $username, password: $password}){user{id}}}';
      const { errors } = await execute(query, { username, password }, admin);
      assert.equal(errors, undefined);
      return bed.node.logIn({ username, password });
    }

    const link = ({ code, verifier }: SignInReturn, authToken: string, at?: Testbed) =>
      execute<{ linkSingleSignOn: { identity: { id: string } } }>(
        'mutation($code: String!, $verifier: String!){linkSingleSignOn(input: {code: $code, verifier: $verifier}){identity{id}}}',
        { code, verifier },
        authToken,
        at,
      );
    const unlink = (id: string, authToken: string) =>
      execute(
        'mutation($id: ID!){unlinkSingleSignOn(input: {id: $id}){unlinkedIdentityId}}',
        { id },
        authToken,
      );
    const identitiesOf = async (authToken: string) => {
      const query = '{viewer{identities{id issuer subject name lastUsedAt}}}';
      return (await execute<{ viewer: { identities: Identity[] } }>(query, {}, authToken)).data!.viewer
        .identities;
    };
    const codeOf = ({ errors }: GraphBody<unknown>) => errors?.[0]?.extensions.code;

    test('are never found by name or e-mail address', async () => {
      bed.provider.addUser('flora');
      await createUser('flora');
      const result = await bed.signIn('flora');
      const answer = await bed.exchange(result);
      assert.equal(answer.status, 409, answer.text);
      assert.match(problemOf(answer).detail, /log in with the password and link/);
    });

    test('keep two accounts with the same e-mail address apart', async () => {
      bed.provider.addUser('ines', { email: 'same@example.com' });
      bed.provider.addUser('igor', { email: 'same@example.com' });
      const names = [];
      for (const name of ['ines', 'igor']) {
        const { authToken } = await bed.logIn(name);
        const answer = await bed.node.query('{viewer{user{username}}}', authToken);
        names.push(
          answer.json<{ data: { viewer: { user: { username: string } } } }>().data.viewer.user.username,
        );
      }
      assert.deepEqual(names, ['ines', 'igor']);
    });

    test('let a user sign in with both, after the user has linked the account', async () => {
      const user = bed.provider.addUser('tim');
      const tokens = await createUser('tim');
      const linked = await link(await bed.signIn('tim'), tokens.authToken, bed.other);
      assert.equal(linked.errors, undefined);
      const [identity, ...more] = await identitiesOf(tokens.authToken);
      assert.deepEqual(more, []);
      assert.equal(identity!.subject, user.subject);
      assert.equal(identity!.issuer, bed.provider.issuer);
      assert.equal(identity!.lastUsedAt, null);
      const { authToken } = await bed.logIn('tim');
      assert.notEqual((await identitiesOf(authToken))[0]!.lastUsedAt, null);
      assert.equal((await bed.node.post('/login', { username: 'tim', password })).status, 200);
    });

    test('belong to one user only', async () => {
      bed.provider.addUser('olga');
      await bed.logIn('olga');
      const other = await createUser('other than olga');
      assert.equal(codeOf(await link(await bed.signIn('olga'), other.authToken)), 'CONFLICT');
      assert.deepEqual(await identitiesOf(other.authToken), []);
    });

    test('need the verifier of the same sign-in, and a code that was not used', async () => {
      bed.provider.addUser('paul');
      const { authToken } = await createUser('paul the gardener');
      const result = await bed.signIn('paul');
      const { verifier } = bed.prepare();
      assert.equal(codeOf(await link({ ...result, verifier }, authToken)), 'BAD_INPUT');
      assert.equal(codeOf(await link(result, authToken)), undefined);
      assert.equal(codeOf(await link(result, authToken)), 'BAD_INPUT');
    });

    test('can be removed, unless the user could no longer sign in', async () => {
      bed.provider.addUser('nils');
      const { authToken } = await bed.logIn('nils');
      const [identity] = await identitiesOf(authToken);
      assert.equal(codeOf(await unlink(identity!.id, authToken)), 'CONFLICT');
      // A link with another issuer, which this server no longer uses.
      await withDatabase(bed.node.database.url, (database) =>
        database.transaction((transaction) => transaction.run(insertOtherIssuer, { id: identity!.id })),
      );
      assert.equal(codeOf(await unlink(identity!.id, authToken)), 'CONFLICT');
      const { authToken: stranger } = await createUser('stranger');
      assert.equal(codeOf(await unlink(identity!.id, stranger)), 'NOT_FOUND');
      assert.equal(codeOf(await unlink(identity!.id, admin)), undefined);
      const hasEnded = async () => (await bed.other.query('{cursor}', authToken)).status === 401;
      await eventually(hasEnded, 'the session has ended on the other node');
      assert.equal((await bed.exchange(await bed.signIn('nils'))).status, 409, 'the name still exists');
    });

    test('end with a session that was logged out and has a valid auth token, when they are removed', async () => {
      bed.provider.addUser('hugo');
      const tokens = await bed.logIn('hugo');
      const [identity] = await identitiesOf(tokens.authToken);
      assert.equal((await bed.node.post('/logout', { refreshToken: tokens.refreshToken })).status, 204);
      assert.equal((await bed.node.query('{cursor}', tokens.authToken)).status, 200);
      assert.equal(codeOf(await unlink(identity!.id, admin)), undefined);
      const hasEnded = async () => (await bed.other.query('{cursor}', tokens.authToken)).status === 401;
      await eventually(hasEnded, 'the session has ended on the other node');
    });

    test('can be removed if a passkey remains, which then stays', async () => {
      const local = await SignOnTestbed.start(kind, { host: 'localhost' });
      try {
        local.provider.addUser('lena');
        const { authToken } = await local.logIn('lena');
        type Body = GraphBody<Record<string, { challengeId: string; options: CreationOptions }>>;
        const mutate = async (name: string, input: object, selection = '__typename') =>
          (await local.node.query(mutation(name, selection), authToken, { input })).json<Body>();
        const authenticator = new SoftwareAuthenticator(`http://localhost:${new URL(local.node.url).port}`);
        const started = await mutate('startPasskeyEnrolment', {}, 'challengeId options');
        const { challengeId, options } = started.data!['startPasskeyEnrolment']!;
        const response = authenticator.create(options);
        const added = await mutate('finishPasskeyEnrolment', { challengeId, response, name: 'Phone' });
        assert.equal(codeOf(added), undefined);
        const read = '{viewer{identities{id} secondFactor{passkeys{id}}}}';
        const { viewer } = (await local.node.query(read, authToken)).json<{
          data: { viewer: { identities: Identity[]; secondFactor: { passkeys: { id: string }[] } } };
        }>().data;
        const removePasskey = async () => {
          const request = await local.node.post('/login/passkey/options', {});
          const challenge = request.json<{ challengeId: string; options: RequestOptions }>();
          const passkey = {
            challengeId: challenge.challengeId,
            response: authenticator.get(challenge.options),
          };
          const { id } = viewer.secondFactor.passkeys[0]!;
          return mutate('removePasskey', { id, proof: { passkey } });
        };
        const { id } = viewer.identities[0]!;
        assert.equal(codeOf(await mutate('unlinkSingleSignOn', { id })), undefined);
        const refused = await removePasskey();
        assert.match(refused.errors?.[0]?.message ?? '', /^This is your last way to sign in/);
        const linked = await local.signIn('lena');
        const { code, verifier } = linked;
        assert.equal(codeOf(await mutate('linkSingleSignOn', { code, verifier })), undefined);
        assert.equal(codeOf(await removePasskey()), undefined);
      } finally {
        await local.stop();
      }
    });

    test('cannot be removed if the password of the user does not log in', async () => {
      bed.provider.addUser('rosa');
      const { authToken } = await createUser('rosa');
      assert.equal(codeOf(await link(await bed.signIn('rosa'), authToken)), undefined);
      const settings = {
        ...bed.provider.settings,
        PASSWORD_LOGIN: 'administrators',
        PUBLIC_URL: bed.node.url,
      };
      const { database, clock } = bed.node;
      const strict = await Testbed.start(kind, { database, clock, settings });
      const [identity] = await identitiesOf(authToken);
      const remove = (at: Testbed) =>
        execute(mutation('unlinkSingleSignOn', '__typename'), { input: { id: identity!.id } }, authToken, at);
      assert.equal(codeOf(await remove(strict)), 'CONFLICT');
      assert.equal(codeOf(await remove(bed.node)), undefined);
      await strict.stop();
    });

    test('are recorded in the journal', async () => {
      const query =
        '{journal(first: 100, filter: {kinds: [LINK_IDENTITY, UNLINK_IDENTITY, CREATE_USER]}){items{kind by{username} user{username} before after}}}';
      type Entry = {
        kind: string;
        by: { username: string } | null;
        before: object | null;
        after: object | null;
      };
      const { data } = await execute<{ journal: { items: (Entry & { user: { username: string } })[] } }>(
        query,
        {},
        admin,
      );
      const find = (kindOf: string, username: string) =>
        data!.journal.items.find((each) => each.kind === kindOf && each.user.username === username)!;
      const singleSignOn = bed.provider.issuer;
      assert.deepEqual(find('LINK_IDENTITY', 'tim').after, { singleSignOn, name: 'tim' });
      assert.equal(find('LINK_IDENTITY', 'tim').by!.username, 'tim');
      assert.deepEqual(find('UNLINK_IDENTITY', 'nils').before, { singleSignOn, name: 'nils' });
      assert.equal(find('UNLINK_IDENTITY', 'nils').by!.username, administrator.username);
      assert.deepEqual(find('CREATE_USER', 'nils').after, {
        username: 'nils',
        isAdministrator: false,
        singleSignOn,
      });
      assert.equal(find('CREATE_USER', 'nils').by, null);
    });

    test('are visible only to administrators and the user', async () => {
      bed.provider.addUser('vera');
      const { authToken } = await bed.logIn('vera');
      const query = '{user(username: "tim"){identities{id}}}';
      const asAdministrator = await execute<{ user: { identities: Identity[] } }>(query, {}, admin);
      assert.equal(asAdministrator.data!.user.identities.length, 1);
      const asOther = await execute<{ user: unknown }>(query, {}, authToken);
      assert.equal(asOther.data!.user, null);
    });

    test('need a recent sign-in, so that a stolen session cannot add one', async () => {
      bed.provider.addUser('mira');
      const tokens = await createUser('mira');
      bed.node.clock.advanceSeconds(601);
      const { authToken } = (await bed.node.refresh(tokens)).json<LoginResponse>();
      const { errors } = await link(await bed.signIn('mira'), authToken);
      assert.match(errors?.[0]?.message ?? '', /^Your sign-in is more than ten minutes old/);
      assert.equal(errors?.[0]?.extensions.code, 'FORBIDDEN');
      assert.deepEqual(await identitiesOf(authToken), []);
      const { authToken: recent } = await bed.node.logIn({ username: 'mira', password });
      assert.equal(codeOf(await link(await bed.signIn('mira'), recent)), undefined);
    });
  });
}
