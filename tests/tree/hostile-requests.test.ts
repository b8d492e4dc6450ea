/**
 * Requests that are cheap to send and would be expensive to answer. The server refuses each, or does its work only
 * once.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { selectLength } from '../support/run-length.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { TreeTestbed } from './tree-testbed.ts';

const megabytes = selectLength({ short: 4, long: 20 }) * 2 ** 20;
const repeatField = (count: number, field: string) =>
  Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ');

for (const kind of databaseKinds) {
  describe(`hostile requests on ${kind.name}`, () => {
    let tree: TreeTestbed;
    const statements: string[] = [];

    before(async () => {
      tree = await TreeTestbed.start(kind, {
        settings: { MAX_SCANNED: '1000', MAX_TEXT_BYTES: '20000' },
        onStatement: (text) => void statements.push(text),
      });
      await tree.import(Array.from({ length: 300 }, (_, index) => `Wide/Folder ${index}`));
      await tree.import(Array.from({ length: 300 }, (_, index) => `Deep/Shelf ${index}/Box`));
    });
    after(() => tree.stop());

    const readCode = async (query: string, variables?: Record<string, unknown>) =>
      (await tree.execute(query, variables)).errors?.[0]?.extensions.code;

    test('are refused before any work if a text has many megabytes, without repeating the text', async () => {
      const long = '\ufdfa'.repeat(megabytes / 3);
      const refused: [query: string, code: string][] = [
        ['query($t: String!){search(text: $t){totalCount}}', 'BAD_INPUT'],
        ['query($t: String!){folder{folders(filter: {nameContains: $t}){totalCount}}}', 'BAD_INPUT'],
        ['query($t: String!){folder(path: $t){id}}', 'BAD_INPUT'],
        ['mutation($t: String!){createFolder(input: {name: $t}){folder{id}}}', 'BAD_INPUT'],
        ['mutation($t: String!){createFolder(input: {name: "x", title: $t}){folder{id}}}', 'BAD_INPUT'],
        ['mutation($t: String!){createFolder(input: {name: "x", description: $t}){folder{id}}}', 'BAD_INPUT'],
        ['mutation($t: String!){createUser(input: {username: $t, password: "abc"}){user{id}}}', 'BAD_INPUT'],
        ['mutation($t: ID!){deleteFolder(input: {id: $t}){folderId}}', 'NOT_FOUND'],
        ['mutation($t: ID!){restoreFolder(input: {id: $t}){folder{id}}}', 'NOT_FOUND'],
      ];
      for (const [query, code] of refused) {
        const response = await tree.server.query(query, tree.authToken, { t: long });
        assert.ok(response.text.length < 1_000, query);
        assert.equal(
          response.json<{ errors: { extensions: { code: string } }[] }>().errors[0]!.extensions.code,
          code,
        );
      }
      const steps = { list: [{ path: 'a/'.repeat(megabytes / 2) }] };
      const importing = 'mutation($list: [ImportedPath!]){importFolders(input: {list: $list}){folderCount}}';
      assert.equal(await readCode(importing, steps), 'BAD_INPUT');
      const properties = { a: Array.from({ length: 1_000_000 }, () => 1) };
      const creating = 'mutation($p: JSON){createFolder(input: {name: "x", properties: $p}){folder{id}}}';
      assert.equal(await readCode(creating, { p: properties }), 'BAD_INPUT');
    });

    test('run the same statements for a field with many aliases as for one field', async () => {
      statements.length = 0;
      await tree.query(`{folder(path: "/Wide"){descendants{totalCount}}}`);
      const expected = statements.length;
      statements.length = 0;
      await tree.query(`{folder(path: "/Wide"){descendants{${repeatField(100, 'totalCount')}}}}`);
      assert.equal(statements.length, expected);
    });

    test('are charged for the folders that counts, filters and searches examine', async () => {
      const wide = (fields: string) => `{folder(path: "/Wide"){${fields}}}`;
      const deep = (fields: string) => `{folder(path: "/Deep"){${fields}}}`;
      assert.equal(await readCode(deep(repeatField(3, 'descendants{totalCount}'))), undefined);
      assert.equal(await readCode(deep(repeatField(4, 'descendants{totalCount}'))), 'TOO_EXPENSIVE');
      // Each folder stores its number of subfolders, so a count of leaf folders examines none.
      assert.equal(await readCode(wide(repeatField(50, 'descendants{totalCount}'))), undefined);
      const filtered = (count: number) =>
        wide(
          Array.from(
            { length: count },
            (_, index) => `a${index}: folders(filter: {nameContains: "${index}"}){totalCount}`,
          ).join(' '),
        );
      assert.equal(await readCode(filtered(3)), undefined);
      assert.equal(await readCode(filtered(4)), 'TOO_EXPENSIVE');
      assert.equal(
        await readCode(`{${repeatField(4, 'search(text: "folder"){totalCount}')}}`),
        'TOO_EXPENSIVE',
      );
    });

    test('are charged for the text of cursors and of exported paths', async () => {
      const wide = (fields: string) => `{folder(path: "/Wide"){${fields}}}`;
      assert.equal(await readCode(wide('descendants(first: 20){edges{cursor}}')), undefined);
      assert.equal(await readCode(wide('descendants{edges{cursor}}')), 'TOO_EXPENSIVE');
      assert.equal(
        await readCode(wide(`folders(first: 100){edges{${repeatField(20, 'cursor')}}}`)),
        'TOO_EXPENSIVE',
      );
      const paths = repeatField(selectLength({ short: 20, long: 100 }), 'path');
      assert.equal(await readCode(`{exportFolders{${paths}}}`), 'TOO_EXPENSIVE');
    });

    test('get at most a hundred errors in a response', async () => {
      const group = await tree.mutate<{ group: { id: string } }>(
        'createGroup',
        { name: 'Closed' },
        'group{id}',
      );
      const wide = await tree.idOf('/Wide');
      await tree.mutate('grantAccess', { folderId: wide, groupId: group.group.id, level: 'READ' });
      const { id, authToken } = await tree.person({ [wide]: 'MANAGE' });
      assert.ok(id);
      const query =
        '{folder(path: "/Wide"){folders(first: 110){items{access(inherited: true){items{group{members{totalCount}}}}}}}}';
      const { errors } = await tree.execute(query, undefined, authToken);
      assert.equal(errors?.length, 100);
    });

    test('cannot restore a folder that is marked for purging, even if its time in the trash is not over', async () => {
      const id = await tree.create('Given up');
      await tree.delete(id);
      await withDatabase(tree.server.database.url, (database) =>
        database.transaction((transaction) =>
          transaction.define(
            "update folders set detached_because = 'purge' where detached_because = 'delete'",
          ),
        ),
      );
      const error = await tree.readError('mutation($id: ID!){restoreFolder(input: {id: $id}){folder{id}}}', {
        id,
      });
      assert.equal(error.extensions.code, 'NOT_FOUND');
      await tree.server.purge();
      assert.deepEqual(
        (await tree.query<{ trash: { items: unknown[] } }>('{trash{items{folderId}}}')).trash.items,
        [],
      );
    });
  });
}
