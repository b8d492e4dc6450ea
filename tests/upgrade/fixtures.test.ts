/** Databases that earlier versions made and filled are brought up to date at the start, and answer as they did then. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { migrations } from '../../server/src/database/migrations.ts';
import { databaseKinds, type TestDatabase } from '../databases.ts';
import { Testbed } from '../testbed.ts';
import { TreeBed } from '../tree/tree-bed.ts';
import { Fixture, fixtureNames } from './fixture.ts';

for (const kind of databaseKinds) {
  for (const name of fixtureNames) {
    describe(`the database of ${name} on ${kind.name}`, () => {
      const fixture = new Fixture(name, kind);
      const { people, pairs, asked, journalNumber } = fixture.facts;
      let database: TestDatabase;
      let tree: TreeBed;
      before(async () => {
        database = await fixture.load();
        const bed = await Testbed.start(kind, { database, clock: fixture.clock() });
        tree = new TreeBed(bed, pairs.current.authToken);
      });
      after(async () => {
        await tree.stop();
        await database.remove();
      });

      test('is up to date, and auth tokens of then are good', async () => {
        const { server, viewer } = await tree.ask<{
          server: { database: { schemaVersion: number } };
          viewer: { user: { username: string } };
        }>('{server{database{schemaVersion}} viewer{user{username}}}');
        assert.equal(server.database.schemaVersion, migrations.length);
        assert.equal(viewer.user.username, people.admin.username);
      });

      test('knows passwords, and who is disabled', async () => {
        for (const person of [people.admin, people.reader]) {
          assert.equal((await tree.bed.post('/login', person)).status, 200, person.username);
        }
        assert.equal((await tree.bed.post('/login', people.disabled)).status, 401);
        const guessed = { ...people.reader, password: 'another than that one' };
        assert.equal((await tree.bed.post('/login', guessed)).status, 401);
      });

      test('answers every question as it did: tree, texts, trash, people, grants and journal', async () => {
        assert.ok(asked.length > 8);
        const tokens = {
          admin: tree.authToken,
          reader: (await tree.bed.logIn(people.reader)).authToken,
        };
        for (const { as, query, data } of asked) {
          assert.deepEqual(await tree.ask(query, {}, tokens[as]), data, `${as}: ${query}`);
        }
      });

      test('knows which refresh token is good, spent or of an ended session', async () => {
        assert.equal((await tree.bed.refresh(pairs.spent)).status, 401);
        assert.equal((await tree.bed.refresh(pairs.ended)).status, 401);
        const answer = await tree.bed.refresh(pairs.current);
        assert.equal(answer.status, 200);
        ({ authToken: tree.authToken } = answer.json<{ authToken: string }>());
      });

      test('goes on: the journal after its last entry, the trash with what was in it, and cursors of then', async () => {
        const created = await tree.create('of today');
        const [trashed] = (
          await tree.ask<{ trash: { items: { folderId: string }[] } }>('{trash{items{folderId}}}')
        ).trash.items;
        await tree.run('restoreFolder', { id: trashed!.folderId });
        const journal = '{journal(first: 2){items{number kind folderId}}}';
        assert.deepEqual(await tree.ask(journal), {
          journal: {
            items: [
              { number: journalNumber + 2, kind: 'RESTORE_FOLDER', folderId: trashed!.folderId },
              { number: journalNumber + 1, kind: 'CREATE_FOLDER', folderId: created },
            ],
          },
        });
        const changes = 'query($after: String){changes(after: $after){items{kind folderId}}}';
        assert.deepEqual(await tree.ask(changes, { after: lastCursor() }), {
          changes: {
            items: [
              { kind: 'CREATE', folderId: created },
              { kind: 'CREATE', folderId: trashed!.folderId },
            ],
          },
        });
      });

      const lastCursor = () => {
        const { data } = asked.find(({ query }) => query.startsWith('{journal'))!;
        return (data as { journal: { items: { cursor: string }[] } }).journal.items[0]!.cursor;
      };
    });
  }
}
