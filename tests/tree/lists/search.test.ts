/** Search: matching folders, their order, unusual characters, and results after changes of the tree. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../../support/databases.ts';
import type { Variables } from '../../support/graph-testbed.ts';
import { TreeTestbed } from '../tree-testbed.ts';

interface SearchPage {
  edges: { cursor: string; depth: null; node: { name: string } }[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; endCursor: string | null };
  totalCount: number;
}

const searchQuery = `query($text: String!, $under: ID, $first: Int, $after: String){
  search(text: $text, under: $under, first: $first, after: $after){
    edges{cursor depth node{name}} pageInfo{hasNextPage hasPreviousPage endCursor} totalCount}}`;

for (const kind of databaseKinds) {
  describe(`search on ${kind.name}`, () => {
    let tree: TreeTestbed;

    before(async () => {
      tree = await TreeTestbed.start(kind);
    });
    after(() => tree.stop());

    const page = async (variables: Variables) =>
      (await tree.query<{ search: SearchPage }>(searchQuery, variables)).search;

    describe('the order of matches', () => {
      test('puts equal texts first, then texts and words that start with the query, then the rest, each in natural order', async () => {
        const id = await tree.create('Ranks');
        const inOrder = [
          'oak',
          'Oak',
          'Öäk',
          'oak 2',
          'oak 10',
          'oaken',
          'a-oak',
          'big oak',
          'ein_oak',
          'soaked',
          'zoak',
        ];
        await tree.import(inOrder.toReversed(), id);
        assert.deepEqual((await tree.search('oak', id)).slice(3), inOrder.slice(3));
        assert.deepEqual(
          (await tree.search('OÄK', id)).slice(0, 3).toSorted(),
          ['Oak', 'oak', 'Öäk'].toSorted(),
        );
      });

      test('treats titles like names', async () => {
        const id = await tree.create('Titles');
        const list = [
          { path: 'birch' },
          { path: 'x1', title: 'birchwood' },
          { path: 'x2', title: 'Birch' },
          { path: 'x3', title: 'a silver birch' },
          { path: 'birch 7', title: 'Something else' },
          { path: 'xbirch', title: 'The birch' },
        ];
        await tree.import(list, id);
        assert.deepEqual(await tree.search('birch', id), ['birch', 'x2', 'birch 7', 'x1', 'x3', 'xbirch']);
        const found = await page({ text: 'birch', under: id });
        assert.equal(found.totalCount, 6);
        assert.equal(found.edges[0]!.depth, null);
      });

      test('is the same with every page size', async () => {
        const id = await tree.create('Many');
        await tree.import(
          Array.from({ length: 60 }, (_, index) => `${['', 'x', 'x '][index % 3]}maple ${index}`),
          id,
        );
        const all = await page({ text: 'maple', under: id, first: 1_000 });
        assert.equal(all.edges.length, 60);
        assert.equal(all.totalCount, 60);
        assert.equal((await page({ text: 'maple', under: id })).edges.length, 50);
        for (const first of [1, 7, 50, 60]) {
          const edges: SearchPage['edges'] = [];
          for (let after: string | null = null, more = true; more;) {
            const part: SearchPage = await page({ text: 'Maple', under: id, first, after });
            assert.equal(part.totalCount, 60);
            assert.equal(part.pageInfo.hasPreviousPage, edges.length > 0);
            edges.push(...part.edges);
            ({ hasNextPage: more, endCursor: after } = part.pageInfo);
          }
          assert.deepEqual(edges, all.edges);
        }
      });

      test('includes matches beyond the first segment of the index, and so does the count', async () => {
        const id = await tree.create('Long');
        await tree.import(
          Array.from({ length: 2_300 }, (_, index) => `sequoia ${2_300 - index}`),
          id,
        );
        for (const text of ['sequoia', 'se']) {
          const { edges, totalCount } = await page({ text, under: id, first: 3 });
          assert.equal(totalCount, 2_300);
          assert.deepEqual(
            edges.map(({ node }) => node.name),
            ['sequoia 1', 'sequoia 2', 'sequoia 3'],
          );
        }
        await tree.delete(id);
      });
    });

    describe('matching', () => {
      const names = [
        String.raw`Straße|Ångström|ÉCOLE normale|Ελλάς|ﬁnance|CAFÉ|東京都庁|日本|한국어 자료|🌲🌳🌴 grove|𝔸𝔹ℂ|𐐀𐐁𐐂𐐃`,
        String.raw`AND OR NOT|a "quoted" name|star*star|(paren)|dash-ed|up^up|50%_off|under_score`,
        String.raw`back\slash|it's|NEAR(a b)|semi;colon|col:on|{brace}|plus+plus|İstanbul|q|qz`,
        String.raw`double  space`,
      ].flatMap((line) => line.split('|'));

      /** Sees the same folders, but a search by this user compares their names without the index. */
      let reader: { authToken: string };
      before(async () => {
        await tree.import(names, undefined);
        reader = await tree.person({ [await tree.idOf('/')]: 'READ' });
      });

      const matches: [text: string, names: readonly string[]][] = [
        ['straß', ['Straße']],
        ['angstrom', ['Ångström']],
        ['Ecole', ['ÉCOLE normale']],
        ['E\u0301cole', ['ÉCOLE normale']],
        ['cole nor', ['ÉCOLE normale']],
        ['ΕΛΛΑΣ', ['Ελλάς']],
        ['finance', ['ﬁnance']],
        ['cafe', ['CAFÉ']],
        ['istanbul', ['İstanbul']],
        ['東京都', ['東京都庁']],
        ['京都庁', ['東京都庁']],
        ['京都', []],
        ['東京', ['東京都庁']],
        ['日', ['日本']],
        ['국어 ', []],
        ['한국어', ['한국어 자료']],
        ['국어 자', ['한국어 자료']],
        ['🌲', ['🌲🌳🌴 grove']],
        ['🌲🌳🌴', ['🌲🌳🌴 grove']],
        ['🌳🌴 ', []],
        ['🌳🌴 g', ['🌲🌳🌴 grove']],
        ['🌳', []],
        ['abc', ['𝔸𝔹ℂ']],
        ['𐐨𐐩𐐪', ['𐐀𐐁𐐂𐐃']],
        ['AND OR', ['AND OR NOT']],
        ['OR NOT', ['AND OR NOT']],
        ['"quoted"', ['a "quoted" name']],
        ['"quo', ['a "quoted" name']],
        ['"""', []],
        ['r*s', ['star*star']],
        ['***', []],
        ['sta*', []],
        ['(paren)', ['(paren)']],
        ['en)', ['(paren)']],
        ['h-e', ['dash-ed']],
        ['dash -ed', ['dash-ed']],
        ['-ed dash', ['dash-ed']],
        ['p^u', ['up^up']],
        ['^up', ['up^up']],
        ['0%_', ['50%_off']],
        ['%', []],
        ['%%%', []],
        ['___', []],
        ['_', []],
        ['r_s', ['under_score']],
        ['k\\s', ['back\\slash']],
        ["t's", ["it's"]],
        ["'''", []],
        ['near(', ['NEAR(a b)']],
        ['i;c', ['semi;colon']],
        ['l:o', ['col:on']],
        ['{bra', ['{brace}']],
        ['s+p', ['plus+plus']],
        ['e  s', ['double  space']],
        ['  dash-ed ', ['dash-ed']],
        ['eqqs', []],
        ['cole_nor', []],
        ['q', ['q', 'qz']],
        ['QZ', ['qz']],
        ['grove', ['🌲🌳🌴 grove']],
        ['nowhere to be found', []],
      ];
      for (const [text, expected] of matches) {
        test(`finds ${expected.length === 0 ? 'nothing' : expected.join(', ')} for ${JSON.stringify(text)}`, async () => {
          assert.deepEqual(await tree.search(text), expected);
          assert.deepEqual(await tree.search(text, undefined, reader.authToken), expected, 'with a grant');
        });
      }

      test('finds a long name by the whole name, by its start and by its end', async () => {
        const name = Array.from({ length: 255 }, (_, index) => 'abcdefghijklm'[(index * index) % 13]).join(
          '',
        );
        await tree.create(name);
        for (const text of [name, name.slice(0, 200), name.slice(100)])
          assert.deepEqual(await tree.search(text), [name]);
        assert.deepEqual(await tree.search(`${name.slice(1)}z`), []);
      });

      test('rejects a text that is empty, too long or not well-formed', async () => {
        for (const text of [
          '',
          ' ',
          '\u0301',
          'x'.repeat(256),
          'a\0b',
          'ab\u0007c',
          'abc\ud800',
          '\udc00\ud800xyz',
        ]) {
          assert.equal(
            (await tree.readError(searchQuery, { text })).extensions.code,
            'BAD_INPUT',
            JSON.stringify(text),
          );
        }
      });

      test('rejects invalid sizes and cursors of other lists', async () => {
        const { endCursor } = (await page({ text: 'qz', first: 1 })).pageInfo;
        const { folder } = await tree.query<{ folder: { folders: SearchPage } }>(
          '{folder{folders(first: 1){pageInfo{endCursor}}}}',
        );
        const id = await tree.create('Apart');
        const refused = [
          { first: -1 },
          { after: '' },
          { after: folder.folders.pageInfo.endCursor },
          { after: endCursor, text: 'q' },
          { after: endCursor, under: id },
        ];
        for (const variables of refused) {
          const { extensions } = await tree.readError(searchQuery, { text: 'qz', ...variables });
          assert.equal(extensions.code, 'BAD_INPUT', JSON.stringify(variables));
        }
      });

      test('reports NOT_FOUND if the folder in `under` does not exist', async () => {
        const gone = await tree.create('Gone');
        await tree.delete(gone);
        for (const under of ['x', gone]) {
          assert.equal(
            (await tree.readError(searchQuery, { text: 'x', under })).extensions.code,
            'NOT_FOUND',
          );
        }
      });
    });

    describe('after changes of the tree', () => {
      test('finds only descendants of the requested folder, not the folder itself', async () => {
        const [top, inner] = (await tree.createChain(['willow', 'willow two', 'willow three'])) as [
          string,
          string,
        ];
        assert.deepEqual(await tree.search('willow'), ['willow', 'willow three', 'willow two']);
        assert.deepEqual(await tree.search('willow', top), ['willow three', 'willow two']);
        assert.deepEqual(await tree.search('willow', inner), ['willow three']);
      });

      test('finds a renamed folder by its new name and title immediately, and not by the old ones', async () => {
        const id = await tree.create('hazelnut', undefined, { title: 'Filbert' });
        await tree.mutate('updateFolder', { id, name: 'walnut tree' });
        assert.deepEqual([await tree.search('hazelnut'), await tree.search('walnut')], [[], ['walnut tree']]);
        assert.deepEqual(await tree.search('filbert'), ['walnut tree']);
        await tree.mutate('updateFolder', { id, title: 'Juglans' });
        assert.deepEqual([await tree.search('filb'), await tree.search('juglans')], [[], ['walnut tree']]);
        await tree.mutate('updateFolder', { id, title: null });
        assert.deepEqual(await tree.search('juglans'), []);
      });

      test('finds a moved folder and its descendants at the new location', async () => {
        const [from, id] = (await tree.createChain(['Here', 'poplar', 'poplar inside'])) as [string, string];
        const to = await tree.create('There');
        await tree.move(id, to);
        assert.deepEqual(await tree.search('poplar', from), []);
        assert.deepEqual(await tree.search('poplar', to), ['poplar', 'poplar inside']);
      });

      test('does not find a deleted folder or its descendants until it is restored', async () => {
        const [id] = (await tree.createChain(['spruce', 'spruce inside'])) as [string];
        await tree.delete(id);
        assert.deepEqual([await tree.search('spruce'), await tree.search('sp')], [[], []]);
        await tree.mutate('restoreFolder', { id, name: 'spruce again' });
        assert.deepEqual(await tree.search('spruce'), ['spruce again', 'spruce inside']);
        await tree.delete(id);
        await tree.advanceDays(31);
        await tree.server.purge();
        assert.deepEqual(await tree.search('spruce'), []);
      });

      test('does not find the texts of refused changes', async () => {
        const id = await tree.create('elm');
        await tree.readMutationError('createFolder', { name: 'elm', title: 'alder one' });
        await tree.readMutationError('updateFolder', { id, title: 'alder two', expectedVersion: 9 });
        const list = [{ path: 'alder three' }, { path: 'elm' }];
        await tree.readMutationError('importFolders', { list });
        assert.deepEqual(await tree.search('alder'), []);
        assert.deepEqual(await tree.search('elm'), ['elm']);
      });
    });
  });
}
