/** Finds folders by id and path, and pages through them. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { databaseKinds } from '../support/databases.ts';
import { insertFolders } from '../support/stored-rows.ts';
import { Testbed } from '../support/testbed.ts';

interface Connection {
  edges: { cursor: string; node: { id: string; name: string } }[];
  items: { name: string }[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
  totalCount: number;
}

interface GraphBody<Data> {
  data?: Data | null;
  errors?: { message: string; path?: unknown[]; extensions: { code: string } }[];
}

const connectionFields = `{edges{cursor node{id name}} items{name} pageInfo{hasNextPage hasPreviousPage startCursor endCursor} totalCount}`;
const pageQuery = `query($id: ID, $first: Int, $after: String, $last: Int, $before: String){
  folder(id: $id){folders(first: $first, after: $after, last: $last, before: $before)${connectionFields}}}`;

for (const kind of databaseKinds) {
  describe(`folders on ${kind.name}`, () => {
    let testbed: Testbed;
    let authToken: string;
    const statements: string[] = [];

    before(async () => {
      testbed = await Testbed.start(kind, {
        settings: { DEMO: 'true' },
        onStatement: (text) => void statements.push(text),
      });
      ({ authToken } = await testbed.logIn());
    });
    after(() => testbed.stop());

    async function execute<Data>(
      query: string,
      variables?: Record<string, unknown>,
    ): Promise<GraphBody<Data>> {
      return (await testbed.query(query, authToken, variables)).json<GraphBody<Data>>();
    }

    async function page(variables: Record<string, unknown>): Promise<Connection> {
      const { data, errors } = await execute<{ folder: { folders: Connection } }>(pageQuery, variables);
      assert.equal(errors, undefined, JSON.stringify(errors));
      return data!.folder.folders;
    }

    const namesOf = ({ edges }: Connection) => edges.map(({ node }) => node.name);

    describe('finding a folder', () => {
      test('works by id, with the fields `folder` and `node`', async () => {
        const { edges } = await page({ first: 1 });
        const { id, name } = edges[0]!.node;
        const query =
          'query($id: ID!){folder(id: $id){name} node(id: $id){__typename id ... on Folder{name}}}';
        assert.deepEqual(await execute(query, { id }), {
          data: { folder: { name }, node: { __typename: 'Folder', id, name } },
        });
      });

      test('works by path, with or without a trailing slash', async () => {
        const find = async (path: string) => {
          const query = 'query($path: String){folder(path: $path){name}}';
          return (await execute<{ folder: { name: string } | null }>(query, { path })).data!.folder?.name;
        };
        assert.equal(await find('/'), 'Root');
        assert.equal(await find('/Places'), 'Places');
        assert.equal(await find('/Places/Harbour Campus/Building A/Floor 2'), 'Floor 2');
        assert.equal(await find('/Places/Harbour Campus/'), 'Harbour Campus');
        assert.equal(await find('/Places/Nowhere'), undefined);
        assert.equal(await find('/places'), undefined);
        assert.equal(await find('/Root'), undefined);
        assert.equal(await find('/Places//Harbour Campus'), undefined);
      });

      test('works by path for any Unicode composition of a name', async () => {
        await insertFolders(testbed.database.url, ['Caf\u00e9']);
        const { data } = await execute('{folder(path: "/Cafe\u0301"){name}}');
        assert.deepEqual(data, { folder: { name: 'Café' } });
      });

      test('returns null for an unknown or invalid id', async () => {
        for (const id of ['', 'x', '00000000-0000-0000-0000-000000000000', "' or 1=1 --", '\0', '%', '1']) {
          const query = 'query($id: ID!){folder(id: $id){name} node(id: $id){id}}';
          assert.deepEqual(await execute(query, { id }), { data: { folder: null, node: null } });
        }
      });

      test('rejects an id together with a path, and a path that does not start at the root', async () => {
        for (const args of ['(id: "x", path: "/")', '(path: "")', '(path: "Places")']) {
          const { data, errors } = await execute(`{folder${args}{name}}`);
          assert.deepEqual(data, { folder: null });
          assert.equal(errors![0]!.extensions.code, 'BAD_INPUT');
          assert.deepEqual(errors![0]!.path, ['folder']);
        }
      });

      test('treats a null argument as absent', async () => {
        assert.deepEqual(
          await execute('{folder(id: null, path: null){name folders(first: null){totalCount}}}'),
          {
            data: { folder: { name: 'Root', folders: { totalCount: (await page({})).totalCount } } },
          },
        );
      });
    });

    describe('`viewer`', () => {
      test('contains the user, the session and the token expiry', async () => {
        const { data } = await execute<{
          viewer: {
            user: { id: string; username: string; isAdministrator: boolean };
            session: { id: string; createdAt: string; expiresAt: string };
            tokenExpiresAt: string;
          };
        }>(
          '{viewer{user{id username isAdministrator} session{id createdAt refreshedAt expiresAt} tokenExpiresAt}}',
        );
        const claims = JSON.parse(Buffer.from(authToken.split('.')[1]!, 'base64url').toString()) as {
          sub: string;
          sid: string;
          exp: number;
        };
        const { user, session, tokenExpiresAt } = data!.viewer;
        assert.deepEqual(user, { id: claims.sub, username: 'admin', isAdministrator: true });
        assert.equal(session.id, claims.sid);
        assert.equal(Date.parse(session.expiresAt) - Date.parse(session.createdAt), 60 * 86_400_000);
        assert.equal(Date.parse(tokenExpiresAt), claims.exp * 1000);
      });
    });

    describe('paging', () => {
      let id: string;
      let names: string[];

      before(async () => {
        [id] = (await insertFolders(testbed.database.url, ['Paged'])) as [string];
        names = Array.from({ length: 25 }, (_, index) => `Floor ${index + 1}`);
        await insertFolders(testbed.database.url, names.toSorted(), id);
      });

      test('returns every subfolder without arguments, in natural order, as edges and as items', async () => {
        const all = await page({ id });
        assert.deepEqual(namesOf(all), names);
        assert.deepEqual(
          all.items.map(({ name }) => name),
          names,
        );
        assert.equal(all.totalCount, 25);
        assert.deepEqual(all.pageInfo, {
          hasNextPage: false,
          hasPreviousPage: false,
          startCursor: all.edges[0]!.cursor,
          endCursor: all.edges.at(-1)!.cursor,
        });
      });

      test('visits every folder once forward, with correct page ends', async () => {
        const seen: string[] = [];
        for (let after: string | null = null, more = true; more;) {
          const part: Connection = await page({ id, first: 10, after });
          assert.equal(part.pageInfo.hasPreviousPage, seen.length > 0);
          assert.equal(part.totalCount, 25);
          seen.push(...namesOf(part));
          ({ hasNextPage: more, endCursor: after } = part.pageInfo);
        }
        assert.deepEqual(seen, names);
      });

      test('visits every folder once backward, with correct page ends', async () => {
        const seen: string[] = [];
        for (let before: string | null = null, more = true; more;) {
          const part: Connection = await page({ id, last: 10, before });
          assert.equal(part.pageInfo.hasNextPage, seen.length > 0);
          seen.unshift(...namesOf(part));
          ({ hasPreviousPage: more, startCursor: before } = part.pageInfo);
        }
        assert.deepEqual(seen, names);
      });

      test('returns the same page as the Relay algorithm for any arguments', async () => {
        const { edges } = await page({ id });
        const index = fc.option(fc.integer({ min: 0, max: 24 }), { nil: null });
        const size = fc.option(fc.integer({ min: 0, max: 30 }), { nil: null });
        await fc.assert(
          fc.asyncProperty(
            index,
            index,
            size,
            fc.boolean(),
            async (afterIndex, beforeIndex, count, isForward) => {
              const inRange = edges.filter(
                (_, index) =>
                  (afterIndex === null || index > afterIndex) &&
                  (beforeIndex === null || index < beforeIndex),
              );
              const expected =
                count === null
                  ? inRange
                  : isForward
                    ? inRange.slice(0, count)
                    : inRange.slice(inRange.length - Math.min(count, inRange.length));
              const part = await page({
                id,
                after: afterIndex === null ? null : edges[afterIndex]!.cursor,
                before: beforeIndex === null ? null : edges[beforeIndex]!.cursor,
                [isForward ? 'first' : 'last']: count,
              });
              assert.deepEqual(part.edges, expected);
              const isCut = count !== null && inRange.length > count;
              assert.equal(part.pageInfo.hasNextPage, (isForward && isCut) || beforeIndex !== null);
              assert.equal(part.pageInfo.hasPreviousPage, (!isForward && isCut) || afterIndex !== null);
            },
          ),
          { numRuns: 200 },
        );
      });

      test('keeps the position of a cursor while others insert before and after it', async () => {
        const { pageInfo } = await page({ id, first: 5 });
        await insertFolders(testbed.database.url, ['Floor 0', 'Floor 5a', 'Floor 100'], id);
        assert.deepEqual(namesOf(await page({ id, first: 2, after: pageInfo.endCursor })), [
          'Floor 5a',
          'Floor 6',
        ]);
      });

      test('rejects a negative size, first with last, and a cursor of another list', async () => {
        const { edges } = await page({ id, first: 1 });
        const cursor = edges[0]!.cursor;
        const refused = [
          { id, first: -1 },
          { id, last: -1 },
          { id, first: 1, last: 1 },
          { id, after: '' },
          { id, after: 'rubbish' },
          { id, before: 'rubbish' },
          { id, after: `${cursor}A` },
          { id, after: cursor.slice(1) },
          { id, after: `${cursor.startsWith('B') ? 'C' : 'B'}${cursor.slice(1)}` },
          { after: cursor },
        ];
        for (const variables of refused) {
          const { data, errors } = await execute(pageQuery, variables);
          assert.deepEqual(data, { folder: null }, JSON.stringify(variables));
          assert.equal(errors![0]!.extensions.code, 'BAD_INPUT');
        }
      });

      test('returns an empty page for first: 0, with hasNextPage', async () => {
        const none = await page({ id, first: 0 });
        assert.deepEqual(none.edges, []);
        assert.deepEqual(none.pageInfo, {
          hasNextPage: true,
          hasPreviousPage: false,
          startCursor: null,
          endCursor: null,
        });
      });
    });

    describe('the size of a response', () => {
      test('is limited to 20,000 folders, with an error that names the field and a remedy', async () => {
        const [id] = (await insertFolders(testbed.database.url, ['Wide'])) as [string];
        await insertFolders(
          testbed.database.url,
          Array.from({ length: 4_000 }, (_, index) => `Folder ${index}`),
          id,
        );
        const aliased = (count: number) =>
          Array.from({ length: count }, (_, index) => `a${index}: folders{items{name}}`).join(' ');
        const query = (count: number) => `query($id: ID){folder(id: $id){${aliased(count)}}}`;
        assert.equal((await execute(query(5), { id })).errors, undefined);
        const { data, errors } = await execute(query(6), { id });
        assert.deepEqual(data, { folder: null });
        assert.equal(errors![0]!.extensions.code, 'TOO_EXPENSIVE');
        assert.match(errors![0]!.message, /folder\.a5, .*limit is 20000\. Request fewer folders .*`first`/);
      });

      test('cannot be multiplied by fragments', async () => {
        const fragments = Array.from(
          { length: 6 },
          (_, level) =>
            `fragment F${level} on Folder{${Array.from({ length: 14 }, (_, index) => `a${index}: folders{items{...F${level + 1}}}`).join(' ')}}`,
        );
        const { errors } = await execute(
          `{folder{...F0}} ${fragments.join(' ')} fragment F6 on Folder{name}`,
        );
        assert.equal(errors!.length, 1);
        assert.equal(errors![0]!.extensions.code, 'TOO_EXPENSIVE');
      });
    });

    describe('the statements of a query', () => {
      const countStatements = async (query: string, variables?: Record<string, unknown>) => {
        statements.length = 0;
        const { errors } = await execute(query, variables);
        assert.equal(errors, undefined);
        return statements.length;
      };

      test('read one level of the tree each, after one that reads the journal counter', async () => {
        const below = (depth: number): string =>
          depth === 0 ? '' : `folders{edges{node{name ${below(depth - 1)}}}}`;
        const toFolder = await countStatements('{folder(path: "/Places"){name}}');
        for (const depth of [0, 1, 2, 3]) {
          const count = await countStatements(`{folder(path: "/Places"){name ${below(depth)}}}`);
          assert.equal(count, toFolder + depth, statements.join('\n'));
          assert.match(statements[0]!, /from journal_counter$/);
        }
      });

      test('are as many for 200 subfolders as for 10, plus one for each further 2,000 rows', async () => {
        const parents = await insertFolders(testbed.database.url, ['Few', 'Many', 'Very many']);
        const [few, many, veryMany] = parents as [string, string, string];
        const numbered = (count: number) => Array.from({ length: count }, (_, index) => `Folder ${index}`);
        await insertFolders(testbed.database.url, numbered(10), few);
        await insertFolders(testbed.database.url, numbered(200), many);
        await insertFolders(testbed.database.url, numbered(10_000), veryMany);
        assert.equal((await page({ id: veryMany })).edges.length, 10_000);
        const queries = [
          `query($id: ID){folder(id: $id){name folders{edges{node{name}}}}}`,
          `query($id: ID){folder(id: $id){name folders{edges{node{name folders{edges{node{name}}}}}}}}`,
          `query($id: ID){folder(id: $id){folders{edges{node{folders(first: 2){totalCount pageInfo{hasNextPage} items{name}}}}}}}`,
        ];
        // Each query is new to the server. A repeated one takes fewer statements on small lists.
        const countFirst = (query: string, id: string) => countStatements(`# ${id}\n${query}`, { id });
        for (const query of queries) {
          const expected = await countFirst(query, few);
          assert.equal(await countFirst(query, many), expected);
          // Each list of 10,000 rows takes five statements instead of one, after one failed attempt with a
          // single statement.
          assert.ok((await countFirst(query, veryMany)) <= 2 * expected + 2 * 5);
        }
      });

      test('do not read subfolders if only their count is requested, because the count is stored', async () => {
        assert.equal(await countStatements('{folder{folders{totalCount}}}'), 2);
        assert.equal(await countStatements('{folder{folders{items{folders{totalCount}}}}}'), 3);
        assert.doesNotMatch(statements.join(), /count\(/);
      });

      test('include one that reads the journal counter, and none that checks the token', async () => {
        statements.length = 0;
        assert.equal((await testbed.post('/login/verify', { authToken })).status, 204);
        assert.deepEqual(statements, []);
        assert.equal((await testbed.query('{__typename}', authToken)).status, 200);
        assert.equal(statements.length, 1);
        assert.match(statements[0]!, /from journal_counter$/);
      });
    });
  });
}
