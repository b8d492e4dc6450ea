/** Search by an id, by a path, and by words on the path. Hidden folders and hidden texts are never matched. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../../support/databases.ts';
import type { Variables } from '../../support/graph-testbed.ts';
import { TreeTestbed } from '../tree-testbed.ts';

interface SearchPage {
  readonly items: readonly { readonly id: string; readonly path: string }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly totalCount: number;
}

const searchQuery = `query($text: String!, $under: ID, $first: Int, $after: String){
  search(text: $text, under: $under, first: $first, after: $after){
    items{id path} pageInfo{hasNextPage endCursor} totalCount}}`;

for (const kind of databaseKinds) {
  describe(`search by id, path and words on ${kind.name}`, () => {
    let tree: TreeTestbed;
    /** Sees all folders, but is not an administrator. */
    let reader: { authToken: string };

    before(async () => {
      tree = await TreeTestbed.start(kind);
      await tree.import([
        'Places/Harbour Campus/Building A/Floor 1',
        'Places/Harbour Campus/Building A/Floor 2',
        'Places/Harbour Campus/Building A/Floor 20',
        'Places/Harbour Campus/Building B/Floor 2',
        { path: 'Places/Hill Street', title: 'Old harbour office' },
        'Places/Hill Street/Floor 2',
        'Places/Floor 2 of the harbour',
        'Projects/Floor plan/Harbour',
        { path: 'Projects/Ratio', title: 'Input/output' },
      ]);
      reader = await tree.person({ [await tree.idOf('/')]: 'READ' });
    });
    after(() => tree.stop());

    const page = async (variables: Variables, authToken?: string) =>
      (await tree.query<{ search: SearchPage }>(searchQuery, variables, authToken)).search;
    const pathsOf = async (text: string, options: { under?: string; authToken?: string } = {}) => {
      const { items, totalCount } = await page({ text, under: options.under }, options.authToken);
      assert.equal(totalCount, items.length);
      return items.map(({ path }) => path);
    };
    const campus = '/Places/Harbour Campus';

    const matches: [text: string, paths: readonly string[]][] = [
      ['campus floor 20', [`${campus}/Building A/Floor 20`]],
      ['CAMPUS flóor 1', [`${campus}/Building A/Floor 1`]],
      ['building campus floor 1', [`${campus}/Building A/Floor 1`]],
      ['campus building', [`${campus}/Building A`, `${campus}/Building B`]],
      ['build 2', []],
      ['hill floor', ['/Places/Hill Street/Floor 2']],
      ['old floor', ['/Places/Hill Street/Floor 2']],
      ['floor harbour', ['/Projects/Floor plan/Harbour', '/Places/Floor 2 of the harbour']],
      ['a floor 1', [`${campus}/Building A/Floor 1`]],
      ['ing floor 1', [`${campus}/Building A/Floor 1`]],
      ['us floor 1', []],
      ['places hill', ['/Places/Hill Street']],
      ['campus nowhere', []],
      ['nowhere floor', []],
      [`${campus}/Building A/Floor 2`, [`${campus}/Building A/Floor 2`, `${campus}/Building A/Floor 20`]],
      ['Places/Hill Street/', ['/Places/Hill Street']],
      ['  /Places/Hill Street ', ['/Places/Hill Street']],
      ['/Places', ['/Places']],
      ['places/HILL', ['/Places/Hill Street']],
      ['hill/floor', ['/Places/Hill Street/Floor 2']],
      ['put/out', ['/Projects/Ratio']],
      ['/Places//Hill Street', ['/Places/Hill Street']],
      ['/', []],
      ['//', []],
      ['Places/x', []],
    ];
    for (const [text, expected] of matches) {
      test(`finds ${expected.join(', ') || 'nothing'} for ${JSON.stringify(text)}`, async () => {
        assert.deepEqual(await pathsOf(text), expected);
        assert.deepEqual(await pathsOf(text, reader), expected, 'with a grant');
      });
    }

    test('lists matches of the whole text before matches on the path', async () => {
      assert.deepEqual(await pathsOf('harbour floor 2'), [
        '/Places/Hill Street/Floor 2',
        `${campus}/Building A/Floor 2`,
        `${campus}/Building B/Floor 2`,
        '/Places/Floor 2 of the harbour',
        `${campus}/Building A/Floor 20`,
      ]);
      assert.deepEqual((await pathsOf('floor 2')).slice(0, 3).toSorted(), [
        `${campus}/Building A/Floor 2`,
        `${campus}/Building B/Floor 2`,
        '/Places/Hill Street/Floor 2',
      ]);
    });

    test('finds a folder by its id, before folders with the id in their names', async () => {
      const path = `${campus}/Building B`;
      const id = await tree.idOf(path);
      const named = await tree.create(`copy of ${id}`);
      assert.deepEqual(await pathsOf(id), [path, `/copy of ${id}`]);
      assert.deepEqual(await pathsOf(` ${id.toUpperCase()} `, reader), [path, `/copy of ${id}`]);
      const first = await page({ text: id, first: 1 });
      assert.deepEqual([first.items[0]!.path, first.totalCount], [path, 2]);
      const rest = await page({ text: id, first: 1, after: first.pageInfo.endCursor });
      assert.deepEqual([rest.items[0]!.path, rest.pageInfo.hasNextPage], [`/copy of ${id}`, false]);
      await tree.delete(named);
      for (const unknown of [named, id.replace(/.$/, (last) => (last === '0' ? '1' : '0')), id.slice(1)]) {
        assert.deepEqual(await pathsOf(unknown), []);
      }
    });

    test('matches words in the names of ancestors when it searches inside a folder', async () => {
      const under = await tree.idOf(`${campus}/Building A`);
      assert.deepEqual(await pathsOf('harbour floor 1', { under }), [`${campus}/Building A/Floor 1`]);
      assert.deepEqual(await pathsOf(`${campus}/Building B`, { under }), []);
      assert.deepEqual(await pathsOf(await tree.idOf(`${campus}/Building B`), { under }), []);
      assert.deepEqual(await pathsOf(under, { under }), []);
    });

    test('has the same order with every page size', async () => {
      const top = await tree.create('Orchard');
      await tree.import(
        Array.from({ length: 60 }, (_, index) => `Row ${index % 7}/${['', 'old '][index % 2]}pear ${index}`),
        top,
      );
      for (const authToken of [undefined, reader.authToken]) {
        const all = await page({ text: 'orchard row pear', first: 1_000 }, authToken);
        assert.equal(all.items.length, 60);
        for (const first of [1, 7, 60]) {
          const items: unknown[] = [];
          for (let after: string | null = null, more = true; more;) {
            const part = await page({ text: 'orchard row pear', first, after }, authToken);
            assert.equal(part.totalCount, 60);
            items.push(...part.items);
            ({ hasNextPage: more, endCursor: after } = part.pageInfo);
          }
          assert.deepEqual(items, all.items);
        }
      }
      await tree.delete(top);
    });

    test('matches neither hidden folders nor the titles of ancestors without READ', async () => {
      const top = await tree.create('Vault', undefined, { title: 'Zirconium' });
      await tree.import(
        [
          { path: 'Door', title: 'Palladium' },
          'Door/Lamp open',
          'Door/Shelf/Lamp deep',
          { path: 'Door/Safe', title: 'Rhodium' },
          'Door/Safe/Lamp hidden',
        ],
        top,
      );
      const idIn = (path: string) => tree.idOf(`/Vault/${path}`);
      const safe = await idIn('Door/Safe');
      const onlyDeep = await tree.person({ [await idIn('Door/Shelf/Lamp deep')]: 'READ' });
      const withoutSafe = await tree.person({ [await idIn('Door')]: 'READ', [safe]: 'NONE' });
      const deep = '/Vault/Door/Shelf/Lamp deep';
      assert.deepEqual(await pathsOf('vault door lamp', onlyDeep), [deep]);
      assert.deepEqual(await pathsOf('shelf lamp', onlyDeep), [deep]);
      assert.deepEqual(await pathsOf(deep, onlyDeep), [deep]);
      for (const word of ['zirconium', 'palladium', 'rhodium', 'safe']) {
        assert.deepEqual(await pathsOf(`${word} lamp`, onlyDeep), [], word);
        assert.deepEqual(await pathsOf(`${word} lamp deep`, onlyDeep), [], word);
      }
      assert.deepEqual(await pathsOf('palladium lamp', withoutSafe), [deep, '/Vault/Door/Lamp open']);
      assert.deepEqual(await pathsOf('zirconium lamp', withoutSafe), []);
      const hidden = '/Vault/Door/Safe/Lamp hidden';
      const texts = [
        safe,
        await tree.idOf(hidden),
        hidden,
        '/Vault/Door/Safe',
        'safe lamp',
        'door lamp hidden',
      ];
      for (const text of texts) {
        assert.deepEqual(await pathsOf(text, withoutSafe), [], text);
        assert.deepEqual(await pathsOf(text, onlyDeep), [], text);
        assert.equal((await pathsOf(text)).length, 1, text);
      }
    });

    test('accepts long and unusual texts, and rejects texts that are too long or invalid', async () => {
      const path = Array.from({ length: 12 }, (_, index) => `${index} ${'n'.repeat(200)}`).join('/');
      await tree.import([path]);
      assert.deepEqual(await pathsOf(`/${path}`), [`/${path}`]);
      for (const text of [
        '/'.repeat(4_096),
        `a/${'b'.repeat(300)}`,
        'x '.repeat(127),
        "a' or 1=1 --/x",
        '%/%',
      ]) {
        assert.deepEqual(await pathsOf(text), [], text.slice(0, 20));
      }
      for (const text of [`a/${'b'.repeat(5_000)}`, 'x y'.repeat(100), 'a/b\u0000c', 'a/\ud800']) {
        assert.equal(
          (await tree.readError(searchQuery, { text })).extensions.code,
          'BAD_INPUT',
          text.slice(0, 20),
        );
      }
    });
  });
}
