/** While the tree changes, the responses of query plans always equal those of graphql-js. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { databaseKinds, scaleRounds } from '../support/databases.ts';
import { MirrorTestbed } from '../live/mirror/mirror-testbed.ts';
import { selectLength } from '../support/run-length.ts';

const folderFields =
  'id name title icon description properties parent{id}accessLevel version createdAt updatedAt';
const selectChildren = (selection: string) => `folders{edges{node{${selection}}}}`;
const threeLevels = `{folder{name ${selectChildren(`name ${selectChildren('name')}`)}}}`;
const queries = [
  '{folder{name}}',
  '{folder{__typename id title}}',
  `{folder{name ${selectChildren('name')}}}`,
  threeLevels,
  `{f:folder{n:name folders{items{__typename id folders{totalCount items{title t:title folders{totalCount __typename}}}}}}}`,
  'query($id:ID){folder(id:$id){folders(first:3){totalCount edges{node{id name title}}}}}',
  'query($id:ID $max:Int){folder(id:$id){name folders(first:$max){items{name folders(first:$max){items{id}}}}}}',
  'query($id:ID){folder(id:$id){a:folders{edges{a:node{name} b:node{id}}} b:folders(first:1){items{id} edges{node{name}}}}}',
  `query($id:ID){folder(id:$id){list:folders(first:5){items{${folderFields}}pageInfo{endCursor hasNextPage}}}}`,
  `query($id:ID){cursor folder(id:$id){${folderFields} descendants(first:7){items{${folderFields}}pageInfo{endCursor hasNextPage}}}at:folder(id:$id){id name accessLevel ancestors{id name accessLevel}}}`,
  'query($id:ID){folder(id:$id){folders(first:4,skip:2){totalCount items{...FolderRow}}}}fragment FolderRow on Folder{id name title icon accessLevel version parent{id}folders(first:1){totalCount}}',
  'query($id:ID){node(id:$id){...on Folder{path depth position ancestors{name position}}}}',
  '{search(text:"a" first:3){totalCount items{id path ancestors{name}}pageInfo{hasNextPage endCursor}}}',
  '{folder{folders(orderBy:{field:UPDATED direction:DESC},filter:{hasChildren:true}){edges{cursor depth node{name}}}}}',
  // No plan covers these.
  'query($id:ID){folder(id:$id){folders(last:2){items{name}} parent{name}}}',
  '{folder{folders(first:2){pageInfo{hasNextPage} edges{cursor node{name}}}}}',
  '{folder{folders(first:-1){items{name}}}}',
  `{folder{${Array.from({ length: 400 }, (_, index) => `a${index}:title`).join(' ')}}}`,
  `{folder{folders{items{${Array.from({ length: 90 }, (_, index) => `a${index}:name`).join(' ')}}}}}`,
];
const names = ['a', "b's", 'c"', '",', 'd\\', '","', 'ö 🌳', '\u2028', '}}', '{"node":'];

const manyFolders = Array.from({ length: 101 }, (_, index) => ({
  name: `f${index}`,
  folders: [{ name: 'g' }],
}));

interface WithId {
  readonly id: string;
}

/** A tree that changes at random, with an administrator and a guest as its viewers. */
class ChangingTree {
  readonly testbed: MirrorTestbed;
  readonly #administrator: string;
  #guest = '';
  #freshQueries = 0;
  #ids: string[] = [];
  #deleted: string[] = [];

  static async create(testbed: MirrorTestbed): Promise<ChangingTree> {
    const tree = new ChangingTree(testbed, await testbed.administratorId());
    const created = await testbed.run<{ createUser: { user: WithId } }>(
      tree.#administrator,
      'mutation{createUser(input:{username:"guest" password:"walnut cabin 1"}){user{id}}}',
    );
    tree.#guest = created.data!.createUser.user.id;
    await tree.import(names.map((name) => ({ name, folders: names.map((inner) => ({ name: inner })) })));
    return tree;
  }

  private constructor(testbed: MirrorTestbed, administrator: string) {
    this.testbed = testbed;
    this.#administrator = administrator;
  }

  get viewers(): readonly string[] {
    return [this.#administrator, this.#guest];
  }

  execute<Data>(query: string, variables = {}) {
    return this.testbed.run<Data>(this.#administrator, query, variables);
  }

  async import(tree: readonly object[]): Promise<void> {
    const mutation = 'mutation($tree:[ImportedFolder!]){importFolders(input:{tree:$tree}){folderCount}}';
    await this.execute(mutation, { tree });
    const { data } = await this.execute<{ folder: { id: string; descendants: { items: WithId[] } } }>(
      '{folder{id descendants{items{id}}}}',
    );
    this.#ids = [data!.folder.id, ...data!.folder.descendants.items.map(({ id }) => id)];
  }

  /** Makes the change that the numbers select. The server may refuse it. */
  async change(what: number, which: number, other: number): Promise<void> {
    const id = this.#ids[which % this.#ids.length]!;
    const to = this.#ids[other % this.#ids.length]!;
    const name = `${names[other % names.length]} ${which}`;
    const level = ['NONE', 'READ', 'WRITE'][other % 3];
    const userId = this.#guest;
    const run = (mutation: string, input: object) =>
      this.execute<Record<string, { folder: WithId }>>(
        `mutation($input:${mutation[0]!.toUpperCase()}${mutation.slice(1)}Input!){${mutation}(input:$input){__typename}}`,
        { input },
      );
    switch (what % 8) {
      case 0:
        return void (await run('createFolder', { parentId: id, name }));
      case 1:
        return void (await run('updateFolder', { id, name }));
      case 2:
        return void (await run('updateFolder', { id, title: name }));
      case 3:
        return void (await run('moveFolder', { id, parentId: to }));
      case 4:
        this.#deleted.push(id);
        return void (await run('deleteFolder', { id, recursive: true }));
      case 5:
        return void (await run('restoreFolder', { id: this.#deleted.pop() ?? id }));
      case 6:
        return void (await run('grantAccess', { folderId: id, userId, level }));
      case 7:
        return void (await run('revokeAccess', { folderId: id, userId }));
    }
  }

  /** Runs each query with its plan and as a new query (with another comment), and compares the responses. */
  async compare(which: number): Promise<void> {
    const variables = { id: this.#ids[which % this.#ids.length], max: which % 12 };
    for (const viewer of this.viewers) {
      for (const query of queries) {
        const text = `#${viewer === this.#guest}\n${query}`;
        const planned = await this.testbed.runText(viewer, text, variables);
        const fresh = await this.testbed.runText(viewer, `#${++this.#freshQueries}\n${query}`, variables);
        assert.equal(planned, fresh, query);
        assert.equal(await this.testbed.runText(viewer, text, variables), fresh, query);
      }
    }
  }
}

for (const kind of databaseKinds) {
  describe(`query plans on a changing tree, on ${kind.name}`, () => {
    let tree: ChangingTree;
    before(async () => (tree = await ChangingTree.create(await MirrorTestbed.start(kind))));
    after(() => tree.testbed.stop());

    test('return the current tree to every viewer after every change', async () => {
      for (let time = 0; time < 2; time++) await tree.compare(0);
      const number = fc.nat({ max: 1_000 });
      await fc.assert(
        fc.asyncProperty(number, number, number, async (what, which, other) => {
          await tree.change(what, which, other);
          await tree.compare(other);
        }),
        { numRuns: scaleRounds(kind, selectLength({ short: 25, long: 100 })) },
      );
      assert.deepEqual(tree.testbed.bugs, []);
    });

    test('return whole lists if a query has no page size, despite a small maximum page size', async () => {
      const testbed = await MirrorTestbed.start(kind, { maxPageSize: 2 });
      after(() => testbed.stop());
      const short = await ChangingTree.create(testbed);
      for (let time = 0; time < 3; time++) await short.compare(time);
      const { data } = await short.execute<{ folder: { folders: { edges: unknown[] } } }>(threeLevels);
      assert.equal(data!.folder.folders.edges.length, names.length);
    });

    test('return long lists completely', async () => {
      await tree.import(manyFolders);
      for (let time = 0; time < 4; time++) await tree.compare(time);
      const { data } = await tree.execute<{ folder: { folders: { edges: unknown[] } } }>(threeLevels);
      assert.ok(data!.folder.folders.edges.length > 100);
    });
  });
}
