/**
 * A user's own password and sessions: changing the password, and listing and ending sessions. No response or
 * log line contains a secret.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { databaseKinds } from '../support/databases.ts';
import { PeopleTestbed, type Person } from './people-testbed.ts';
import { administrator } from '../support/testbed.ts';

interface SessionView {
  id: string;
  createdAt: string;
  refreshedAt: string;
  expiresAt: string;
  address: string | null;
  agent: string | null;
  isCurrent: boolean;
  user: { id: string };
}

const sessionFields = 'id createdAt refreshedAt expiresAt address agent isCurrent user{id}';
const ownSessions = `{viewer{sessions{items{${sessionFields}}}}}`;
const sessionPage = `query($userId: ID, $first: Int, $after: String){
  sessions(userId: $userId, first: $first, after: $after){
    items{id user{username}} pageInfo{hasNextPage hasPreviousPage endCursor} totalCount}}`;

interface SessionConnection {
  items: { id: string; user: { username: string } }[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; endCursor: string | null };
  totalCount: number;
}

for (const kind of databaseKinds) {
  describe(`one's own account on ${kind.name}`, () => {
    let people: PeopleTestbed;
    before(async () => {
      people = await PeopleTestbed.start(kind);
    });
    after(() => people.stop());

    const canRefresh = async (tokens: LoginResponse) => (await people.server.refresh(tokens)).status === 200;
    const readSessions = async ({ authToken }: LoginResponse) =>
      (await people.query<{ viewer: { sessions: { items: SessionView[] } } }>(ownSessions, {}, authToken))
        .viewer.sessions.items;
    const idOf = async (tokens: LoginResponse) =>
      (await readSessions(tokens)).find(({ isCurrent }) => isCurrent)!.id;
    const logInFrom = async (agent: string, { username, password }: Person) => {
      const headers = { 'content-type': 'application/json', 'user-agent': agent };
      const response = await people.server.postRaw('/login', JSON.stringify({ username, password }), headers);
      return response.json<LoginResponse>();
    };

    describe('passwords', () => {
      test("end the user's other sessions when they change, but neither the current session nor those of other users", async () => {
        const person = await people.createUser();
        const bystander = await people.logIn(await people.createUser());
        const [here, ...elsewhere] = [
          await people.logIn(person),
          await people.logIn(person),
          await people.logIn(person),
        ];
        const newPassword = 'a different cabin';
        const input = { oldPassword: person.password, newPassword };
        const changed = await people.mutate('changePassword', input, 'endedSessions', here.authToken);
        assert.deepEqual(changed, { endedSessions: 2 });
        for (const tokens of elsewhere) assert.equal(await canRefresh(tokens), false);
        assert.deepEqual(await people.statuses(person, here), { graph: 200, refresh: 200, login: 401 });
        assert.ok((await people.logIn({ ...person, password: newPassword })).authToken);
        assert.equal(await canRefresh(bystander), true);
      });

      test('require the old password for a change', async () => {
        const person = await people.createUser();
        const { authToken } = await people.logIn(person);
        for (const oldPassword of [
          '',
          'wrong password',
          person.password.toUpperCase(),
          administrator.password,
        ]) {
          const input = { oldPassword, newPassword: 'a different cabin' };
          assert.equal(
            await people.mutationError('changePassword', input, authToken),
            'FORBIDDEN: The old password is wrong.',
          );
        }
        assert.ok((await people.logIn(person)).authToken);
      });

      test('can be changed by only one of several concurrent requests with the same old password', async () => {
        const person = await people.createUser();
        const { authToken } = await people.logIn(person);
        const query = 'mutation($input: ChangePasswordInput!){changePassword(input: $input){endedSessions}}';
        const changes = Array.from({ length: 4 }, (_, index) => {
          const input = { oldPassword: person.password, newPassword: `racing cabin ${index}` };
          return people.execute(query, { input }, authToken);
        });
        const won = (await Promise.all(changes)).filter(({ errors }) => !errors);
        assert.equal(won.length, 1);
      });

      test('are rejected if invalid, and not repeated in the error', async () => {
        const person = await people.createUser({ username: 'annabelle' });
        const { authToken } = await people.logIn(person);
        const invalidPasswords = ['short', 'PassWord1', 'Annabelle', 'x'.repeat(129), 'walnut cabin\ud800'];
        for (const password of invalidPasswords) {
          const refusals = [
            await people.mutationError('createUser', { username: 'Annabelle', password }),
            await people.mutationError('resetPassword', { userId: person.id, password }),
            await people.mutationError(
              'changePassword',
              { oldPassword: person.password, newPassword: password },
              authToken,
            ),
          ];
          for (const queryError of refusals) {
            assert.match(queryError, /^BAD_INPUT/, password);
            assert.ok(!queryError.includes(password));
          }
        }
        assert.ok((await people.logIn(person)).authToken);
      });

      test('stop working when an administrator resets them, and all sessions of the user end', async () => {
        const person = await people.createUser();
        const tokens = await people.logIn(person);
        const password = 'set by an administrator';
        const input = { userId: person.id, password };
        assert.deepEqual(await people.mutate('resetPassword', input, 'endedSessions'), { endedSessions: 1 });
        const { refresh, login } = await people.statuses(person, tokens);
        assert.deepEqual({ refresh, login }, { refresh: 401, login: 401 });
        assert.ok((await people.logIn({ ...person, password })).authToken);
      });

      test('cannot be reset by administrators for their own account', async () => {
        const { viewer } = await people.query<{ viewer: { user: { id: string } } }>('{viewer{user{id}}}');
        const input = { userId: viewer.user.id, password: 'a different cabin' };
        assert.match(await people.mutationError('resetPassword', input), /^CONFLICT.*changePassword/);
      });
    });

    describe('sessions', () => {
      test('include their device, address and last use, and start with the newest login', async () => {
        const person = await people.createUser();
        const phone = await logInFrom('Phone/1.0', person);
        people.server.clock.advanceSeconds(60);
        const laptop = await logInFrom(`Lap\ttop\x85 ${'x'.repeat(300)}`, person);
        people.server.clock.advanceSeconds(60);
        const headers = { 'content-type': 'application/json', 'user-agent': 'Phone/2.0' };
        await people.server.postRaw('/login/refresh', JSON.stringify({ refreshToken: phone.refreshToken }), {
          ...headers,
          authorization: `Bearer ${phone.authToken}`,
        });
        const [second, first, ...more] = await readSessions(laptop);
        assert.deepEqual(more, []);
        assert.equal(second!.agent, `Laptop ${'x'.repeat(248)}`);
        assert.equal(second!.isCurrent, true);
        assert.equal(second!.refreshedAt, second!.createdAt);
        assert.equal(first!.agent, 'Phone/2.0');
        assert.equal(first!.isCurrent, false);
        assert.equal(Date.parse(first!.refreshedAt) - Date.parse(first!.createdAt), 120_000);
        for (const { address, user } of [first!, second!]) {
          assert.equal(address, '127.0.0.1');
          assert.equal(user.id, person.id);
        }
      });

      test('include the address sent by a trusted proxy, if it is valid', async () => {
        const proxied = await PeopleTestbed.start(kind, { settings: { TRUST_PROXY: 'true' } });
        const { server } = proxied;
        const addressFor = async (forwarded: string) => {
          const headers = { 'content-type': 'application/json', 'x-forwarded-for': forwarded };
          const login = await server.postRaw('/login', JSON.stringify(administrator), headers);
          const { authToken } = login.json<LoginResponse>();
          return proxied.query('{viewer{session{address}}}', {}, authToken);
        };
        assert.deepEqual(await addressFor('2001:db8::7'), {
          viewer: { session: { address: '2001:db8::7' } },
        });
        assert.deepEqual(await addressFor('<b>not an address'), { viewer: { session: { address: null } } });
        await proxied.stop();
      });

      test('are not listed after they ended or expired', async () => {
        const person = await people.createUser();
        const gone = await people.logIn(person);
        await people.server.post('/logout', {}, gone.authToken);
        const own = await people.logIn(person);
        assert.equal((await readSessions(own)).length, 1);
        const short = await PeopleTestbed.start(kind, { settings: { REFRESH_TOKEN_SECONDS: '300' } });
        short.server.clock.advanceSeconds(300);
        const count = await short.query(
          '{viewer{sessions{totalCount items{id}}} sessions{totalCount items{id}}}',
        );
        const none = { totalCount: 0, items: [] };
        assert.deepEqual(count, { viewer: { sessions: none }, sessions: none });
        await short.stop();
      });

      test('can be ended one by one, all except the current one, or all together', async () => {
        const person = await people.createUser();
        const [here, one, two] = [
          await people.logIn(person),
          await people.logIn(person),
          await people.logIn(person),
        ];
        const id = await idOf(one);
        const revoked = await people.mutate('revokeSession', { id }, 'revokedSessionId', here.authToken);
        assert.deepEqual(revoked, { revokedSessionId: id });
        assert.equal(await canRefresh(one), false);
        assert.match(await people.mutationError('revokeSession', { id }, here.authToken), /^NOT_FOUND/);
        const others = await people.mutate(
          'revokeSessions',
          { keepCurrent: true },
          'endedSessions',
          here.authToken,
        );
        assert.deepEqual(others, { endedSessions: 1 });
        assert.equal(await canRefresh(two), false);
        assert.deepEqual(await people.mutate('revokeSessions', {}, 'endedSessions', here.authToken), {
          endedSessions: 1,
        });
        assert.equal(await canRefresh(here), false);
        assert.ok((await people.logIn(person)).authToken);
      });

      test('are hidden from other users, but an administrator can list and end them', async () => {
        const person = await people.createUser();
        const sessions = [await people.logIn(person), await people.logIn(person)];
        const stranger = await people.logIn(await people.createUser());
        const id = await idOf(sessions[0]!);
        assert.match(await people.mutationError('revokeSession', { id }, stranger.authToken), /^NOT_FOUND/);
        const input = { userId: person.id };
        assert.match(await people.mutationError('revokeSessions', input, stranger.authToken), /^FORBIDDEN/);
        const seen = await people.query<{ user: { sessions: { items: { id: string }[] } } }>(
          'query($userId: ID){user(id: $userId){sessions{items{id}}}}',
          input,
        );
        assert.ok(seen.user.sessions.items.some((session) => session.id === id));
        await people.mutate('revokeSession', { id }, 'revokedSessionId');
        assert.equal(await canRefresh(sessions[0]!), false);
        assert.deepEqual(await people.mutate('revokeSessions', input, 'endedSessions'), { endedSessions: 1 });
        assert.equal(await canRefresh(sessions[1]!), false);
        assert.equal(await canRefresh(stranger), true);
      });

      test('are paged for administrators, all or those of one user, the newest first', async () => {
        const person = await people.createUser();
        const ids: string[] = [];
        for (let count = 0; count < 5; count++) {
          // Pairs of sessions start at the same time, so their ids decide the order.
          if (count % 2) people.server.clock.advanceSeconds(1);
          ids.unshift(await idOf(await people.logIn(person)));
        }
        const page = async (variables: Record<string, unknown>) =>
          (await people.query<{ sessions: SessionConnection }>(sessionPage, variables)).sessions;
        const seen: string[] = [];
        for (let after: string | null = null, more = true; more;) {
          const part: SessionConnection = await page({ userId: person.id, first: 2, after });
          assert.equal(part.totalCount, 5);
          assert.equal(part.pageInfo.hasPreviousPage, seen.length > 0);
          seen.push(...part.items.map(({ id }) => id));
          ({ hasNextPage: more, endCursor: after } = part.pageInfo);
        }
        assert.deepEqual(seen.toSorted(), ids.toSorted());
        assert.equal(seen.at(-1), ids.at(-1));
        const allSessions = await page({});
        const names = new Set(allSessions.items.map(({ user }) => user.username));
        assert.ok(names.has(person.username) && names.size > 1);
        const { pageInfo } = await page({ userId: person.id, first: 1 });
        assert.match(await people.queryError(sessionPage, { after: pageInfo.endCursor }), /^BAD_INPUT/);
      });
    });

    test('keeps passwords, hashes and tokens out of responses and log lines', async () => {
      const person = await people.createUser({ password: 'secret walnut one' });
      const tokens = await people.logIn(person);
      const texts: string[] = [];
      const send = async (query: string, variables: Record<string, unknown>, authToken: string) =>
        void texts.push((await people.server.query(query, authToken, variables)).text);
      const change = 'mutation($input: ChangePasswordInput!){changePassword(input: $input){endedSessions}}';
      const input = { oldPassword: person.password, newPassword: 'secret walnut two' };
      await send(change, { input: { ...input, oldPassword: 'secret walnut none' } }, tokens.authToken);
      await send(change, { input: input }, tokens.authToken);
      await send(change, { input: { ...input, newPassword: 7 } }, tokens.authToken);
      const reset = 'mutation($input: ResetPasswordInput!){resetPassword(input: $input){endedSessions}}';
      await send(reset, { input: { userId: person.id, password: 'secret walnut three' } }, people.authToken);
      await send('{users{items{id username sessions{items{id agent address}}}}}', {}, people.authToken);
      const everything = [...texts, ...people.server.logLines].join('\n');
      for (const secret of [
        'secret walnut',
        '$argon2',
        tokens.authToken,
        tokens.refreshToken,
        people.authToken,
      ]) {
        assert.ok(!everything.includes(secret), secret);
      }
    });
  });
}
