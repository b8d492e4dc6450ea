/** Requests that cost little to send and would cost much to answer: each is refused, or does its work once. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../databases.ts';
import { lengthOf } from '../run-length.ts';
import { withDatabase } from '../stored-rows.ts';
import { TreeBed } from './tree-bed.ts';

const megabytes = lengthOf({ short: 4, long: 20 }) * 2 ** 20;
const many = (count: number, field: string) =>
  Array.from({ length: count }, (_, place) => `a${place}: ${field}`).join(' ');

for (const kind of databaseKinds) {
  describe(`hostile requests on ${kind.name}`, () => {
    let tree: TreeBed;
    const statements: string[] = [];

    before(async () => {
      tree = await TreeBed.start(kind, {
        settings: { MAX_SCANNED: '1000', MAX_TEXT_BYTES: '20000' },
        onStatement: (text) => void statements.push(text),
      });
      await tree.import(Array.from({ length: 300 }, (_, place) => `Wide/Folder ${place}`));
      await tree.import(Array.from({ length: 300 }, (_, place) => `Deep/Shelf ${place}/Box`));
    });
    after(() => tree.stop());

    const codeOf = async (query: string, variables?: Record<string, unknown>) =>
      (await tree.body(query, variables)).errors?.[0]?.extensions.code;

    test('a text of many megabytes is refused before any work on it, and is not repeated', async () => {
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
        const answer = await tree.bed.query(query, tree.authToken, { t: long });
        assert.ok(answer.text.length < 1_000, query);
        assert.equal(
          answer.json<{ errors: { extensions: { code: string } }[] }>().errors[0]!.extensions.code,
          code,
        );
      }
      const steps = { list: [{ path: 'a/'.repeat(megabytes / 2) }] };
      const importing = 'mutation($list: [ImportedPath!]){importFolders(input: {list: $list}){folderCount}}';
      assert.equal(await codeOf(importing, steps), 'BAD_INPUT');
      const properties = { a: Array.from({ length: 1_000_000 }, () => 1) };
      const creating = 'mutation($p: JSON){createFolder(input: {name: "x", properties: $p}){folder{id}}}';
      assert.equal(await codeOf(creating, { p: properties }), 'BAD_INPUT');
    });

    test('what is asked for under many names is counted once', async () => {
      statements.length = 0;
      await tree.ask(`{folder(path: "/Wide"){descendants{totalCount}}}`);
      const once = statements.length;
      statements.length = 0;
      await tree.ask(`{folder(path: "/Wide"){descendants{${many(100, 'totalCount')}}}}`);
      assert.equal(statements.length, once);
    });

    test('folders that are looked at are paid for, in counts, filters and searches', async () => {
      const wide = (fields: string) => `{folder(path: "/Wide"){${fields}}}`;
      const deep = (fields: string) => `{folder(path: "/Deep"){${fields}}}`;
      assert.equal(await codeOf(deep(many(3, 'descendants{totalCount}'))), undefined);
      assert.equal(await codeOf(deep(many(4, 'descendants{totalCount}'))), 'TOO_EXPENSIVE');
      // A folder knows how many are in it: where none of them has anything inside, there is nothing to look at.
      assert.equal(await codeOf(wide(many(50, 'descendants{totalCount}'))), undefined);
      const filtered = (count: number) =>
        wide(
          Array.from(
            { length: count },
            (_, place) => `a${place}: folders(filter: {nameContains: "${place}"}){totalCount}`,
          ).join(' '),
        );
      assert.equal(await codeOf(filtered(3)), undefined);
      assert.equal(await codeOf(filtered(4)), 'TOO_EXPENSIVE');
      assert.equal(await codeOf(`{${many(4, 'search(text: "folder"){totalCount}')}}`), 'TOO_EXPENSIVE');
    });

    test('cursors, icons and exports are paid for as texts', async () => {
      const wide = (fields: string) => `{folder(path: "/Wide"){${fields}}}`;
      assert.equal(await codeOf(wide('descendants(first: 20){edges{cursor}}')), undefined);
      assert.equal(await codeOf(wide('descendants{edges{cursor}}')), 'TOO_EXPENSIVE');
      assert.equal(await codeOf(wide(`folders(first: 100){edges{${many(20, 'cursor')}}}`)), 'TOO_EXPENSIVE');
      const paths = many(lengthOf({ short: 20, long: 100 }), 'path');
      assert.equal(await codeOf(`{exportFolders{${paths}}}`), 'TOO_EXPENSIVE');
    });

    test('an answer tells at most a hundred errors', async () => {
      const group = await tree.run<{ group: { id: string } }>('createGroup', { name: 'Closed' }, 'group{id}');
      const wide = await tree.idOf('/Wide');
      await tree.run('grantAccess', { folderId: wide, groupId: group.group.id, level: 'READ' });
      const { id, authToken } = await tree.person({ [wide]: 'MANAGE' });
      assert.ok(id);
      const query =
        '{folder(path: "/Wide"){folders(first: 110){items{access(inherited: true){items{group{members{totalCount}}}}}}}}';
      const { errors } = await tree.body(query, undefined, authToken);
      assert.equal(errors?.length, 100);
    });

    test('what is given up for purging cannot be restored any more, whatever the clock of the asker says', async () => {
      const id = await tree.create('Given up');
      await tree.delete(id);
      await withDatabase(tree.bed.database.url, (database) =>
        database.transaction((transaction) =>
          transaction.define(
            "update folders set detached_because = 'purge' where detached_because = 'delete'",
          ),
        ),
      );
      const error = await tree.refusal('mutation($id: ID!){restoreFolder(input: {id: $id}){folder{id}}}', {
        id,
      });
      assert.equal(error.extensions.code, 'NOT_FOUND');
      await tree.bed.sweep();
      assert.deepEqual(
        (await tree.ask<{ trash: { items: unknown[] } }>('{trash{items{folderId}}}')).trash.items,
        [],
      );
    });
  });
}
