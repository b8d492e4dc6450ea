/** The JSON output of `espalier signing-key …`. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { runEspalier } from '../support/espalier-command.ts';
import { Testbed } from '../support/testbed.ts';

for (const kind of databaseKinds) {
  describe(`espalier signing-key --json on ${kind.name}`, () => {
    let testbed: Testbed;
    before(async () => (testbed = await Testbed.start(kind)));
    after(() => testbed.stop());

    const masterKey = randomBytes(32).toString('base64');
    const run = async <T>(...args: string[]) => {
      const environment = { ESPALIER_DATABASE_URL: testbed.database.url, ESPALIER_MASTER_KEY: masterKey };
      const { code, output, errors } = await runEspalier(['signing-key', ...args, '--json'], { environment });
      assert.equal(code, 0, errors);
      return JSON.parse(output) as T;
    };

    test('prints one JSON value per command', async () => {
      const [first] = await run<{ id: string; state: string; sealedWith: null }[]>();
      assert.deepEqual([first!.state, first!.sealedWith], ['signs', null]);
      const sealReport = await run<{ changed: number; sealedWith: string }>('seal');
      assert.equal(sealReport.changed, 1);
      assert.match(sealReport.sealedWith, /^[0-9a-f]{12}$/);
      const nextKey = await run<{ id: string; signsFrom: string }>('rotate');
      assert.match(nextKey.signsFrom, /^\d{4}-\d\d-\d\dT[\d:]+Z$/);
      const retireReport = await run('retire', nextKey.id);
      assert.deepEqual(retireReport, { retired: [nextKey.id], hasSigned: false, replacement: null });
      const retireAllReport = await run<{ retired: string[]; replacement: string }>('retire', '--all');
      assert.deepEqual(retireAllReport.retired, [first!.id]);
      assert.deepEqual(
        (await run<{ id: string }[]>('list')).map(({ id }) => id),
        [retireAllReport.replacement],
      );
    });
  });
}
