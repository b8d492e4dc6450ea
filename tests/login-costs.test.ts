/**
 * Who exists is not told by the work of a login either: whoever is refused costs one hash and the same statements. How long
 * that takes is measured by `npm run measure:login-times`.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkCredentials } from '../server/src/accounts/accounts.ts';
import type { Passwords } from '../server/src/accounts/passwords.ts';
import { databaseKinds } from './databases.ts';
import { disableUser, withDatabase } from './stored-rows.ts';
import { administrator, Testbed } from './testbed.ts';

const { username, password } = administrator;
const refused = {
  'an unknown user': { username: 'nobody', password },
  'what cannot be a name': { username: '', password },
  'a wrong password': { username, password: 'not the password' },
  'a disabled user': { username: 'barred', password: 'walnut cabin 72' },
};

for (const kind of databaseKinds) {
  describe(`what a refused login costs on ${kind.name}`, () => {
    const withBed = async (work: (bed: Testbed, statements: string[]) => Promise<void>) => {
      const statements: string[] = [];
      const onStatement = (text: string) => void statements.push(text.trim().replace(/\s+/g, ' '));
      const bed = await Testbed.start(kind, { onStatement });
      try {
        const { authToken } = await bed.logIn();
        const query = 'mutation($input: CreateUserInput!){createUser(input: $input){user{id}}}';
        await bed.query(query, authToken, { input: refused['a disabled user'] });
        await disableUser(bed.database.url, 'barred', bed.clock.now());
        await work(bed, statements);
      } finally {
        await bed.stop();
      }
    };

    test('is the same statements for an unknown user, a wrong password and a disabled user', () =>
      withBed(async (bed, statements) => {
        const during = async (credentials: { username: string; password: string }) => {
          statements.length = 0;
          assert.equal((await bed.post('/login', credentials)).status, 401);
          return [...statements];
        };
        const unknown = await during(refused['an unknown user']);
        assert.ok(unknown.some((text) => text.includes('from users')));
        assert.deepEqual(await during(refused['a wrong password']), unknown);
        assert.deepEqual(await during(refused['a disabled user']), unknown);
      }));

    test('is one hash for each of them', () =>
      withBed((bed) =>
        withDatabase(bed.database.url, async (database) => {
          for (const [title, credentials] of Object.entries(refused)) {
            let hashes = 0;
            const counting: Pick<Passwords, 'matches'> = {
              // Even if it is the right one: a disabled user's is.
              matches: (given, known) => {
                hashes++;
                assert.equal(given, credentials.password);
                return Promise.resolve(known !== undefined && title === 'a disabled user');
              },
            };
            const checked = await checkCredentials(database, counting as Passwords, credentials, {
              key: 'address 192.0.2.1',
            });
            assert.deepEqual({ checked, hashes }, { checked: undefined, hashes: 1 }, title);
          }
        }),
      ));
  });
}
