/** The subscription `folderChanges`: what a viewer is told, case by case. `mirror.test.ts` tries all of them at random. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../databases.ts';
import { TreeBed } from '../tree/tree-bed.ts';
import { SocketClient, type Frame } from './socket-client.ts';

interface Change {
  kind: string;
  folderId: string | null;
  cursor: string;
  folder: { name: string; accessLevel: string } | null;
  oldParent: { id: string } | null;
  newParent: { id: string } | null;
  folderCount: number | null;
  at: string | null;
}

const subscription = `subscription($under: ID, $after: String){folderChanges(under: $under, after: $after){
  kind folderId cursor folder{name accessLevel} oldParent{id} newParent{id} folderCount at}}`;

/** Somebody who listens. What was to come and did not would leave the end mark alone. */
class Listener {
  readonly #client: SocketClient;
  readonly #mark: () => Promise<string>;

  constructor(client: SocketClient, mark: () => Promise<string>) {
    this.#client = client;
    this.#mark = mark;
  }

  async next(): Promise<Change> {
    const { type, payload } = await this.#client.next();
    assert.equal(type, 'next', JSON.stringify(payload));
    const { data, errors } = payload as { data?: { folderChanges: Change }; errors?: unknown };
    assert.equal(errors, undefined, JSON.stringify(errors));
    return data!.folderChanges;
  }

  /** All that has happened until now. */
  async all(): Promise<Change[]> {
    const markId = await this.#mark();
    const changes: Change[] = [];
    for (;;) {
      const change = await this.next();
      if (change.folderId === markId) return changes;
      changes.push(change);
    }
  }

  async brief(): Promise<(string | null)[][]> {
    return (await this.all()).map(({ kind, folderId }) => [kind, folderId]);
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

for (const kind of databaseKinds) {
  describe(`folderChanges on ${kind.name}`, () => {
    let tree: TreeBed;
    let rootId: string;
    let marks: string;
    const opened: SocketClient[] = [];

    before(async () => {
      tree = await TreeBed.start(kind, { settings: { MAX_BACKLOG: '100' } });
      rootId = await tree.idOf('/');
      marks = await tree.create('Marks');
    });
    after(async () => {
      await Promise.all(opened.map((client) => client.close()));
      await tree.stop();
    });

    const connect = async (authToken = tree.authToken) => {
      const client = await SocketClient.connect(tree.bed.url, authToken);
      opened.push(client);
      return client;
    };
    const cursorNow = async (authToken?: string) =>
      (await tree.ask<{ cursor: string }>('{cursor}', {}, authToken)).cursor;
    let markCount = 0;

    /** Listens from now on. Marks are made below `markParent`, which the listener must see. */
    const listen = async (
      variables: { under?: string; after?: string } = {},
      { authToken = tree.authToken, markParent = marks }: { authToken?: string; markParent?: string } = {},
    ) => {
      const client = await connect(authToken);
      const from = variables.after ?? (await cursorNow(authToken));
      client.start('1', subscription, { ...variables, after: from });
      return new Listener(client, () => tree.create(`mark ${++markCount}`, markParent));
    };

    /** Somebody with these grants who also sees the marks. */
    const person = async (levels: Record<string, string>) => tree.person({ [marks]: 'READ', ...levels });

    test('tell each change once, with the folder as it is now', async () => {
      const listener = await listen();
      const id = await tree.create('Tree house');
      assert.deepEqual(
        (({ kind: name, folderId: of, folder }) => [name, of, folder])(await listener.next()),
        ['CREATE', id, { name: 'Tree house', accessLevel: 'MANAGE' }],
      );
      const other = await tree.create('Garden');
      await tree.run('updateFolder', { id, title: 'High' });
      await tree.move(id, other);
      await tree.import(['a/b', 'c'], id);
      await tree.delete(id);
      await tree.run('restoreFolder', { id });
      const changes = await listener.all();
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

    test('begin now without a cursor, and right after one with it', async () => {
      const start = await cursorNow();
      const id = await tree.create('Before');
      const client = await connect();
      client.start('now', subscription);
      client.start('then', subscription, { after: start });
      const frame = await client.next();
      assert.equal(frame.id, 'then');
      assert.equal(changeIn(frame).folderId, id);
      const next = await tree.create('After');
      const ids = [await client.next(), await client.next()].map((each) => [
        each.id,
        changeIn(each).folderId,
      ]);
      assert.deepEqual(ids.toSorted(), [
        ['now', next],
        ['then', next],
      ]);
    });

    test('a grant uncovers the topmost folder, with the passages to it; taking it away hides it again', async () => {
      const [top, middle, deep] = (await tree.createChain(['Vault', 'Box', 'Ring'])) as [
        string,
        string,
        string,
      ];
      const { id: userId, authToken } = await person({});
      const listener = await listen({}, { authToken });
      await tree.run('grantAccess', { folderId: deep, userId, level: 'READ' });
      const [uncovered, ...more] = await listener.all();
      assert.deepEqual(more, []);
      assert.deepEqual([uncovered!.kind, uncovered!.folderId], ['CREATE', top]);
      assert.deepEqual(uncovered!.folder, { name: 'Vault', accessLevel: 'NONE' });
      await tree.run('grantAccess', { folderId: middle, userId, level: 'READ' });
      assert.deepEqual(await listener.brief(), [['CREATE', middle]]);
      await tree.run('grantAccess', { folderId: middle, userId, level: 'WRITE' });
      assert.deepEqual(await listener.brief(), [['UPDATE', middle]]);
      await tree.run('revokeAccess', { folderId: middle, userId });
      assert.deepEqual(await listener.brief(), [['CREATE', middle]]);
      await tree.run('revokeAccess', { folderId: deep, userId });
      assert.deepEqual(await listener.brief(), [['DELETE', top]]);
    });

    test('a NONE inside what is read hides it, and groups and roles count like grants', async () => {
      const [top, inner] = (await tree.createChain(['Office', 'Safe'])) as [string, string];
      const { id: userId, authToken } = await person({ [top]: 'READ' });
      const listener = await listen({}, { authToken });
      await tree.run('grantAccess', { folderId: inner, userId, level: 'NONE' });
      assert.deepEqual(await listener.brief(), [['DELETE', inner]]);
      const { group } = await tree.run<{ group: { id: string } }>(
        'createGroup',
        { name: 'Guards' },
        'group{id}',
      );
      await tree.run('grantAccess', { folderId: inner, groupId: group.id, level: 'READ' });
      assert.deepEqual(await listener.brief(), []);
      await tree.run('addToGroup', { groupId: group.id, userIds: [userId] });
      assert.deepEqual(await listener.brief(), [['CREATE', inner]]);
      await tree.run('deleteGroup', { id: group.id });
      assert.deepEqual(await listener.brief(), [['DELETE', inner]]);
      await tree.run('updateUser', { id: userId, isAdministrator: true });
      assert.deepEqual(await listener.brief(), [['CREATE', rootId]]);
      await tree.run('updateUser', { id: userId, isAdministrator: false });
      assert.deepEqual(await listener.brief(), [['CREATE', rootId]]);
    });

    test('a move into or out of what the viewer sees is a create or a delete', async () => {
      const [open, closed] = [await tree.create('Open'), await tree.create('Closed')];
      const { authToken } = await person({ [open]: 'READ' });
      const id = await tree.create('Parcel', closed);
      const listener = await listen({}, { authToken });
      await tree.move(id, open);
      await tree.move(id, closed);
      await tree.run('updateFolder', { id, title: 'Unseen' });
      assert.deepEqual(await listener.brief(), [
        ['CREATE', id],
        ['DELETE', id],
      ]);
    });

    test('a folder with the viewer’s only grant inside that is deleted takes its passages along, and brings them back', async () => {
      const [top, middle, deep] = (await tree.createChain(['Hut', 'Room', 'Shelf'])) as [
        string,
        string,
        string,
      ];
      const { authToken } = await person({ [deep]: 'READ' });
      const listener = await listen({}, { authToken });
      await tree.delete(middle);
      const gone = await listener.brief();
      assert.ok(gone.some(([name, id]) => name === 'DELETE' && id === top));
      assert.ok(gone.every(([name]) => name === 'DELETE'));
      await tree.run('restoreFolder', { id: middle });
      const back = await listener.brief();
      assert.deepEqual(back[0], ['CREATE', top]);
    });

    test('under a folder: only what is inside; it goes and comes with those above it', async () => {
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
      assert.deepEqual(await listener.brief(), [
        ['CREATE', boat],
        ['DELETE', boat],
      ]);
      await tree.delete(top);
      await tree.run('restoreFolder', { id: top });
      await tree.run('updateFolder', { id: watched, title: 'The pier' });
      const changes = await listener.brief();
      assert.deepEqual(changes.at(-1), ['UPDATE', watched]);
      const { type } = await refusedStart({ under: '00000000-0000-7000-8000-000000000000' });
      assert.equal(type, 'error');
    });

    test('of the watched folder tell that it may be used otherwise because of a move above, and not when that was', async () => {
      const [above, watched] = (await tree.createChain(['Pond', 'Raft'])) as [string, string];
      const lake = await tree.create('Lake');
      const { authToken } = await person({ [rootId]: 'READ', [lake]: 'WRITE' });
      const listener = await listen({ under: watched }, { authToken, markParent: watched });
      await tree.move(above, lake);
      await tree.run('updateFolder', { id: watched, title: 'The raft' });
      const told = await listener.all();
      assert.deepEqual(
        told.map(({ kind: name, folderId, at }) => [name, folderId, at !== null]),
        [
          ['UPDATE', watched, false],
          ['UPDATE', watched, true],
        ],
      );
      assert.equal(told[0]!.folder!.accessLevel, 'WRITE');
    });

    test('what the viewer does not see cannot be watched; what is no cursor is refused', async () => {
      const closed = await tree.create('Sealed');
      const { authToken } = await person({});
      for (const [variables, code] of [
        [{ under: closed }, 'NOT_FOUND'],
        [{ after: 'nonsense' }, 'BAD_INPUT'],
        [{ after: '' }, 'BAD_INPUT'],
      ] as const) {
        const { type, payload } = await refusedStart(variables, authToken);
        assert.equal(type, 'error');
        const [error] = payload as unknown as { extensions: { code: string } }[];
        assert.equal(error!.extensions.code, code);
      }
    });

    const refusedStart = async (variables: Record<string, string>, authToken?: string): Promise<Frame> => {
      const client = await connect(authToken);
      client.start('1', subscription, variables);
      return client.next();
    };

    test('whose access was changed while they were away is told to read anew, and then goes on', async () => {
      const id = await tree.create('Away');
      const { id: userId, authToken } = await person({ [id]: 'READ' });
      const start = await cursorNow(authToken);
      await tree.run('grantAccess', { folderId: id, userId, level: 'NONE' });
      const listener = await listen({ after: start }, { authToken });
      const { kind: first, cursor } = await listener.next();
      assert.equal(first, 'RESYNC');
      assert.equal(cursor, await cursorNow(authToken));
      await tree.run('grantAccess', { folderId: id, userId, level: 'READ' });
      assert.deepEqual(await listener.brief(), [['CREATE', id]]);
    });

    test('who is too far behind is told to read anew, with the cursor from which it goes on', async () => {
      const start = await cursorNow();
      const parentId = await tree.create('Flood');
      for (let round = 0; round < 3; round++) {
        const mutations = Array.from(
          { length: 50 },
          (_, place) =>
            `m${place}: createFolder(input: {name: "${round} ${place}", parentId: "${parentId}"}){__typename}`,
        );
        await tree.ask(`mutation{${mutations.join(' ')}}`);
      }
      const listener = await listen({ after: start });
      const { kind: first, cursor } = await listener.next();
      assert.deepEqual([first, cursor], ['RESYNC', await cursorNow()]);
      assert.deepEqual(await listener.brief(), []);
    });

    test('a query on the same socket is answered in between', async () => {
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
      const told = frames.find((frame) => frame.id === 'watch')!;
      assert.equal(changeIn(told).folder?.name, 'By socket');
      const done = frames.find((frame) => frame.id === 'do' && frame.type === 'next')!;
      const { createFolder } = done.payload!['data'] as { createFolder: { cursor: string } };
      assert.equal(createFolder.cursor, changeIn(told).cursor);
    });

    test('each change is answered within the budgets of a query', async () => {
      await tree.import(
        Array.from({ length: 30 }, (_, place) => `Wide/${place}`),
        rootId,
      );
      const client = await connect();
      const fields = Array.from({ length: 600 }, (_, place) => `f${place}: folderId`).join(' ');
      client.start('1', `subscription{folderChanges{${fields}}}`);
      const { type, payload } = await client.next();
      assert.equal(type, 'error');
      const [error] = payload as unknown as { extensions: { code: string } }[];
      assert.equal(error!.extensions.code, 'TOO_EXPENSIVE');
    });
  });
}

function changeIn({ payload }: Frame): Change {
  return (payload as unknown as { data: { folderChanges: Change } }).data.folderChanges;
}
