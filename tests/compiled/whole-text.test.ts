/** Answers that the database writes whole, and gives again while nothing changes: not a letter differs from the others. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { textStatement, tooMany } from '../../server/src/folders/folder-text.ts';
import { readHead } from '../../server/src/journal/journal.ts';
import { databaseKinds, roundsOn, sqlite } from '../databases.ts';
import { MirrorBed } from '../live/mirror-bed.ts';

const inside = (selection: string) => `folders{edges{node{${selection}}}}`;
const three = `{folder{name ${inside(`name ${inside('name')}`)}}}`;
const queries = [
  '{folder{name}}',
  '{folder{__typename id title}}',
  `{folder{name ${inside('name')}}}`,
  three,
  `{f:folder{n:name folders{items{__typename id folders{totalCount items{title t:title folders{totalCount __typename}}}}}}}`,
  'query($id:ID){folder(id:$id){folders(first:3){totalCount edges{node{id name title}}}}}',
  'query($id:ID $most:Int){folder(id:$id){name folders(first:$most){items{name folders(first:$most){items{id}}}}}}',
  'query($id:ID){folder(id:$id){a:folders{edges{a:node{name} b:node{id}}} b:folders(first:1){items{id} edges{node{name}}}}}',
  // Not of this kind, in part or altogether.
  'query($id:ID){folder(id:$id){folders(last:2){items{name}} parent{name}}}',
  '{folder{folders(first:2){pageInfo{hasNextPage} edges{cursor node{name}}}}}',
  '{folder{folders(first:-1){items{name}}}}',
  `{folder{${Array.from({ length: 400 }, (_, place) => `a${place}:title`).join(' ')}}}`,
  `{folder{folders{items{${Array.from({ length: 90 }, (_, place) => `a${place}:name`).join(' ')}}}}}`,
];
const names = ['a', "b's", 'c"', '",', 'd\\', '","', 'ö 🌳', '\u2028', '}}', '{"node":'];

/** One more than a list may have to be written whole, and lists inside it. */
const many = Array.from({ length: 101 }, (_, place) => ({ name: `f${place}`, folders: [{ name: 'g' }] }));

interface Told {
  readonly id: string;
}

/** The tree, somebody who may see all of it, somebody who may not, and what changes it. */
class ChangingTree {
  readonly bed: MirrorBed;
  readonly #administrator: string;
  #guest = '';
  #asked = 0;
  #ids: string[] = [];
  #deleted: string[] = [];

  static async plant(bed: MirrorBed): Promise<ChangingTree> {
    const tree = new ChangingTree(bed, await bed.administratorId());
    const created = await bed.run<{ createUser: { user: Told } }>(
      tree.#administrator,
      'mutation{createUser(input:{username:"guest" password:"walnut cabin 1"}){user{id}}}',
    );
    tree.#guest = created.data!.createUser.user.id;
    await tree.import(names.map((name) => ({ name, folders: names.map((inner) => ({ name: inner })) })));
    return tree;
  }

  private constructor(bed: MirrorBed, administrator: string) {
    this.bed = bed;
    this.#administrator = administrator;
  }

  get viewers(): readonly string[] {
    return [this.#administrator, this.#guest];
  }

  ask<Data>(query: string, variables = {}) {
    return this.bed.run<Data>(this.#administrator, query, variables);
  }

  async import(tree: readonly object[]): Promise<void> {
    const mutation = 'mutation($tree:[ImportedFolder!]){importFolders(input:{tree:$tree}){folderCount}}';
    await this.ask(mutation, { tree });
    const { data } = await this.ask<{ folder: { id: string; descendants: { items: Told[] } } }>(
      '{folder{id descendants{items{id}}}}',
    );
    this.#ids = [data!.folder.id, ...data!.folder.descendants.items.map(({ id }) => id)];
  }

  /** By a few numbers; what is refused changes nothing. */
  async change(what: number, which: number, other: number): Promise<void> {
    const id = this.#ids[which % this.#ids.length]!;
    const to = this.#ids[other % this.#ids.length]!;
    const name = `${names[other % names.length]} ${which}`;
    const level = ['NONE', 'READ', 'WRITE'][other % 3];
    const userId = this.#guest;
    const run = (mutation: string, input: object) =>
      this.ask<Record<string, { folder: Told }>>(
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

  /** Each query as it came before, and as one that nobody knows. */
  async compare(which: number): Promise<void> {
    const variables = { id: this.#ids[which % this.#ids.length], most: which % 12 };
    for (const viewer of this.viewers) {
      for (const query of queries) {
        const text = `#${viewer === this.#guest}\n${query}`;
        const known = await this.bed.runText(viewer, text, variables);
        const fresh = await this.bed.runText(viewer, `#${++this.#asked}\n${query}`, variables);
        assert.equal(known, fresh, query);
        assert.equal(await this.bed.runText(viewer, text, variables), fresh, query);
      }
    }
  }
}

for (const kind of databaseKinds) {
  describe(`answers that are written whole, on ${kind.name},`, () => {
    let tree: ChangingTree;
    before(async () => (tree = await ChangingTree.plant(await MirrorBed.start(kind))));
    after(() => tree.bed.stop());

    test('show the tree as it is, whatever has changed, and whoever asks', async () => {
      for (let time = 0; time < 2; time++) await tree.compare(0);
      const number = fc.nat({ max: 1_000 });
      await fc.assert(
        fc.asyncProperty(number, number, number, async (what, which, other) => {
          await tree.change(what, which, other);
          await tree.compare(other);
        }),
        { numRuns: roundsOn(kind, 100) },
      );
      assert.deepEqual(tree.bed.bugs, []);
    });

    test('are not pages: where those may be short only, lists without one are whole', async () => {
      const bed = await MirrorBed.start(kind, { maxPageSize: 2 });
      after(() => bed.stop());
      const short = await ChangingTree.plant(bed);
      for (let time = 0; time < 3; time++) await short.compare(time);
      const { data } = await short.ask<{ folder: { folders: { edges: unknown[] } } }>(three);
      assert.equal(data!.folder.folders.edges.length, names.length);
    });

    test('could be written by either database', async () => {
      const { data } = await tree.ask<{ folder: { id: string } }>('{folder{id}}');
      const each = ['{', { value: 'name' }, ',', { value: 'title' }, ',', { value: 'id' }, '}'] as const;
      const inner = { each, limit: 'limit', most: 1_000 };
      const text = textStatement([{ value: 'childCount' }, "'", inner, "'"]);
      const { id } = data!.folder;
      const { accessNumber } = await readHead(tree.bed.reader);
      const asked = { id, accessNumber, limit: 1_000 };
      const written = await tree.bed.reader.get(text, asked);
      const { folder } = (
        await tree.ask<{ folder: { folders: { items: { name: string; title: string; id: string }[] } } }>(
          '{folder{folders{items{name title id}}}}',
        )
      ).data!;
      const expected = folder.folders.items.map(
        ({ name, title, id }) => `{${[name, title, id].map((each) => JSON.stringify(each)).join()}}`,
      );
      assert.equal(written?.text, `${expected.length}'${expected.join()}'`);
      const more = await tree.bed.reader.get(textStatement([{ ...inner, most: 1 }]), asked);
      assert.equal(more?.text, tooMany);
      const outdated = { ...asked, accessNumber: accessNumber - 1 };
      assert.equal(await tree.bed.reader.get(text, outdated), undefined);
    });

    test('are none where lists are too long for it', async () => {
      await tree.import(many);
      for (let time = 0; time < 4; time++) await tree.compare(time);
      const { data } = await tree.ask<{ folder: { folders: { edges: unknown[] } } }>(three);
      assert.ok(data!.folder.folders.edges.length > 100);
    });

    test('are written quickly where nothing is escaped', async () => {
      await tree.import([{ name: 'plain', folders: ['x', "y's", 'z]', '[,'].map((name) => ({ name })) }]);
      const { data } = await tree.ask<{ folder: { id: string } }>('{folder(path:"/plain"){id}}');
      const quick = async (most: number) => {
        const text = [{ each: ['<', { value: 'name' }, '>'], limit: 'limit', most }] as const;
        const statement = textStatement(text, { isQuick: true });
        const { accessNumber } = await readHead(tree.bed.reader);
        const asked = { id: data!.folder.id, accessNumber, limit: most };
        return (await tree.bed.reader.get(statement, asked))?.text;
      };
      assert.equal(await quick(9), '<"[,">,<"x">,<"y\'s">,<"z]">');
      assert.equal(await quick(0), '');
    });
  });
}

describe('an answer that was written whole, on SQLite,', () => {
  const statements: string[] = [];
  const start = async (limits: Parameters<typeof MirrorBed.start>[1]) => {
    const bed = await MirrorBed.start(sqlite, limits, { onStatement: (text) => void statements.push(text) });
    after(() => bed.stop());
    const tree = await ChangingTree.plant(bed);
    for (let time = 0; time < 2; time++) await tree.ask(three);
    return tree;
  };
  const isWritten = (text: string) => /string_agg|json_group_array/.test(text);
  const readFor = async (work: () => Promise<unknown>) => {
    statements.length = 0;
    await work();
    // Others than those that ask where the journal stands are of the feed, which looks at it now and then.
    return statements.filter((text) => text.includes('journal_counter')).map(isWritten);
  };

  test('is given again when the journal stands where it stood, and written anew when it does not', async () => {
    const tree = await start({});
    await tree.ask(three);
    assert.deepEqual(await readFor(() => tree.ask(three)), [false]);
    await tree.change(0, 0, 0);
    assert.deepEqual(await readFor(() => tree.ask(three)), [false, true]);
    assert.deepEqual(await readFor(() => tree.ask(three)), [false]);
  });

  test('is written each time if none is to be kept', async () => {
    const tree = await start({ keptAnswersMegabytes: 0 });
    for (let time = 0; time < 3; time++) assert.deepEqual(await readFor(() => tree.ask(three)), [true]);
  });

  test('is not even tried where it could be more than an answer may hold', async () => {
    for (const limits of [{ maxFolders: 10_099 }, { maxValues: 10_100 }]) {
      const tree = await start(limits);
      assert.ok(!(await readFor(() => tree.ask(three))).includes(true));
    }
    const tree = await start({ maxTextBytes: 100 });
    const { errors } = await tree.ask(three);
    assert.equal(errors?.[0]?.extensions?.code, 'TOO_EXPENSIVE');
  });
});
