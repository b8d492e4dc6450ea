/**
 * Search for a viewer who does not see all matches. Hidden folders affect neither the work, nor the cost, nor
 * cursors.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AccessCache } from '../../../server/src/access/access-cache.ts';
import type { ConsistentReader } from '../../../server/src/database/database.ts';
import { toIdBytes } from '../../../server/src/folders/new-folder-rows.ts';
import { viewTree } from '../../../server/src/folders/tree-view.ts';
import { searchFolders } from '../../../server/src/folders/search/search.ts';
import { toSearchQuery } from '../../../server/src/folders/search/search-query.ts';
import { databaseKinds } from '../../support/databases.ts';
import type { Variables } from '../../support/graph-testbed.ts';
import { withDatabase } from '../../support/stored-rows.ts';
import { TreeTestbed } from '../tree-testbed.ts';

interface SearchPage {
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly name: string } }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
  readonly totalCount: number;
}

const searchQuery = `query($text: String!, $under: ID, $first: Int, $after: String){
  search(text: $text, under: $under, first: $first, after: $after){
    edges{cursor node{name}} pageInfo{hasNextPage startCursor endCursor} totalCount}}`;

const numberedPaths = (count: number, path: string) =>
  Array.from({ length: count }, (_, index) => `${path} ${index}`);
const visibleWalnuts = [...numberedPaths(250, 'walnut early'), ...numberedPaths(20, 'walnut late')];

for (const kind of databaseKinds) {
  describe(`a query among hidden folders on ${kind.name}`, () => {
    let tree: TreeTestbed;
    let secretId: string;
    let openId: string;
    /** Sees only four folders, and searches for texts that do not match them. */
    let narrowViewer: { id: string; authToken: string };
    /** Sees more than 1,000 folders. */
    let wideViewer: { id: string; authToken: string };

    before(async () => {
      tree = await TreeTestbed.start(kind, { settings: { MAX_SCANNED: '2000' } });
      await tree.import(numberedPaths(1_100, 'Open/Shelf'));
      await tree.import(numberedPaths(3, 'Small/Box'));
      openId = await tree.idOf('/Open');
      await tree.import(
        [...numberedPaths(250, 'walnut early'), ...numberedPaths(250, 'hazel'), 'larch a', 'larch b'],
        openId,
      );
      await tree.import([
        ...numberedPaths(3_000, 'Secret/walnut hidden'),
        ...numberedPaths(1_500, 'Secret/cedar hidden'),
        ...numberedPaths(1_100, 'Grove/larch hidden'),
        ...Array.from({ length: 1_200 }, (_, index) => ({
          path: `Secret/ma ${index}`,
          title: `Map ${index}`,
        })),
      ]);
      await tree.import([...numberedPaths(20, 'walnut late'), 'larch'], openId);
      secretId = await tree.idOf('/Secret');
      narrowViewer = await tree.person({ [await tree.idOf('/Small')]: 'READ' });
      wideViewer = await tree.person({ [openId]: 'READ' });
    });
    after(() => tree.stop());

    const page = async (variables: Variables, authToken = wideViewer.authToken) =>
      (await tree.query<{ search: SearchPage }>(searchQuery, variables, authToken)).search;

    async function allPages(variables: Variables, start: string | null = null): Promise<SearchPage[]> {
      const pages: SearchPage[] = [];
      for (let cursor = start, isMore = true; isMore;) {
        const next: SearchPage = await page({ ...variables, after: cursor });
        ({ hasNextPage: isMore, endCursor: cursor } = next.pageInfo);
        assert.ok(!isMore || cursor !== null);
        pages.push(next);
        assert.ok(pages.length < 100);
      }
      return pages;
    }

    const namesIn = (pages: readonly SearchPage[]) =>
      pages.flatMap(({ edges }) => edges.map(({ node }) => node.name));

    /** Runs a search for its first page. Returns the number of rows that each statement reads. */
    const rowsPerStatement = (userId: string, text: string, underId?: string): Promise<number[]> =>
      withDatabase(tree.server.database.url, (database) =>
        database.snapshot(async (reader) => {
          const { access } = await new AccessCache(database).accessFor(reader, { userId });
          const rows: number[] = [];
          const countingReader: ConsistentReader = {
            isConsistent: true,
            isEmbedded: true,
            all: async (statement, parameters) => {
              const found = await reader.all(statement, parameters);
              rows.push(found.length);
              return found;
            },
            get: async (statement, parameters) => {
              rows.push(1);
              return reader.get(statement, parameters);
            },
          };
          const slice = { query: toSearchQuery(text), underId, first: 50 };
          await searchFolders(viewTree(countingReader, access), slice, () => undefined);
          return rows;
        }),
      );

    test('reads no more rows for thousands of hidden matches if the viewer sees few folders', async () => {
      const none = await rowsPerStatement(narrowViewer.id, 'nowhere');
      for (const text of ['walnut', 'cedar', 'ma', 'wa', 'hidden']) {
        assert.deepEqual(await rowsPerStatement(narrowViewer.id, text), none, text);
        const { edges, pageInfo, totalCount } = await page({ text }, narrowViewer.authToken);
        assert.deepEqual(
          [edges.length, pageInfo.hasNextPage, pageInfo.endCursor, totalCount],
          [0, false, null, 0],
        );
      }
    });

    test('reads no more rows inside a small folder if folders elsewhere are hidden', async () => {
      const [smallId, authToken] = [await tree.idOf('/Small'), wideViewer.authToken];
      await tree.mutate('grantAccess', { folderId: smallId, userId: wideViewer.id, level: 'READ' });
      assert.deepEqual(
        await rowsPerStatement(wideViewer.id, 'walnut', smallId),
        await rowsPerStatement(wideViewer.id, 'nowhere', smallId),
      );
      assert.deepEqual(
        namesIn([await page({ text: 'box', under: smallId }, authToken)]),
        numberedPaths(3, 'Box'),
      );
      await tree.mutate('revokeAccess', { folderId: smallId, userId: wideViewer.id });
    });

    test('examines matches of single words only if matches of the whole text do not fill the page', async () => {
      assert.deepEqual(
        await rowsPerStatement(wideViewer.id, 'walnut early'),
        await rowsPerStatement(wideViewer.id, 'early'),
      );
      const partial = await rowsPerStatement(wideViewer.id, 'open walnut');
      assert.ok(partial.length > (await rowsPerStatement(wideViewer.id, 'walnut early')).length);
    });

    test('examines a bounded number of hidden matches for a page', async () => {
      for (const [few, many] of [
        ['cedar', 'walnut hidden'],
        ['ce', 'ma'],
      ] as const) {
        const work = await rowsPerStatement(wideViewer.id, many);
        assert.deepEqual(await rowsPerStatement(wideViewer.id, few), work);
        const none = await rowsPerStatement(wideViewer.id, 'nowhere');
        const sum = (rows: readonly number[]) => rows.reduce((total, count) => total + count, 0);
        // One batch, its ancestors, and the key that encrypts the cursor.
        assert.ok(sum(work) - sum(none) <= 500 + 502 + 2, `${sum(work)} rows`);
        assert.ok(work.length - none.length <= 3, `${work.length} statements`);
      }
    });

    test('finds every visible match, even if hidden matches make pages shorter', async () => {
      const pages = await allPages({ text: 'walnut' });
      assert.ok(pages.length > 1);
      assert.ok(pages.some(({ edges, pageInfo }) => edges.length === 0 && pageInfo.hasNextPage));
      assert.deepEqual(namesIn(pages), visibleWalnuts);
      assert.equal(pages.at(-1)!.totalCount, 270);
      for (const { edges, pageInfo } of pages) {
        assert.equal(pageInfo.startCursor, edges[0]?.cursor ?? null);
        if (edges.length > 0) assert.equal(pageInfo.endCursor, edges.at(-1)!.cursor);
      }
      for (const first of [7, 100])
        assert.deepEqual(namesIn(await allPages({ text: 'walnut', first })), visibleWalnuts);
    });

    test('continues from the cursor of any match', async () => {
      const cursors = (await allPages({ text: 'walnut' })).flatMap(({ edges }) =>
        edges.map(({ cursor }) => cursor),
      );
      for (const index of [0, 10, 249, 250, 268, 269]) {
        const rest = await allPages({ text: 'walnut' }, cursors[index]);
        assert.deepEqual(namesIn(rest), visibleWalnuts.slice(index + 1));
      }
    });

    test('finds every visible match of a short text in names and titles', async () => {
      await tree.mutate('createFolder', { parentId: openId, name: 'ma of all' });
      await tree.mutate('createFolder', { parentId: openId, name: 'mb', title: 'mazes' });
      await tree.mutate('createFolder', { parentId: openId, name: 'maze', title: 'maze too' });
      const pages = await allPages({ text: 'ma' });
      assert.ok(pages.length > 2);
      assert.deepEqual(namesIn(pages).toSorted(), ['ma of all', 'maze', 'mb']);
      assert.equal(pages.at(-1)!.totalCount, 3);
    });

    test('omits and repeats nothing when hidden folders become visible between two pages', async () => {
      const start = await page({ text: 'larch', first: 1 });
      assert.deepEqual(namesIn([start]), ['larch a']);
      const folderId = await tree.idOf('/Grove');
      await tree.mutate('grantAccess', { folderId, userId: wideViewer.id, level: 'READ' });
      const rest = await allPages({ text: 'larch', first: 1_000 }, start.pageInfo.endCursor);
      await tree.mutate('revokeAccess', { folderId, userId: wideViewer.id });
      const expected = ['larch', 'larch a', 'larch b', ...numberedPaths(1_100, 'larch hidden')];
      assert.deepEqual(namesIn([start, ...rest]).toSorted(), expected.toSorted());
    });

    test('does not reveal hidden folders in its cursors', async () => {
      const { folder } = await tree.query<{ folder: { folders: { items: { id: string; name: string }[] } } }>(
        'query($id: ID){folder(id: $id){folders{items{id name}}}}',
        { id: secretId },
      );
      const secrets = folder.folders.items.flatMap(({ id, name }) => [
        Buffer.from(toIdBytes(id)),
        Buffer.from(id),
        Buffer.from(name),
      ]);
      const sizes = new Set<number>();
      for (const text of ['walnut', 'ma', 'ce']) {
        for (const { edges, pageInfo } of await allPages({ text })) {
          for (const cursor of [...edges.map((edge) => edge.cursor), pageInfo.endCursor]) {
            const bytes = Buffer.from(cursor ?? '', 'base64url');
            assert.ok(!secrets.some((secret) => bytes.includes(secret)));
          }
          if (edges.length === 0 && pageInfo.endCursor) sizes.add(pageInfo.endCursor.length);
        }
      }
      assert.equal(sizes.size, 1);
    });

    test('refuses a cursor of another search and a modified cursor', async () => {
      const { endCursor } = (await page({ text: 'walnut' })).pageInfo;
      const error = await tree.readError(
        searchQuery,
        { text: 'cedar', after: endCursor },
        wideViewer.authToken,
      );
      assert.equal(error.extensions.code, 'BAD_INPUT');
      const edited = Buffer.from(endCursor!, 'base64url');
      edited[20]! ^= 1;
      const after = edited.toString('base64url');
      assert.equal(
        (await tree.readError(searchQuery, { text: 'walnut', after }, wideViewer.authToken)).extensions.code,
        'BAD_INPUT',
      );
    });

    test('has the same cost with and without hidden matches', async () => {
      const searches = (text: string, count: number) =>
        `{${Array.from({ length: count }, (_, index) => `a${index}: search(text: "${text}"){totalCount}`).join(' ')}}`;
      const { errors } = await tree.execute(searches('cedar', 9), undefined, wideViewer.authToken);
      assert.equal(errors, undefined);
      const costs = [];
      for (const text of ['walnut', 'hazel']) {
        assert.equal(
          (await tree.execute(searches(text, 8), undefined, wideViewer.authToken)).errors,
          undefined,
        );
        const refused = await tree.readError(searches(text, 9), undefined, wideViewer.authToken);
        costs.push(refused.extensions);
      }
      const cost = { code: 'TOO_EXPENSIVE', field: 'a8', cost: 2_001, limit: 2_000 };
      assert.deepEqual(
        costs.map((each) => ({ ...each, field: 'a8' })),
        [cost, cost],
      );
    });

    test('has the same cost for a count of descendants with and without hidden descendants', async () => {
      const counts = `{${Array.from({ length: 3 }, (_, index) => `a${index}: folder(id: "${openId}"){descendants{totalCount}}`).join(' ')}}`;
      const response = async () => tree.execute(counts, undefined, wideViewer.authToken);
      const before = await response();
      assert.equal(before.errors, undefined);
      const [id] = (await tree.createChain(['Closed', 'inside'], openId)) as [string];
      await tree.mutate('grantAccess', { folderId: id, userId: wideViewer.id, level: 'NONE' });
      assert.deepEqual(await response(), before);
      await tree.delete(id);
    });

    test('returns all matches in one order to an administrator', async () => {
      // An administrator sees every match, and is charged for each.
      const error = await tree.readError(searchQuery, { text: 'walnut' });
      assert.equal(error.extensions.code, 'TOO_EXPENSIVE');
      const { edges, pageInfo, totalCount } = await page({ text: 'cedar', first: 2_000 }, tree.authToken);
      assert.equal(edges.length, 1_500);
      assert.deepEqual([pageInfo.hasNextPage, totalCount], [false, 1_500]);
    });
  });
}
