/** Runs examples/apollo/ and examples/urql/ like a user, with the published libraries and the client's adapters. */

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { sqlite } from '../support/databases.ts';
import { administrator } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { Relay } from './relay.ts';
import { nodeCommand, RunningExample } from './run-example.ts';

const { username, password } = administrator;

for (const library of ['apollo', 'urql']) {
  describe(`examples/${library}/folders.ts on SQLite`, { timeout: 60_000 }, () => {
    let tree: TreeTestbed;
    let relay: Relay;
    beforeEach(async () => {
      tree = await TreeTestbed.start(sqlite);
      relay = await Relay.start(tree.server.url);
    });
    afterEach(async () => {
      relay.stop();
      await tree.stop();
    });
    const start = (user = username, secret = password) =>
      new RunningExample(nodeCommand(`${library}/folders.ts`, relay.url, user, 'Garden'), {
        ESPALIER_PASSWORD: secret,
      });

    test('queries, mutates and follows changes, even after its token has expired', async () => {
      await tree.create('Orchard');
      relay.beforeRequest = (path, { length }) => {
        if (path === '/graphql' && length === 1) tree.server.clock.advanceSeconds(601);
      };
      const running = start();
      try {
        await running.waitForOutput('Orchard\nCreated Garden.\n');
        await running.waitForOutput('CREATE /Garden\n');
        await running.waitForOutput('\nGarden, Orchard\n');
        assert.deepEqual(relay.responses.slice(0, 4), [
          '/login 200',
          '/graphql 401',
          '/login/refresh 200',
          '/graphql 200',
        ]);
        ({ authToken: tree.authToken } = await tree.server.logIn());
        const meadow = await tree.create('Meadow');
        await running.waitForOutput('CREATE /Meadow\n');
        await running.waitForOutput('\nGarden, Meadow, Orchard\n');

        // The socket closes because its token has expired, and reconnects.
        await tree.advanceDays(1);
        await tree.mutate('updateFolder', { id: meadow, name: 'Pond' });
        await running.waitForOutput('UPDATE /Pond\n');
        await running.waitForOutput('\nGarden, Orchard, Pond\n');

        const { code, errors } = await running.stop();
        assert.deepEqual({ code, errors }, { code: 0, errors: '' });
        assert.equal(relay.responses.at(-1), '/logout 204');
        assert.deepEqual(relay.exposedSecrets, []);
      } finally {
        await running.stop('SIGKILL');
      }
    });

    test('prints one line for a failure and exits', async () => {
      const refused = await start(username, 'walnut cabin wrong').result;
      assert.match(refused.errors, /^folders\.ts: The user name or the password is wrong.*\n$/);
      assert.deepEqual([refused.code, refused.output], [1, '']);

      const garden = await tree.create('Garden');
      const taken = await start().result;
      assert.match(taken.errors, /^folders\.ts: .*The name "Garden" is already in use in that folder.*\n$/);
      assert.equal(taken.code, 1);
      await tree.mutate('deleteFolder', { id: garden });

      const user = { username: 'visitor', password, isAdministrator: true };
      const { id } = (await tree.mutate<{ user: { id: string } }>('createUser', user, 'user{id}')).user;
      const running = start('visitor');
      await running.waitForOutput('CREATE /Garden\n');
      await tree.mutate('updateUser', { id, isDisabled: true });
      const { code, errors } = await running.result;
      assert.match(errors, /^folders\.ts: .*The session has ended\. Log in again\.\n$/);
      assert.equal(code, 1);
    });
  });
}
