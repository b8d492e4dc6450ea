/**
 * The cost of a refused login does not reveal whether the user exists: each refusal costs one hash and the same
 * statements. `npm run lab -- login-times` measures the durations.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkCredentials } from '../../server/src/accounts/passwords.ts';
import type { Passwords } from '../../server/src/accounts/passwords.ts';
import { databaseKinds } from '../support/databases.ts';
import { disableUser, withDatabase } from '../support/stored-rows.ts';
import { administrator, Testbed } from '../support/testbed.ts';

const { username, password } = administrator;
const refusedCredentials = {
  'an unknown user': { username: 'nobody', password },
  'an impossible name': { username: '', password },
  'a wrong password': { username, password: 'not the password' },
  'a disabled user': { username: 'barred', password: 'walnut cabin 72' },
};

for (const kind of databaseKinds) {
  describe(`the cost of a refused login on ${kind.name}`, () => {
    const withTestbed = async (work: (testbed: Testbed, statements: string[]) => Promise<void>) => {
      const statements: string[] = [];
      const onStatement = (text: string) => void statements.push(text.trim().replace(/\s+/g, ' '));
      const testbed = await Testbed.start(kind, { onStatement });
      try {
        const { authToken } = await testbed.logIn();
        const query = 'mutation($input: CreateUserInput!){createUser(input: $input){user{id}}}';
        await testbed.query(query, authToken, { input: refusedCredentials['a disabled user'] });
        await disableUser(testbed.database.url, 'barred', testbed.clock.now());
        await work(testbed, statements);
      } finally {
        await testbed.stop();
      }
    };

    test('is the same list of statements for an unknown user, a wrong password and a disabled user', () =>
      withTestbed(async (testbed, statements) => {
        const listStatementsOf = async (credentials: { username: string; password: string }) => {
          statements.length = 0;
          assert.equal((await testbed.post('/login', credentials)).status, 401);
          return [...statements];
        };
        const unknown = await listStatementsOf(refusedCredentials['an unknown user']);
        assert.ok(unknown.some((text) => text.includes('from users')));
        assert.deepEqual(await listStatementsOf(refusedCredentials['a wrong password']), unknown);
        assert.deepEqual(await listStatementsOf(refusedCredentials['a disabled user']), unknown);
      }));

    test('is one hash in each case', () =>
      withTestbed((testbed) =>
        withDatabase(testbed.database.url, async (database) => {
          for (const [title, credentials] of Object.entries(refusedCredentials)) {
            let hashes = 0;
            const counting: Pick<Passwords, 'matches'> = {
              // Matches for the disabled user, who sends the right password.
              matches: (sentPassword, storedHash) => {
                hashes++;
                assert.equal(sentPassword, credentials.password);
                return Promise.resolve(storedHash !== undefined && title === 'a disabled user');
              },
            };
            const { result } = await checkCredentials(database, counting as Passwords, credentials, {
              key: 'address 192.0.2.1',
            });
            const expected = title === 'a disabled user' ? 'DISABLED' : 'WRONG_CREDENTIALS';
            assert.deepEqual({ result, hashes }, { result: expected, hashes: 1 }, title);
          }
        }),
      ));
  });
}
