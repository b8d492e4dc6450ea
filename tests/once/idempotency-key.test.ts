/** What a client may rely on that sends an `Idempotency-Key`, and what a key does not do. */

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
import { OnceBed } from './once-bed.ts';

interface WithFolder {
  readonly cursor: string;
  readonly folder: { readonly id: string; readonly name: string; readonly version: number } | null;
}

const folder = 'cursor folder{id name version}';
const results = sql<object, { result: string }>`select result from idempotency_keys`;

for (const kind of databaseKinds) {
  describe(`an Idempotency-Key on ${kind.name}`, () => {
    let bed: OnceBed;
    const statements: string[] = [];
    before(async () => {
      const onStatement = (text: string) => void statements.push(text);
      bed = await OnceBed.start(kind, { onStatement });
    });
    after(() => bed.stop());

    const create = (name: string, key: string) =>
      bed.once<WithFolder>('createFolder', { name }, folder, { key });
    const remembered = async () =>
      (await withDatabase(bed.testbed.database.url, async (database) => database.all(results, {}))).map(
        ({ result }) => result,
      );

    test('is of one user: under the same of another, another change is made', async () => {
      const key = randomUUID();
      const { authToken } = await bed.logIn(await bed.createUser({ isAdministrator: true }));
      const mine = await create('Mine', key);
      const theirs = await bed.once<WithFolder>('createFolder', { name: 'Theirs' }, folder, {
        key,
        authToken,
      });
      assert.notEqual(theirs.folder!.id, mine.folder!.id);
      assert.deepEqual(await create('Mine', key), mine);
    });

    test('answers with what was changed as it is now, and with the cursor of then', async () => {
      const key = randomUUID();
      const first = await create('Before', key);
      await bed.mutate('updateFolder', { id: first.folder!.id, name: 'After' });
      const place = await bed.place();
      assert.deepEqual(await create('Before', key), {
        cursor: first.cursor,
        folder: { id: first.folder!.id, name: 'After', version: 2 },
      });
      assert.equal(await bed.place(), place);
    });

    test('of what is gone since, or not seen any more, says what reading it would', async () => {
      const key = randomUUID();
      const { id } = (await create('Gone', key)).folder!;
      const userId = (await bed.createUser()).id;
      const grant = { folderId: id, userId, level: 'READ' };
      await bed.once('grantAccess', grant, folder, { key });
      await bed.mutate('deleteFolder', { id });
      assert.match(await bed.onceRefused('createFolder', { name: 'Gone' }, { key }), /^NOT_FOUND/);
      assert.equal((await bed.once<WithFolder>('grantAccess', grant, folder, { key })).folder, null);
    });

    test('gives nobody what is for administrators any more', async () => {
      const key = randomUUID();
      const former = await bed.createUser({ isAdministrator: true });
      const { authToken } = await bed.logIn(former);
      const input = { username: 'newcomer', password: 'a shed of cedar wood' };
      await bed.once('createUser', input, 'user{id}', { key, authToken });
      await bed.mutate('updateUser', { id: former.id, isAdministrator: false });
      assert.match(await bed.onceRefused('createUser', input, { key, authToken }), /^FORBIDDEN/);
    });

    test('of a mutation that failed says nothing: it is tried again', async () => {
      const key = randomUUID();
      const taken = await bed.folder('Taken');
      assert.match(await bed.onceRefused('createFolder', { name: 'Taken' }, { key }), /^CONFLICT/);
      await bed.mutate('deleteFolder', { id: taken });
      const made = await create('Taken', key);
      assert.notEqual(made.folder!.id, taken);
      assert.deepEqual(await create('Taken', key), made);
    });

    test('holds for each mutation of a request: those that were done are not done again', async () => {
      const key = randomUUID();
      const query = `mutation{${['a', 'b', 'c']
        .map((name) => `${name}: createFolder(input: {name: "batch ${name}"}){${folder}}`)
        .join(' ')}}`;
      const taken = await bed.folder('batch b');
      const first = await bed.keyed(query, {}, { key });
      assert.equal(first.errors?.length, 1);
      assert.deepEqual(first.errors[0]!.path, ['b']);
      await bed.mutate('deleteFolder', { id: taken });
      const second = await bed.keyed(query, {}, { key });
      assert.equal(second.errors, undefined);
      const place = await bed.place();
      for (const name of ['a', 'c']) assert.deepEqual(second.data![name], first.data![name]);
      assert.ok(second.data!['b']);
      // In the order of the request again, each with the cursor of its own change.
      assert.equal(second.data!['b']['cursor'], place);
      assert.deepEqual(await bed.keyed(query, {}, { key }), second);
      assert.equal(await bed.place(), place);
    });

    test('is not for another mutation under the same name in the answer', async () => {
      const key = randomUUID();
      await bed.keyed('mutation{x: createFolder(input: {name: "X"}){cursor}}', {}, { key });
      const { errors } = await bed.keyed(
        'mutation{x: createGroup(input: {name: "X"}){group{id}}}',
        {},
        { key },
      );
      assert.match(errors![0]!.message, /^This Idempotency-Key was used for another change/);
    });

    test('keeps neither the key nor a text nor a password, but ids and numbers', async () => {
      const key = randomUUID();
      const password = `a secret ${randomUUID()}`;
      const input = { name: 'Private name', title: 'Private title', properties: { private: 'thing' } };
      await bed.once('createFolder', input, folder, { key });
      await bed.once('createUser', { username: 'private person', password }, 'user{id}', { key });
      const done = JSON.stringify((await readEverything(bed.testbed.database.url))['idempotency_keys']);
      for (const text of [key, password, 'rivate']) assert.ok(!done.includes(text), text);
      const isPlain = (value: unknown): boolean => {
        if (typeof value === 'string') return /^[\da-f-]{36}$/.test(value);
        return typeof value === 'number' || value === null || Object.values(value as object).every(isPlain);
      };
      for (const result of await remembered()) assert.ok(isPlain(JSON.parse(result)), result);
    });

    test('does nothing to queries, nor to a move that is only tried', async () => {
      const key = randomUUID();
      const before = (await remembered()).length;
      const id = await bed.folder('Tried');
      const parentId = await bed.folder('Elsewhere');
      const input = { id, parentId, dryRun: true };
      const dry = () =>
        bed.once<{ isDryRun: boolean }>('moveFolder', input, 'isDryRun folder{path}', { key });
      assert.deepEqual(await dry(), { isDryRun: true, folder: { path: '/Tried' } });
      assert.deepEqual((await bed.keyed('{folder{name}}', {}, { key })).errors, undefined);
      assert.equal((await remembered()).length, before);
      const moved = { ...input, dryRun: false };
      const path = { folder: { path: '/Elsewhere/Tried' } };
      assert.deepEqual(await bed.once('moveFolder', moved, 'folder{path}', { key }), path);
    });

    test('tells nobody who has access where the folders of a move are by now', async () => {
      const top = await bed.folder('Managed');
      const [from, parentId] = [await bed.folder('From', top), await bed.folder('To', top)];
      const id = await bed.folder('Moved', from);
      const manager = await bed.createUser();
      await bed.mutate('grantAccess', { folderId: top, userId: manager.id, level: 'MANAGE' });
      const { authToken } = await bed.logIn(manager);
      const options = { key: randomUUID(), authToken };
      const move = () =>
        bed.once('moveFolder', { id, parentId }, 'folder{id} accessChanges{items{user{username}}}', options);
      assert.deepEqual(await move(), { folder: { id }, accessChanges: { items: [] } });
      await bed.mutate('moveFolder', { id: from, parentId: await bed.folder('Out of sight') });
      const other = await bed.createUser();
      await bed.mutate('grantAccess', { folderId: from, userId: other.id, level: 'READ' });
      assert.deepEqual(await move(), { folder: { id }, accessChanges: null });
    });

    test('keeps an old password, told again, from being counted as a wrong one', async () => {
      const person = await bed.createUser();
      const { authToken } = await bed.logIn(person);
      const input = { oldPassword: person.password, newPassword: 'a shed of cedar wood' };
      const options = { key: randomUUID(), authToken };
      // The 51st wrong one would be refused for a while.
      for (let time = 0; time < 55; time++) {
        await bed.once('changePassword', input, 'endedSessions', options);
      }
      assert.match(await bed.onceRefused('changePassword', input, { authToken }), /^FORBIDDEN/);
    });

    test('works for a client that takes events, too', async () => {
      const key = randomUUID();
      const headers = {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${bed.authToken}`,
        'idempotency-key': key,
      };
      const query = 'mutation{createFolder(input: {name: "By event"}){folder{id} cursor}}';
      const send = () => bed.testbed.postRaw('/graphql', JSON.stringify({ query }), headers);
      const first = await send();
      assert.match(first.text, /^event: next\ndata: \{"data":\{"createFolder":\{"folder"/);
      assert.equal((await send()).text, first.text);
    });

    test('costs a request without one no statement', async () => {
      statements.length = 0;
      await bed.folder('Plain');
      await bed.createGroup('Plain');
      assert.ok(statements.length > 0);
      assert.deepEqual(
        statements.filter((text) => text.includes('idempotency_keys')),
        [],
      );
    });

    for (const [what, key] of [
      ['an empty one', ''],
      ['one of 256 characters', 'x'.repeat(256)],
      ['one with a space', 'two words'],
      ['one beyond ASCII', 'schl\u00fcssel'],
    ] as const) {
      test(`is refused with 400: ${what}`, async () => {
        const answer = await bed.answer(
          'mutation{createGroup(input: {name: "Never"}){group{id}}}',
          {},
          { key },
        );
        assert.equal(answer.status, 400);
        const [error] = answer.json<GraphBody<unknown>>().errors!;
        assert.equal(error!.extensions.code, 'BAD_INPUT');
        assert.match(error!.message, /^An Idempotency-Key has 1 to 255 visible ASCII characters/);
      });
    }

    test('may have 255 characters, of any visible kind', async () => {
      const key = '"!~'.padEnd(255, '#');
      assert.deepEqual(await create('Long key', key), await create('Long key', key));
    });
  });

  describe(`an Idempotency-Key after a while on ${kind.name}`, () => {
    test('is known after a restart, for 24 hours, and forgotten then', async () => {
      const database = await kind.createForServer();
      const key = randomUUID();
      let bed = await OnceBed.start(kind, { database });
      const { clock } = bed.testbed;
      const create = () => bed.keyed(`mutation{createFolder(input: {name: "Kept"}){${folder}}}`, {}, { key });
      try {
        const first = await create();
        await bed.stop();
        bed = await OnceBed.start(kind, { database, clock });
        assert.deepEqual(await create(), first);
        clock.advanceSeconds(24 * 3600 - 1);
        await bed.testbed.purge();
        ({ authToken: bed.authToken } = await bed.testbed.logIn(administrator));
        assert.deepEqual(await create(), first);
        clock.advanceSeconds(1);
        await bed.testbed.purge();
        assert.equal((await create()).errors![0]!.extensions.code, 'CONFLICT');
        assert.deepEqual((await readEverything(database.url))['idempotency_keys'], []);
      } finally {
        await bed.stop();
        await database.remove();
      }
    });
  });
}

describe('an Idempotency-Key when the database falters, on PostgreSQL', () => {
  test('makes a change that was made and could not be shown one to be tried again', async () => {
    const bed = await OnceBed.start(postgres, { settings: { DATABASE_TIMEOUT_SECONDS: '2' } });
    const other = new pg.Client({ connectionString: bed.testbed.database.url });
    await other.connect();
    try {
      const key = randomUUID();
      const query = 'mutation{createFolder(input: {name: "Late"}){folder{name access{items{level}}}}}';
      const send = () => bed.answer(query, {}, { key });
      // What the answer reads, and the change does not.
      await other.query('begin; lock table grants in access exclusive mode');
      const lost = await send();
      await other.query('rollback');
      assert.equal(lost.status, 503, lost.text);
      assert.ok(lost.headers.get('retry-after'));
      const place = await bed.place();
      assert.deepEqual((await send()).json<GraphBody<unknown>>(), {
        data: { createFolder: { folder: { name: 'Late', access: { items: [] } } } },
      });
      assert.equal(await bed.place(), place);
    } finally {
      await other.end();
      await bed.stop();
    }
  });
});
