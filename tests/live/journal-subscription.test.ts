/** The subscription `journal`, which sends each new journal entry to administrators. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { SocketClient, type Frame } from './socket-client.ts';

interface Entry {
  readonly number: number;
  readonly cursor: string;
  readonly kind: string;
  readonly by: { readonly username: string } | null;
  readonly folder: { readonly name: string } | null;
  readonly user: { readonly username: string } | null;
}

interface ActivityData {
  readonly server: { readonly activity: { readonly subscriptions: number } };
}

const subscription = `subscription($filter: JournalFilter, $after: String){journal(filter: $filter, after: $after){
  number cursor kind by{username} folder{name} user{username}}}`;
const maxBacklog = 100;

for (const kind of databaseKinds) {
  describe(`the journal subscription on ${kind.name}`, () => {
    let tree: TreeTestbed;
    const clients: SocketClient[] = [];

    before(async () => {
      tree = await TreeTestbed.start(kind, { settings: { MAX_BACKLOG: String(maxBacklog) } });
    });
    after(async () => {
      await Promise.all(clients.map((client) => client.close()));
      await tree.stop();
    });

    const readCursor = async () => (await tree.query<{ cursor: string }>('{cursor}')).cursor;
    /** Reads the cursor before it connects, so that the subscription misses no later entry. */
    const listen = async (variables: Record<string, unknown> = {}, authToken = tree.authToken) => {
      const after = variables['after'] ?? (await readCursor());
      const client = await SocketClient.connect(tree.server.url, authToken);
      clients.push(client);
      client.start('1', subscription, { ...variables, after });
      return client;
    };
    const readEntry = ({ type, payload }: Frame): Entry => {
      const { data, errors } = payload as { data?: { journal: Entry }; errors?: unknown };
      assert.equal(type, 'next', JSON.stringify(payload));
      assert.equal(errors, undefined, JSON.stringify(errors));
      return data!.journal;
    };
    const readEntries = async (client: SocketClient, count: number) => {
      const entries: Entry[] = [];
      while (entries.length < count) entries.push(readEntry(await client.next()));
      return entries;
    };
    const readCode = ({ type, payload }: Frame) => {
      assert.equal(type, 'error', JSON.stringify(payload));
      return (payload as unknown as { extensions: { code: string } }[])[0]!.extensions.code;
    };
    const createAdministrator = async () => {
      const person = await tree.person({});
      await tree.mutate('updateUser', { id: person.id, isAdministrator: true });
      return person;
    };

    test('sends all entries in order, with their author and target', async () => {
      const client = await listen();
      const id = await tree.create('House');
      const ann = await tree.person({ [id]: 'READ' });
      await tree.mutate('updateFolder', { id, title: 'The house' });
      const entries = await readEntries(client, 4);
      assert.deepEqual(
        entries.map((entry) => [entry.kind, entry.by?.username, entry.folder?.name, entry.user?.username]),
        [
          ['CREATE_FOLDER', 'admin', 'House', undefined],
          ['CREATE_USER', 'admin', undefined, ann.username],
          ['GRANT_ACCESS', 'admin', 'House', ann.username],
          ['UPDATE_FOLDER', 'admin', 'House', undefined],
        ],
      );
      const first = entries[0]!.number;
      assert.deepEqual(
        entries.map(({ number }) => number),
        [first, first + 1, first + 2, first + 3],
      );
      const late = await listen({ after: entries[1]!.cursor });
      assert.deepEqual(await readEntries(late, 2), entries.slice(2), 'no entry after the cursor is missing');
    });

    test('sends only entries that match the filter', async () => {
      const parentId = await tree.create('Garden');
      const client = await listen({
        filter: { folderId: parentId, kinds: ['UPDATE_FOLDER', 'DELETE_FOLDER'] },
      });
      await tree.create('Tree', parentId);
      await tree.mutate('updateFolder', { id: parentId, title: 'The garden' });
      const ann = await createAdministrator();
      const byAnn = await listen({ filter: { byId: ann.id } });
      await tree.create('Hidden from the filter');
      await tree.mutate('createFolder', { name: 'Pond', parentId }, 'folder{id}', ann.authToken);
      await tree.delete(parentId);
      assert.deepEqual(
        (await readEntries(client, 2)).map((entry) => entry.kind),
        ['UPDATE_FOLDER', 'DELETE_FOLDER'],
      );
      const [entry] = await readEntries(byAnn, 1);
      assert.deepEqual([entry!.kind, entry!.by?.username], ['CREATE_FOLDER', ann.username]);
      const unmatched = await listen({ filter: { userId: 'nobody' } });
      await tree.create('After all');
      assert.deepEqual(unmatched.unread, []);
    });

    test('rejects other users than administrators, and ends when the viewer loses the role', async () => {
      const { authToken } = await tree.person({});
      assert.equal(readCode(await (await listen({}, authToken)).next()), 'FORBIDDEN');
      const ann = await createAdministrator();
      const client = await listen({ filter: { kinds: ['CREATE_FOLDER'] } }, ann.authToken);
      await tree.create('Seen');
      assert.equal((await readEntries(client, 1))[0]!.folder?.name, 'Seen');
      await tree.mutate('updateUser', { id: ann.id, isAdministrator: false });
      await tree.create('No longer seen');
      assert.equal(readCode(await client.next()), 'FORBIDDEN');
      assert.deepEqual(client.unread, []);
    });

    test('rejects a cursor that is too old or invalid', async () => {
      const old = await readCursor();
      await tree.import(Array.from({ length: 3 }, (_, index) => `imported ${index}`));
      assert.equal((await readEntries(await listen({ after: old }), 1))[0]!.kind, 'IMPORT_FOLDERS');
      const one = (index: number) => `e${index}: createFolder(input: {name: "entry ${index}"}){cursor}`;
      for (const start of [0, 26, 52, 78]) {
        await tree.query(
          `mutation{${Array.from({ length: 26 }, (_, index) => one(start + index)).join(' ')}}`,
        );
      }
      assert.equal(readCode(await (await listen({ after: old })).next()), 'NOT_FOUND');
      assert.equal(readCode(await (await listen({ after: 'rubbish' })).next()), 'BAD_INPUT');
    });

    test('starts with the next entry if there is no cursor', async () => {
      const count = async () =>
        (await tree.query<ActivityData>('{server{activity{subscriptions}}}')).server.activity.subscriptions;
      const before = await count();
      const client = await SocketClient.connect(tree.server.url, tree.authToken);
      clients.push(client);
      client.start('1', subscription);
      await eventually(async () => (await count()) === before + 1, 'the subscription has started');
      await tree.create('Later');
      const [entry] = await readEntries(client, 1);
      assert.equal(entry!.kind, 'CREATE_FOLDER');
    });
  });
}
