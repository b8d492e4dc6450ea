/** Mutations with lost or truncated replies: the client retries, and the server applies each change once. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { ClientTestbed, assertRejectsWith } from './client-testbed.ts';

const createFolder =
  'mutation($input: CreateFolderInput!){createFolder(input: $input){folder{id name} cursor}}';

interface Created {
  readonly createFolder: { readonly folder: { readonly id: string; readonly name: string } };
}

for (const kind of databaseKinds) {
  describe(`a mutation with lost replies on ${kind.name}`, { timeout: 60_000 }, () => {
    let testbed: ClientTestbed;
    before(async () => {
      testbed = await ClientTestbed.start(kind);
    });
    after(() => testbed.stop());

    for (const [what, lose] of [
      ['lost', 'loseReplies'],
      ['cut', 'cutReplies'],
    ] as const) {
      test(`is applied once if its reply is ${what} twice, and returns its result`, async (context) => {
        const client = await testbed.loggedIn(context);
        client.wire[lose]('/graphql', 2);
        const input = { name: `made while replies are ${what}` };
        const { folder } = (await client.mutate<Created>(createFolder, { input })).createFolder;
        assert.equal(client.wire.count('/graphql'), 3);
        const stored = await testbed.query<{ folder: { name: string; version: number } }>(
          'query($id: ID!){folder(id: $id){name version}}',
          { id: folder.id },
        );
        assert.deepEqual(stored.folder, { name: input.name, version: 1 });
        // Another call has another idempotency key, so the server runs it.
        await assertRejectsWith(client.mutate(createFolder, { input }), 'CONFLICT');
      });
    }

    test('is applied once if the token expires while its reply is lost', async (context) => {
      const client = await testbed.loggedIn(context);
      client.wire.onRequest = ({ path }, send) => {
        if (path !== '/graphql') return undefined;
        client.wire.onRequest = () => undefined;
        return send().then(() => {
          testbed.server.clock.advanceSeconds(601);
          throw new TypeError('fetch failed');
        });
      };
      const { createFolder: made } = await client.mutate<Created>(createFolder, { input: { name: 'late' } });
      assert.equal(made.folder.name, 'late');
      assert.equal(client.wire.count('/login/refresh'), 1);
    });
  });
}
