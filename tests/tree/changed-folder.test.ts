/**
 * The response of a mutation equals that of a query of the folder. It does not repeat the reads of the mutation.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createGraph } from '../../server/src/graph/graph.ts';
import { databaseKinds } from '../support/databases.ts';
import { mutation } from '../support/graph-testbed.ts';
import { MirrorTestbed, createViewer } from '../live/mirror/mirror-testbed.ts';

const ownFields =
  '__typename id name title icon description properties parent{id} path depth accessLevel version createdAt updatedAt';
/** These fields need a snapshot after the change. */
const readFields = [
  'parent{name}',
  'ancestors{id name}',
  'folders{totalCount}',
  'position',
  'descendants{items{id}}',
];

interface FolderData {
  readonly id: string;
  readonly path: string;
  readonly accessLevel: string;
}

for (const kind of databaseKinds) {
  describe(`the response of a mutation on ${kind.name}`, () => {
    let testbed: MirrorTestbed;
    let adminId: string;
    let writerId: string;
    let innerId: string;

    before(async () => {
      testbed = await MirrorTestbed.start(kind);
      adminId = await testbed.administratorId();
      const user = { username: 'writer', password: 'walnut cabin 1' };
      writerId = (await change<{ user: { id: string } }>(adminId, 'createUser', user, 'user{id}')).user.id;
      const outer = await create(adminId, { name: 'Outer' });
      const middle = await create(adminId, { name: 'Middle', parentId: outer.id });
      innerId = (await create(adminId, { name: 'Inner', parentId: middle.id })).id;
      await change(adminId, 'grantAccess', { folderId: innerId, userId: writerId, level: 'WRITE' });
    });
    after(() => testbed.stop());

    async function change<Payload>(
      userId: string,
      name: string,
      input: object,
      selection = '__typename',
    ): Promise<Payload> {
      const response = await testbed.run<Record<string, Payload>>(userId, mutation(name, selection), {
        input,
      });
      assert.equal(response.errors, undefined, JSON.stringify(response.errors));
      return response.data![name]!;
    }

    async function create(userId: string, input: object): Promise<FolderData> {
      const selection = `folder{${ownFields}}`;
      return (await change<{ folder: FolderData }>(userId, 'createFolder', input, selection)).folder;
    }

    async function query(userId: string, id: string, selection: string): Promise<unknown> {
      const response = await testbed.run<{ folder: unknown }>(
        userId,
        `query($id:ID!){folder(id:$id){${selection}}}`,
        {
          id,
        },
      );
      assert.equal(response.errors, undefined, JSON.stringify(response.errors));
      return response.data!.folder;
    }

    for (const user of ['an administrator', 'a user with one deep grant']) {
      test(`equals the response to a later query by ${user}`, async () => {
        const userId = user === 'an administrator' ? adminId : writerId;
        const name = `By ${user}`;
        const texts = { title: 'T', icon: '📁', description: 'D', properties: { a: [1, null] } };
        const created = await create(userId, { parentId: innerId, name, ...texts });
        assert.equal(created.path, `/Outer/Middle/Inner/${name}`);
        assert.deepEqual(created, await query(userId, created.id, ownFields));
        for (const selection of [ownFields, ...readFields]) {
          const input = { id: created.id, name: `${name}, ${selection}`.slice(0, 60), icon: null };
          const { folder } = await change<{ folder: FolderData }>(
            userId,
            'updateFolder',
            input,
            `folder{${selection}}`,
          );
          assert.deepEqual(folder, await query(userId, created.id, selection), selection);
        }
      });
    }

    test('equals the response to a query for a folder in the root, and for the root', async () => {
      const created = await create(adminId, { name: 'In the root' });
      assert.deepEqual(created, await query(adminId, created.id, ownFields));
      const { id } = (await testbed.run<{ folder: { id: string } }>(adminId, '{folder{id}}')).data!.folder;
      const selection = `folder{${ownFields}}`;
      const { folder } = await change<{ folder: FolderData }>(
        adminId,
        'updateFolder',
        { id, title: 'Top' },
        selection,
      );
      assert.deepEqual(folder, await query(adminId, id, ownFields));
    });

    test('opens no snapshot for fields that the mutation has read, and one for others', async () => {
      let opened = 0;
      const services = testbed.changeServices(({ database, ...rest }) => ({
        ...rest,
        database: {
          ...database,
          openSnapshot: () => {
            opened++;
            return database.openSnapshot();
          },
        },
      }));
      const graph = createGraph(services);
      const send = async (name: string, selection: string) => {
        const input = { parentId: innerId, name };
        const request = {
          query: mutation('createFolder', `folder{${selection}} cursor`),
          variables: { input },
        };
        const { text } = await graph.run(request, createViewer(writerId));
        assert.doesNotMatch(text, /errors/);
      };
      await send('First', ownFields);
      opened = 0;
      await send('Second', ownFields);
      assert.equal(opened, 0);
      await send('Third', 'parent{name}');
      assert.equal(opened, 1);
    });
  });
}
