/** Runs examples/javascript/watch.mjs and examples/python/watch.py like a user. */

import { join } from 'node:path';
import { test } from 'node:test';
import { requireProgram } from '../runner/debian-packages.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { administrator } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { examples, RunningExample } from './run-example.ts';

const watchers = [
  // The server warns on the socket before the token expires.
  { name: 'javascript/watch.mjs', program: () => process.execPath, secondsToRefresh: 545 },
  // An event stream ends when the token expires.
  { name: 'python/watch.py', program: () => requireProgram('python3'), secondsToRefresh: 601 },
];

for (const { name, program, secondsToRefresh } of watchers) {
  for (const kind of databaseKinds) {
    test(`examples/${name} follows changes beyond the expiry of its token on ${kind.name}`, async () => {
      const tree = await TreeTestbed.start(kind);
      const { username, password } = administrator;
      const watch = new RunningExample([program(), join(examples, name), tree.server.url, username], {
        ESPALIER_PASSWORD: password,
        PYTHONDONTWRITEBYTECODE: '1',
      });
      try {
        await watch.waitForOutput('There are 0 folders.');
        await tree.create('Garden');
        await watch.waitForOutput('CREATE /Garden admin');
        tree.server.clock.advanceSeconds(secondsToRefresh);
        const hasRefreshed = () =>
          tree.server.logLines.some((line) => line.includes('"route":"/login/refresh"'));
        await eventually(hasRefreshed, 'a refresh', 5_000);
        ({ authToken: tree.authToken } = await tree.server.logIn());
        // Shorter than the lifetime of the new token, and beyond the end of the old one.
        tree.server.clock.advanceSeconds(300);
        const id = await tree.idOf('/Garden');
        await tree.mutate('updateFolder', { id, name: 'Orchard' });
        await watch.waitForOutput('UPDATE /Orchard admin');
      } finally {
        await watch.stop();
        await tree.stop();
      }
    });
  }
}
