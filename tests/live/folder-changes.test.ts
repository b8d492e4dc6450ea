/** The subscription `folderChanges`, case by case. `mirror.test.ts` tests random combinations. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { FolderChangeListener, readChange, subscription } from './folder-change-listener.ts';
import { SocketClient, type Frame } from './socket-client.ts';

for (const kind of databaseKinds) {
  describe(`the folderChanges subscription on ${kind.name}`, () => {
    let tree: TreeTestbed;
    let rootId: string;
    let markersId: string;
    const clients: SocketClient[] = [];

    before(async () => {
      tree = await TreeTestbed.start(kind, { settings: { MAX_BACKLOG: '100' } });
      rootId = await tree.idOf('/');
      markersId = await tree.create('Marks');
    });
    after(async () => {
      await Promise.all(clients.map((client) => client.close()));
      await tree.stop();
    });

    const connect = async (authToken = tree.authToken) => {
      const client = await SocketClient.connect(tree.server.url, authToken);
      clients.push(client);
      return client;
    };
    const readCursor = async (authToken?: string) =>
      (await tree.query<{ cursor: string }>('{cursor}', {}, authToken)).cursor;
    let markCount = 0;

    /**
     * Subscribes from the current cursor. The listener must have access to `markParent`, which contains the
     * marker folders.
     */
    const listen = async (
      variables: { under?: string; after?: string } = {},
      {
        authToken = tree.authToken,
        markParent = markersId,
      }: { authToken?: string; markParent?: string } = {},
    ) => {
      const client = await connect(authToken);
      const from = variables.after ?? (await readCursor(authToken));
      client.start('1', subscription, { ...variables, after: from });
      return new FolderChangeListener(client, () => tree.create(`mark ${++markCount}`, markParent));
    };

    /** Creates a user with these grants who also sees the marker folders. */
    const createPerson = async (levels: Record<string, string>) =>
      tree.person({ [markersId]: 'READ', ...levels });

    test('reports each change once, with the current state of the folder', async () => {
      const listener = await listen();
      const id = await tree.create('Tree house');
      assert.deepEqual(
        (({ kind: name, folderId: of, folder }) => [name, of, folder])(await listener.next()),
        ['CREATE', id, { name: 'Tree house', accessLevel: 'MANAGE' }],
      );
      const other = await tree.create('Garden');
      await tree.mutate('updateFolder', { id, title: 'High' });
      await tree.move(id, other);
      await tree.import(['a/b', 'c'], id);
      await tree.delete(id);
      await tree.mutate('restoreFolder', { id });
      const changes = await listener.readAll();
      assert.deepEqual(
        changes.map((change) => [change.kind, change.folderId]),
        [
          ['CREATE', other],
          ['UPDATE', id],
          ['MOVE', id],
          ['IMPORT', id],
          ['DELETE', id],
          ['CREATE', id],
        ],
      );
      assert.deepEqual([changes[2]!.oldParent?.id, changes[2]!.newParent?.id], [rootId, other]);
      assert.equal(changes[3]!.folderCount, 3);
    });

    test('starts after the cursor, or with the next change if there is no cursor', async () => {
      const start = await readCursor();
      const id = await tree.create('Before');
      const client = await connect();
      client.start('now', subscription);
      client.start('then', subscription, { after: start });
      const frame = await client.next();
      assert.equal(frame.id, 'then');
      assert.equal(readChange(frame).folderId, id);
      const next = await tree.create('After');
      const ids = [await client.next(), await client.next()].map((each) => [
        each.id,
        readChange(each).folderId,
      ]);
      assert.deepEqual(ids.toSorted(), [
        ['now', next],
        ['then', next],
      ]);
    });

    test('reports the topmost folder that a grant reveals or a revocation hides', async () => {
      const [top, middle, deep] = (await tree.createChain(['Vault', 'Box', 'Ring'])) as [
        string,
        string,
        string,
      ];
      const { id: userId, authToken } = await createPerson({});
      const listener = await listen({}, { authToken });
      await tree.mutate('grantAccess', { folderId: deep, userId, level: 'READ' });
      const [revealed, ...more] = await listener.readAll();
      assert.deepEqual(more, []);
      assert.deepEqual([revealed!.kind, revealed!.folderId], ['CREATE', top]);
      assert.deepEqual(revealed!.folder, { name: 'Vault', accessLevel: 'NONE' });
      await tree.mutate('grantAccess', { folderId: middle, userId, level: 'READ' });
      assert.deepEqual(await listener.readKinds(), [['CREATE', middle]]);
      await tree.mutate('grantAccess', { folderId: middle, userId, level: 'WRITE' });
      assert.deepEqual(await listener.readKinds(), [['UPDATE', middle]]);
      await tree.mutate('revokeAccess', { folderId: middle, userId });
      assert.deepEqual(await listener.readKinds(), [['CREATE', middle]]);
      await tree.mutate('revokeAccess', { folderId: deep, userId });
      assert.deepEqual(await listener.readKinds(), [['DELETE', top]]);
    });

    test('reports changes of access by grants, groups and the administrator role', async () => {
      const [top, inner] = (await tree.createChain(['Office', 'Safe'])) as [string, string];
      const { id: userId, authToken } = await createPerson({ [top]: 'READ' });
      const listener = await listen({}, { authToken });
      await tree.mutate('grantAccess', { folderId: inner, userId, level: 'NONE' });
      assert.deepEqual(await listener.readKinds(), [['DELETE', inner]]);
      const { group } = await tree.mutate<{ group: { id: string } }>(
        'createGroup',
        { name: 'Guards' },
        'group{id}',
      );
      await tree.mutate('grantAccess', { folderId: inner, groupId: group.id, level: 'READ' });
      assert.deepEqual(await listener.readKinds(), []);
      await tree.mutate('addToGroup', { groupId: group.id, userIds: [userId] });
      assert.deepEqual(await listener.readKinds(), [['CREATE', inner]]);
      await tree.mutate('deleteGroup', { id: group.id });
      assert.deepEqual(await listener.readKinds(), [['DELETE', inner]]);
      await tree.mutate('updateUser', { id: userId, isAdministrator: true });
      assert.deepEqual(await listener.readKinds(), [['CREATE', rootId]]);
      await tree.mutate('updateUser', { id: userId, isAdministrator: false });
      assert.deepEqual(await listener.readKinds(), [['CREATE', rootId]]);
    });

    test('reports a move into or out of the visible folders as a create or a delete', async () => {
      const [open, closed] = [await tree.create('Open'), await tree.create('Closed')];
      const { authToken } = await createPerson({ [open]: 'READ' });
      const id = await tree.create('Parcel', closed);
      const listener = await listen({}, { authToken });
      await tree.move(id, open);
      await tree.move(id, closed);
      await tree.mutate('updateFolder', { id, title: 'Unseen' });
      assert.deepEqual(await listener.readKinds(), [
        ['CREATE', id],
        ['DELETE', id],
      ]);
    });

    test('hides the passages to a readable folder while the folder is deleted', async () => {
      const [top, middle, deep] = (await tree.createChain(['Hut', 'Room', 'Shelf'])) as [
        string,
        string,
        string,
      ];
      const { authToken } = await createPerson({ [deep]: 'READ' });
      const listener = await listen({}, { authToken });
      await tree.delete(middle);
      const deletions = await listener.readKinds();
      assert.ok(deletions.some(([name, id]) => name === 'DELETE' && id === top));
      assert.ok(deletions.every(([name]) => name === 'DELETE'));
      await tree.mutate('restoreFolder', { id: middle });
      const creations = await listener.readKinds();
      assert.deepEqual(creations[0], ['CREATE', top]);
    });

    test('reports only changes inside the watched folder, even after an ancestor was restored', async () => {
      const [top, middle, watched] = (await tree.createChain(['Isle', 'Bay', 'Pier'])) as [
        string,
        string,
        string,
      ];
      const markParent = await tree.create('Buoy', watched);
      const listener = await listen({ under: watched }, { markParent });
      await tree.create('Elsewhere', middle);
      const boat = await tree.create('Boat');
      await tree.move(boat, watched);
      await tree.move(boat, middle);
      assert.deepEqual(await listener.readKinds(), [
        ['CREATE', boat],
        ['DELETE', boat],
      ]);
      await tree.delete(top);
      await tree.mutate('restoreFolder', { id: top });
      await tree.mutate('updateFolder', { id: watched, title: 'The pier' });
      const changes = await listener.readKinds();
      assert.deepEqual(changes.at(-1), ['UPDATE', watched]);
      const { type } = await startRefused({ under: '00000000-0000-7000-8000-000000000000' });
      assert.equal(type, 'error');
    });

    test('reports an UPDATE without a time when a moved ancestor changes the access level', async () => {
      const [above, watched] = (await tree.createChain(['Pond', 'Raft'])) as [string, string];
      const lake = await tree.create('Lake');
      const { authToken } = await createPerson({ [rootId]: 'READ', [lake]: 'WRITE' });
      const listener = await listen({ under: watched }, { authToken, markParent: watched });
      await tree.move(above, lake);
      await tree.mutate('updateFolder', { id: watched, title: 'The raft' });
      const changes = await listener.readAll();
      assert.deepEqual(
        changes.map(({ kind: name, folderId, at }) => [name, folderId, at !== null]),
        [
          ['UPDATE', watched, false],
          ['UPDATE', watched, true],
        ],
      );
      assert.equal(changes[0]!.folder!.accessLevel, 'WRITE');
    });

    test('rejects a folder that the viewer does not see, and an invalid cursor', async () => {
      const closed = await tree.create('Sealed');
      const { authToken } = await createPerson({});
      for (const [variables, code] of [
        [{ under: closed }, 'NOT_FOUND'],
        [{ after: 'nonsense' }, 'BAD_INPUT'],
        [{ after: '' }, 'BAD_INPUT'],
      ] as const) {
        const { type, payload } = await startRefused(variables, authToken);
        assert.equal(type, 'error');
        const [error] = payload as unknown as { extensions: { code: string } }[];
        assert.equal(error!.extensions.code, code);
      }
    });

    const startRefused = async (variables: Record<string, string>, authToken?: string): Promise<Frame> => {
      const client = await connect(authToken);
      client.start('1', subscription, variables);
      return client.next();
    };

    test('sends RESYNC to a viewer whose access changed while disconnected, and then continues', async () => {
      const id = await tree.create('Away');
      const { id: userId, authToken } = await createPerson({ [id]: 'READ' });
      const start = await readCursor(authToken);
      await tree.mutate('grantAccess', { folderId: id, userId, level: 'NONE' });
      const listener = await listen({ after: start }, { authToken });
      const { kind: first, cursor } = await listener.next();
      assert.equal(first, 'RESYNC');
      assert.equal(cursor, await readCursor(authToken));
      await tree.mutate('grantAccess', { folderId: id, userId, level: 'READ' });
      assert.deepEqual(await listener.readKinds(), [['CREATE', id]]);
    });

    test('sends RESYNC, with the cursor to continue from, to a client that is too far behind', async () => {
      const start = await readCursor();
      const parentId = await tree.create('Flood');
      for (let round = 0; round < 3; round++) {
        const mutations = Array.from(
          { length: 50 },
          (_, index) =>
            `m${index}: createFolder(input: {name: "${round} ${index}", parentId: "${parentId}"}){__typename}`,
        );
        await tree.query(`mutation{${mutations.join(' ')}}`);
      }
      const listener = await listen({ after: start });
      const { kind: first, cursor } = await listener.next();
      assert.deepEqual([first, cursor], ['RESYNC', await readCursor()]);
      assert.deepEqual(await listener.readKinds(), []);
    });

    test('answers queries and mutations on a socket with an open subscription', async () => {
      const client = await connect();
      client.start('watch', subscription);
      client.start('ask', '{folder{name}}');
      assert.deepEqual(await client.next(), {
        id: 'ask',
        type: 'next',
        payload: { data: { folder: { name: 'Root' } } },
      });
      assert.deepEqual(await client.next(), { id: 'ask', type: 'complete' });
      client.start(
        'do',
        'mutation($name: String!){createFolder(input: {name: $name}){folder{name} cursor}}',
        { name: 'By socket' },
      );
      const frames = [await client.next(), await client.next(), await client.next()];
      const changeFrame = frames.find((frame) => frame.id === 'watch')!;
      assert.equal(readChange(changeFrame).folder?.name, 'By socket');
      const done = frames.find((frame) => frame.id === 'do' && frame.type === 'next')!;
      const { createFolder } = done.payload!['data'] as { createFolder: { cursor: string } };
      assert.equal(createFolder.cursor, readChange(changeFrame).cursor);
    });

    test('rejects a subscription whose response exceeds the cost limit of a query', async () => {
      await tree.import(
        Array.from({ length: 30 }, (_, index) => `Wide/${index}`),
        rootId,
      );
      const client = await connect();
      const fields = Array.from({ length: 600 }, (_, index) => `f${index}: folderId`).join(' ');
      client.start('1', `subscription{folderChanges{${fields}}}`);
      const { type, payload } = await client.next();
      assert.equal(type, 'error');
      const [error] = payload as unknown as { extensions: { code: string } }[];
      assert.equal(error!.extensions.code, 'TOO_EXPENSIVE');
    });
  });
}
