/** `espalier user reset-second-factor`, through the server and on the database. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { FactorTestbed } from '../second-factors/factor-testbed.ts';
import { databaseKinds } from '../support/databases.ts';
import { runEspalier } from '../support/espalier-command.ts';
import { administrator, TestClock } from '../support/testbed.ts';

for (const kind of databaseKinds) {
  describe(`espalier user reset-second-factor on ${kind.name}`, () => {
    let folder: string;
    let factors: FactorTestbed;
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'espalier-reset-'));
      const clock = new TestClock();
      clock.advanceSeconds((Date.now() - clock.now()) / 1000);
      factors = await FactorTestbed.start(kind, { clock });
    });
    after(async () => {
      await factors.stop();
      rmSync(folder, { recursive: true });
    });

    const run = (args: readonly string[], environment: Record<string, string>) =>
      runEspalier(['user', 'reset-second-factor', ...args], {
        environment: { ESPALIER_CONFIG_DIR: folder, ...environment },
      });

    test('removes the factors of another user through the server, for administrators only', async () => {
      const anna = await factors.createAppUser({ username: 'anna' });
      const session = await factors.logInWithCode(anna);
      const url = factors.server.url;
      const logIn = async (
        profile: string,
        { username, password }: { username: string; password: string },
      ) => {
        const file = join(folder, `password-${profile}`);
        writeFileSync(file, password);
        const args = ['login', '--url', url, '-u', username, '--password-file', file, '--profile', profile];
        const { code, errors } = await runEspalier(args, { environment: { ESPALIER_CONFIG_DIR: folder } });
        assert.equal(code, 0, errors);
      };
      await logIn('administrator', administrator);
      await logIn('other', await factors.createUser({ username: 'ben' }));
      const refused = await run(['anna', '--yes', '--profile', 'other'], {});
      assert.equal(refused.code, 1);
      assert.equal(await factors.outcome(anna), 'SECOND_FACTOR_REQUIRED');
      const { code, output, errors } = await run(
        ['anna', '--yes', '--json', '--profile', 'administrator'],
        {},
      );
      assert.equal(code, 0, errors);
      assert.deepEqual(JSON.parse(output), { id: anna.id, username: 'anna', endedSessions: 2 });
      assert.equal((await factors.server.query('{__typename}', session.authToken)).status, 401);
      assert.equal(await factors.outcome(anna), 'SUCCESS');
      const again = await run(['anna', '--yes', '--profile', 'administrator'], {});
      assert.match(again.errors, /This user has no second factor\./);
      const own = await run(['admin', '--yes', '--profile', 'administrator'], {});
      assert.match(own.errors, /^espalier: You cannot reset your own second factor/);
    });

    test('lets an administrator who lost everything log in again, with --on-database', async () => {
      const { authToken } = await factors.server.logIn();
      await factors.addPasskey(authToken, { password: administrator.password });
      assert.equal(await factors.outcome(administrator), 'SECOND_FACTOR_REQUIRED');
      const environment = { ESPALIER_DATABASE_URL: factors.server.database.url };
      const { code, output } = await run(['ADMIN', '--on-database', '--yes'], environment);
      assert.equal(output, 'The second factor of admin is removed. Sessions ended: 1.\n');
      assert.equal(code, 0);
      assert.equal(await factors.outcome(administrator), 'SUCCESS');
      const again = await run(['admin', '--on-database', '--yes'], environment);
      assert.equal(again.code, 1);
      assert.match(again.errors, /This user has no second factor\./);
      const unknown = await run(['nobody', '--on-database', '--yes'], environment);
      assert.match(unknown.errors, /There is no user "nobody"\. Administrators are "admin"/);
    });

    test('refuses options that have no effect', async () => {
      const { code, errors } = await run(['admin', '--yes', '--database-url', 'sqlite:x.db'], {});
      assert.equal(code, 2);
      assert.match(errors, /--database-url has an effect only with --on-database/);
    });
  });
}
