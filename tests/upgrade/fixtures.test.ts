/** A server migrates the databases of earlier versions when it starts, and returns the same data as the earlier version. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { migrations } from '../../server/src/database/migrations.ts';
import { databaseKinds, type TestDatabase } from '../support/databases.ts';
import { Testbed } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { Fixture, fixtureNames } from './fixture.ts';

for (const kind of databaseKinds) {
  for (const name of fixtureNames) {
    describe(`a server on the database of version ${name} on ${kind.name}`, () => {
      const fixture = new Fixture(name, kind);
      const { people, pairs, asked, journalNumber, keyedMutation, apiKey } = fixture.facts;
      let database: TestDatabase;
      let tree: TreeTestbed;
      before(async () => {
        database = await fixture.load();
        const testbed = await Testbed.start(kind, { database, clock: fixture.clock() });
        tree = new TreeTestbed(testbed, pairs.current.authToken);
      });
      after(async () => {
        await tree.stop();
        await database.remove();
      });

      test('migrates the database at the start, and accepts auth tokens issued before', async () => {
        const { server, viewer } = await tree.query<{
          server: { database: { schemaVersion: number } };
          viewer: { user: { username: string } };
        }>('{server{database{schemaVersion}} viewer{user{username}}}');
        assert.equal(server.database.schemaVersion, migrations.length);
        assert.equal(viewer.user.username, people.admin.username);
      });

      test('accepts the stored passwords, and refuses a disabled user', async () => {
        for (const person of [people.admin, people.reader]) {
          assert.equal((await tree.server.post('/login', person)).status, 200, person.username);
        }
        assert.equal((await tree.server.post('/login', people.disabled)).status, 401);
        const wrongCredentials = { ...people.reader, password: 'another than that one' };
        assert.equal((await tree.server.post('/login', wrongCredentials)).status, 401);
      });

      test('returns the same data as before: tree, texts, trash, people, grants and journal', async () => {
        assert.ok(asked.length > 8);
        const tokens = {
          admin: tree.authToken,
          reader: (await tree.server.logIn(people.reader)).authToken,
        };
        for (const { as, query, data } of asked) {
          assert.deepEqual(await tree.query(query, {}, tokens[as]), data, `${as}: ${query}`);
        }
      });

      if (apiKey === undefined) {
        test('returns no paths for journal entries of the earlier version', async () => {
          const query = '{journal(filter: {kinds: [CREATE_FOLDER, MOVE_FOLDER]}){items{path formerPath}}}';
          const { journal } = await tree.query<{ journal: { items: object[] } }>(query);
          assert.ok(journal.items.length > 0);
          for (const entry of journal.items) assert.deepEqual(entry, { path: null, formerPath: null });
        });
      } else {
        test('accepts the stored API key', async () => {
          const { viewer } = await tree.query<{ viewer: object }>(
            '{viewer{user{username} apiKey{name}}}',
            {},
            apiKey,
          );
          assert.deepEqual(viewer, { user: { username: people.admin.username }, apiKey: { name: 'own' } });
        });

        test('keeps linked accounts, authenticator apps, recovery codes and passkeys', async () => {
          const { authToken } = await tree.server.logIn(people.reader);
          const query = `{viewer{user{identities{subject name}}
            secondFactor{totpSince recoveryCodesLeft passkeys{name}}}}`;
          const { viewer } = await tree.query<{ viewer: object }>(query, {}, authToken);
          assert.deepEqual(viewer, {
            user: { identities: [{ subject: 'größe 𝔊', name: 'Ærø' }] },
            secondFactor: {
              totpSince: new Date(fixture.facts.madeAt).toISOString(),
              recoveryCodesLeft: 1,
              passkeys: [{ name: 'Laptop 💻' }],
            },
          });
        });
      }

      test('accepts the current refresh token, and refuses spent and revoked ones', async () => {
        assert.equal((await tree.server.refresh(pairs.spent)).status, 401);
        assert.equal((await tree.server.refresh(pairs.ended)).status, 401);
        const answer = await tree.server.refresh(pairs.current);
        assert.equal(answer.status, 200);
        ({ authToken: tree.authToken } = answer.json<{ authToken: string }>());
      });

      if (keyedMutation) {
        const { key, query, data } = keyedMutation;
        test('recognizes a mutation by its idempotency key, and does not repeat it', async () => {
          const response = await tree.server.postRaw('/graphql', JSON.stringify({ query }), {
            'content-type': 'application/json',
            authorization: `Bearer ${tree.authToken}`,
            'idempotency-key': key,
          });
          assert.deepEqual(response.json<{ data: unknown }>().data, data);
        });
      }

      test('continues the journal, restores a folder from the trash, and accepts an earlier cursor', async () => {
        const createdId = await tree.create('of today');
        const [trashed] = (
          await tree.query<{ trash: { items: { folderId: string }[] } }>('{trash{items{folderId}}}')
        ).trash.items;
        await tree.mutate('restoreFolder', { id: trashed!.folderId });
        const journal = '{journal(first: 2){items{number kind folderId}}}';
        assert.deepEqual(await tree.query(journal), {
          journal: {
            items: [
              { number: journalNumber + 2, kind: 'RESTORE_FOLDER', folderId: trashed!.folderId },
              { number: journalNumber + 1, kind: 'CREATE_FOLDER', folderId: createdId },
            ],
          },
        });
        const changes = 'query($after: String){changes(after: $after){items{kind folderId}}}';
        assert.deepEqual(await tree.query(changes, { after: lastCursor() }), {
          changes: {
            items: [
              { kind: 'CREATE', folderId: createdId },
              { kind: 'CREATE', folderId: trashed!.folderId },
            ],
          },
        });
      });

      test('gives API keys to users of the earlier version, and converts them to service accounts', async () => {
        const { authToken } = await tree.server.logIn(people.reader);
        const input = { name: 'new', level: 'READ' };
        type Created = { createApiKey: { key: string } };
        const create = 'mutation($input: CreateApiKeyInput!){createApiKey(input: $input){key}}';
        const { key } = (await tree.query<Created>(create, { input }, authToken)).createApiKey;
        const viewer = '{viewer{user{id kind}}}';
        type Found = { viewer: { user: { id: string; kind: string } } };
        const { id, kind } = (await tree.query<Found>(viewer, {}, key)).viewer.user;
        assert.equal(kind, 'PERSON');
        await tree.mutate('convertToServiceAccount', { userId: id }, '__typename');
        assert.deepEqual(await tree.query(viewer, {}, key), { viewer: { user: { id, kind: 'SERVICE' } } });
        assert.equal((await tree.server.post('/login', people.reader)).status, 401);
      });

      const lastCursor = () => {
        const { data } = asked.find(({ query }) => query.startsWith('{journal'))!;
        return (data as { journal: { items: { cursor: string }[] } }).journal.items[0]!.cursor;
      };
    });
  }
}
