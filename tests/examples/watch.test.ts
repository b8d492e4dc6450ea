/** Runs examples/javascript/watch.mjs like a user. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { administrator } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';

for (const kind of databaseKinds) {
  test(`examples/javascript/watch.mjs follows changes beyond the expiry of its token on ${kind.name}`, async () => {
    const tree = await TreeTestbed.start(kind);
    const script = new URL('../../examples/javascript/watch.mjs', import.meta.url).pathname;
    const { username, password } = administrator;
    const child = spawn(process.execPath, [script, tree.testbed.url, username], {
      env: { ESPALIER_PASSWORD: password },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const nextLine = async () => (await lines.next()).value as string;
    try {
      assert.equal(await nextLine(), 'There are 0 folders.');
      await tree.create('Garden');
      assert.equal(await nextLine(), 'CREATE /Garden admin');
      // The server warns, the example refreshes, sends its new token and continues.
      tree.testbed.clock.advanceSeconds(545);
      const hasRefreshed = () =>
        tree.testbed.logLines.some((line) => line.includes('"route":"/login/refresh"'));
      await eventually(hasRefreshed, 'a refresh', 5_000);
      ({ authToken: tree.authToken } = await tree.testbed.logIn());
      tree.testbed.clock.advanceSeconds(300);
      const id = await tree.idOf('/Garden');
      await tree.mutate('updateFolder', { id, name: 'Orchard' });
      assert.equal(await nextLine(), 'UPDATE /Orchard admin');
    } finally {
      child.kill();
      await once(child, 'exit');
      await tree.stop();
    }
  });
}
