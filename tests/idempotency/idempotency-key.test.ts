/** The guarantees of an `Idempotency-Key`, and their limits. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { sql } from '../../server/src/database/statement.ts';
import { readEverything } from '../copy/stored-tables.ts';
import pg from 'pg';
import { databaseKinds, postgres } from '../support/databases.ts';
import type { GraphBody } from '../support/graph-testbed.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { administrator } from '../support/testbed.ts';
import { IdempotencyTestbed } from './idempotency-testbed.ts';

interface FolderPayload {
  readonly cursor: string;
  readonly folder: { readonly id: string; readonly name: string; readonly version: number } | null;
}

const folderSelection = 'cursor folder{id name version}';
const selectResults = sql<object, { result: string }>`select result from idempotency_keys`;

for (const kind of databaseKinds) {
  describe(`an Idempotency-Key on ${kind.name}`, () => {
    let testbed: IdempotencyTestbed;
    const statements: string[] = [];
    before(async () => {
      const onStatement = (text: string) => void statements.push(text);
      testbed = await IdempotencyTestbed.start(kind, { onStatement });
    });
    after(() => testbed.stop());

    const create = (name: string, key: string) =>
      testbed.mutateWithKey<FolderPayload>('createFolder', { name }, folderSelection, { key });
    const readStoredResults = async () =>
      (
        await withDatabase(testbed.server.database.url, async (database) => database.all(selectResults, {}))
      ).map(({ result }) => result);

    test('belongs to one user, so another user can make another change with the same key', async () => {
      const key = randomUUID();
      const { authToken } = await testbed.logIn(await testbed.createUser({ isAdministrator: true }));
      const mine = await create('Mine', key);
      const theirs = await testbed.mutateWithKey<FolderPayload>(
        'createFolder',
        { name: 'Theirs' },
        folderSelection,
        {
          key,
          authToken,
        },
      );
      assert.notEqual(theirs.folder!.id, mine.folder!.id);
      assert.deepEqual(await create('Mine', key), mine);
    });

    test('returns the current state of the changed object, with the cursor of the original change', async () => {
      const key = randomUUID();
      const first = await create('Before', key);
      await testbed.mutate('updateFolder', { id: first.folder!.id, name: 'After' });
      const cursor = await testbed.readCursor();
      assert.deepEqual(await create('Before', key), {
        cursor: first.cursor,
        folder: { id: first.folder!.id, name: 'After', version: 2 },
      });
      assert.equal(await testbed.readCursor(), cursor);
    });

    test('returns NOT_FOUND or null, like a read, if the object was deleted', async () => {
      const key = randomUUID();
      const { id } = (await create('Gone', key)).folder!;
      const userId = (await testbed.createUser()).id;
      const grant = { folderId: id, userId, level: 'READ' };
      await testbed.mutateWithKey('grantAccess', grant, folderSelection, { key });
      await testbed.mutate('deleteFolder', { id });
      assert.match(
        await testbed.mutateRefusedWithKey('createFolder', { name: 'Gone' }, { key }),
        /^NOT_FOUND/,
      );
      assert.equal(
        (await testbed.mutateWithKey<FolderPayload>('grantAccess', grant, folderSelection, { key })).folder,
        null,
      );
    });

    test('does not return administrator data to a former administrator', async () => {
      const key = randomUUID();
      const former = await testbed.createUser({ isAdministrator: true });
      const { authToken } = await testbed.logIn(former);
      const input = { username: 'newcomer', password: 'a shed of cedar wood' };
      await testbed.mutateWithKey('createUser', input, 'user{id}', { key, authToken });
      await testbed.mutate('updateUser', { id: former.id, isAdministrator: false });
      assert.match(await testbed.mutateRefusedWithKey('createUser', input, { key, authToken }), /^FORBIDDEN/);
    });

    test('does not apply to a failed mutation, which runs again', async () => {
      const key = randomUUID();
      const taken = await testbed.createFolder('Taken');
      assert.match(
        await testbed.mutateRefusedWithKey('createFolder', { name: 'Taken' }, { key }),
        /^CONFLICT/,
      );
      await testbed.mutate('deleteFolder', { id: taken });
      const created = await create('Taken', key);
      assert.notEqual(created.folder!.id, taken);
      assert.deepEqual(await create('Taken', key), created);
    });

    test('applies to each mutation of a request, so that completed ones do not run again', async () => {
      const key = randomUUID();
      const query = `mutation{${['a', 'b', 'c']
        .map((name) => `${name}: createFolder(input: {name: "batch ${name}"}){${folderSelection}}`)
        .join(' ')}}`;
      const taken = await testbed.createFolder('batch b');
      const first = await testbed.executeWithKey(query, {}, { key });
      assert.equal(first.errors?.length, 1);
      assert.deepEqual(first.errors[0]!.path, ['b']);
      await testbed.mutate('deleteFolder', { id: taken });
      const second = await testbed.executeWithKey(query, {}, { key });
      assert.equal(second.errors, undefined);
      const cursor = await testbed.readCursor();
      for (const name of ['a', 'c']) assert.deepEqual(second.data![name], first.data![name]);
      assert.ok(second.data!['b']);
      // The mutation that failed before now has the newest cursor.
      assert.equal(second.data!['b']['cursor'], cursor);
      assert.deepEqual(await testbed.executeWithKey(query, {}, { key }), second);
      assert.equal(await testbed.readCursor(), cursor);
    });

    test('is refused for another mutation under the same alias', async () => {
      const key = randomUUID();
      await testbed.executeWithKey('mutation{x: createFolder(input: {name: "X"}){cursor}}', {}, { key });
      const { errors } = await testbed.executeWithKey(
        'mutation{x: createGroup(input: {name: "X"}){group{id}}}',
        {},
        { key },
      );
      assert.match(errors![0]!.message, /^This Idempotency-Key was used for another change/);
    });

    test('is stored as a digest, and the result as ids and numbers without texts', async () => {
      const key = randomUUID();
      const password = `a secret ${randomUUID()}`;
      const input = { name: 'Private name', title: 'Private title', properties: { private: 'thing' } };
      await testbed.mutateWithKey('createFolder', input, folderSelection, { key });
      await testbed.mutateWithKey('createUser', { username: 'private person', password }, 'user{id}', {
        key,
      });
      const storedRows = JSON.stringify(
        (await readEverything(testbed.server.database.url))['idempotency_keys'],
      );
      for (const text of [key, password, 'rivate']) assert.ok(!storedRows.includes(text), text);
      const isPlain = (value: unknown): boolean => {
        if (typeof value === 'string') return /^[\da-f-]{36}$/.test(value);
        return typeof value === 'number' || value === null || Object.values(value as object).every(isPlain);
      };
      for (const result of await readStoredResults()) assert.ok(isPlain(JSON.parse(result)), result);
    });

    test('does not apply to queries or to a dry run of a move', async () => {
      const key = randomUUID();
      const before = (await readStoredResults()).length;
      const id = await testbed.createFolder('Tried');
      const parentId = await testbed.createFolder('Elsewhere');
      const input = { id, parentId, dryRun: true };
      const dry = () =>
        testbed.mutateWithKey<{ isDryRun: boolean }>('moveFolder', input, 'isDryRun folder{path}', { key });
      assert.deepEqual(await dry(), { isDryRun: true, folder: { path: '/Tried' } });
      assert.deepEqual((await testbed.executeWithKey('{folder{name}}', {}, { key })).errors, undefined);
      assert.equal((await readStoredResults()).length, before);
      const moved = { ...input, dryRun: false };
      const path = { folder: { path: '/Elsewhere/Tried' } };
      assert.deepEqual(await testbed.mutateWithKey('moveFolder', moved, 'folder{path}', { key }), path);
    });

    test('does not reveal who has access at the new location of a moved folder', async () => {
      const top = await testbed.createFolder('Managed');
      const [from, parentId] = [
        await testbed.createFolder('From', top),
        await testbed.createFolder('To', top),
      ];
      const id = await testbed.createFolder('Moved', from);
      const manager = await testbed.createUser();
      await testbed.mutate('grantAccess', { folderId: top, userId: manager.id, level: 'MANAGE' });
      const { authToken } = await testbed.logIn(manager);
      const options = { key: randomUUID(), authToken };
      const move = () =>
        testbed.mutateWithKey(
          'moveFolder',
          { id, parentId },
          'folder{id} accessChanges{items{user{username}}}',
          options,
        );
      assert.deepEqual(await move(), { folder: { id }, accessChanges: { items: [] } });
      await testbed.mutate('moveFolder', { id: from, parentId: await testbed.createFolder('Out of sight') });
      const other = await testbed.createUser();
      await testbed.mutate('grantAccess', { folderId: from, userId: other.id, level: 'READ' });
      assert.deepEqual(await move(), { folder: { id }, accessChanges: null });
    });

    test('does not count a repeated old password as a failed attempt', async () => {
      const person = await testbed.createUser();
      const { authToken } = await testbed.logIn(person);
      const input = { oldPassword: person.password, newPassword: 'a shed of cedar wood' };
      const options = { key: randomUUID(), authToken };
      // After 50 wrong passwords, the login throttle would refuse the next attempt.
      for (let time = 0; time < 55; time++) {
        await testbed.mutateWithKey('changePassword', input, 'endedSessions', options);
      }
      assert.match(await testbed.mutateRefusedWithKey('changePassword', input, { authToken }), /^FORBIDDEN/);
    });

    test('also applies if the client requests an event stream', async () => {
      const key = randomUUID();
      const headers = {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${testbed.authToken}`,
        'idempotency-key': key,
      };
      const query = 'mutation{createFolder(input: {name: "By event"}){folder{id} cursor}}';
      const send = () => testbed.server.postRaw('/graphql', JSON.stringify({ query }), headers);
      const first = await send();
      assert.match(first.text, /^event: next\ndata: \{"data":\{"createFolder":\{"folder"/);
      assert.equal((await send()).text, first.text);
    });

    test('causes no statement if the request has none', async () => {
      statements.length = 0;
      await testbed.createFolder('Plain');
      await testbed.createGroup('Plain');
      assert.ok(statements.length > 0);
      assert.deepEqual(
        statements.filter((text) => text.includes('idempotency_keys')),
        [],
      );
    });

    for (const [what, key] of [
      ['empty', ''],
      ['256 characters long', 'x'.repeat(256)],
      ['not free of spaces', 'two words'],
      ['not ASCII', 'schl\u00fcssel'],
    ] as const) {
      test(`is refused with 400 if it is ${what}`, async () => {
        const response = await testbed.send(
          'mutation{createGroup(input: {name: "Never"}){group{id}}}',
          {},
          { key },
        );
        assert.equal(response.status, 400);
        const [error] = response.json<GraphBody<unknown>>().errors!;
        assert.equal(error!.extensions.code, 'BAD_INPUT');
        assert.match(error!.message, /^An Idempotency-Key must have 1 to 255 visible ASCII characters/);
      });
    }

    test('may have 255 visible characters', async () => {
      const key = '"!~'.padEnd(255, '#');
      assert.deepEqual(await create('Long key', key), await create('Long key', key));
    });
  });

  describe(`an old Idempotency-Key on ${kind.name}`, () => {
    test('survives a restart, and expires after 24 hours', async () => {
      const database = await kind.createForServer();
      const key = randomUUID();
      let testbed = await IdempotencyTestbed.start(kind, { database });
      const { clock } = testbed.server;
      const create = () =>
        testbed.executeWithKey(
          `mutation{createFolder(input: {name: "Kept"}){${folderSelection}}}`,
          {},
          { key },
        );
      try {
        const first = await create();
        await testbed.stop();
        testbed = await IdempotencyTestbed.start(kind, { database, clock });
        assert.deepEqual(await create(), first);
        clock.advanceSeconds(24 * 3600 - 1);
        await testbed.server.purge();
        ({ authToken: testbed.authToken } = await testbed.server.logIn(administrator));
        assert.deepEqual(await create(), first);
        clock.advanceSeconds(1);
        await testbed.server.purge();
        assert.equal((await create()).errors![0]!.extensions.code, 'CONFLICT');
        assert.deepEqual((await readEverything(database.url))['idempotency_keys'], []);
      } finally {
        await testbed.stop();
        await database.remove();
      }
    });
  });
}

describe('an Idempotency-Key during a database failure, on PostgreSQL', () => {
  test('makes a repetition safe if the server commits a change but cannot read the response', async () => {
    const testbed = await IdempotencyTestbed.start(postgres, { settings: { DATABASE_TIMEOUT_SECONDS: '2' } });
    const other = new pg.Client({ connectionString: testbed.server.database.url });
    await other.connect();
    try {
      const key = randomUUID();
      const query = 'mutation{createFolder(input: {name: "Late"}){folder{name access{items{level}}}}}';
      const send = () => testbed.send(query, {}, { key });
      // The response reads this table, and the change does not.
      await other.query('begin; lock table grants in access exclusive mode');
      const lostResponse = await send();
      await other.query('rollback');
      assert.equal(lostResponse.status, 503, lostResponse.text);
      assert.ok(lostResponse.headers.get('retry-after'));
      const cursor = await testbed.readCursor();
      assert.deepEqual((await send()).json<GraphBody<unknown>>(), {
        data: { createFolder: { folder: { name: 'Late', access: { items: [] } } } },
      });
      assert.equal(await testbed.readCursor(), cursor);
    } finally {
      await other.end();
      await testbed.stop();
    }
  });
});
