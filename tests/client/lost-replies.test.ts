/** Mutations with lost or truncated replies: the client retries, and the server applies each change once. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { ClientTestbed, assertRejectsWith } from './client-testbed.ts';

const createFolder =
  'mutation($input: CreateFolderInput!){createFolder(input: $input){folder{id name} cursor}}';

interface CreateFolderResult {
  readonly createFolder: { readonly folder: { readonly id: string; readonly name: string } };
}

for (const kind of databaseKinds) {
  describe(`a mutation on ${kind.name}`, { timeout: 60_000 }, () => {
    let testbed: ClientTestbed;
    before(async () => {
      testbed = await ClientTestbed.start(kind);
    });
    after(() => testbed.stop());

    for (const [fault, applyFault] of [
      ['lost', 'dropReplies'],
      ['truncated', 'truncateReplies'],
    ] as const) {
      test(`is applied once if its reply is ${fault} twice`, async (context) => {
        const client = await testbed.createLoggedInClient(context);
        client.wire[applyFault]('/graphql', 2);
        const input = { name: `created while replies are ${fault}` };
        const { folder } = (await client.mutate<CreateFolderResult>(createFolder, { input })).createFolder;
        assert.equal(client.wire.countRequests('/graphql'), 3);
        const found = await testbed.query<{ folder: { name: string; version: number } }>(
          'query($id: ID!){folder(id: $id){name version}}',
          { id: folder.id },
        );
        assert.deepEqual(found.folder, { name: input.name, version: 1 });
        // Another call has another idempotency key, so the server runs it.
        await assertRejectsWith(client.mutate(createFolder, { input }), 'CONFLICT');
      });
    }

    test('is applied once if the token expires while its reply is lost', async (context) => {
      const client = await testbed.createLoggedInClient(context);
      client.wire.onRequest = ({ path }, send) => {
        if (path !== '/graphql') return undefined;
        client.wire.onRequest = () => undefined;
        return send().then(() => {
          testbed.server.clock.advanceSeconds(601);
          throw new TypeError('fetch failed');
        });
      };
      const { createFolder: created } = await client.mutate<CreateFolderResult>(createFolder, {
        input: { name: 'late' },
      });
      assert.equal(created.folder.name, 'late');
      assert.equal(client.wire.countRequests('/login/refresh'), 1);
    });
  });
}
