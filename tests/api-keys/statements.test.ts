/** A request with an API key runs the same statements as a request with an auth token, after the server has cached both. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createClient, type Client } from '@espalier/client';
import { createTreeQueries, levelPageSize } from '../../console/src/tree/state/tree-queries.ts';
import { nestedNamesQuery } from '../contract/graph-queries.ts';
import { SocketClient } from '../live/socket-client.ts';
import { PeopleTestbed, type Person } from '../people/people-testbed.ts';
import { databaseKinds } from '../support/databases.ts';
import type { Variables } from '../support/graph-testbed.ts';
import { administrator } from '../support/testbed.ts';

/** A viewer with an auth token or with an API key. */
interface Credential {
  readonly name: string;
  readonly text: string;
  readonly client: Client;
}

const watchDocument =
  'subscription($after: String){folderChanges(after: $after){kind folderId folder{name}}}';
const neverAborted = new AbortController().signal;

for (const kind of databaseKinds) {
  describe(`the statements of a request on ${kind.name}`, () => {
    const statements: string[] = [];
    /** By viewer: an auth token, and then keys with the same rights. */
    const credentials: Record<string, readonly Credential[]> = {};
    let people: PeopleTestbed;
    let top: string;
    let folders = 0;

    before(async () => {
      people = await PeopleTestbed.start(kind, { onStatement: (text) => void statements.push(text) });
      top = await createFolder();
      for (let count = 0; count < 3; count++) await createFolder(top);
      const person = await people.createUser();
      await people.mutate('grantAccess', { folderId: top, userId: person.id, level: 'MANAGE' });
      credentials['a person'] = [
        await logIn(person),
        await createKey('an API key', person, { level: 'MANAGE' }),
        await createKey('an API key for one folder', person, { level: 'MANAGE', folderId: top }),
      ];
      credentials['an administrator'] = [
        await logIn(administrator),
        await createKey('an API key', administrator, { level: 'MANAGE', isAdministrator: true }),
      ];
    });
    after(async () => {
      for (const { client } of Object.values(credentials).flat()) client.close();
      await people.stop();
    });

    const newName = () => `folder ${++folders}`;
    const createFolder = async (parentId?: string) => {
      const input = { name: newName(), parentId };
      return (await people.mutate<{ folder: { id: string } }>('createFolder', input, 'folder{id}')).folder.id;
    };

    type Login = Pick<Person, 'username' | 'password'>;
    const logIn = async (login: Login): Promise<Credential> => {
      const client = createClient({ url: people.server.url });
      await client.login(login);
      return { name: 'an auth token', text: await client.authToken(), client };
    };
    const createKey = async (name: string, login: Login, input: Variables): Promise<Credential> => {
      const { authToken } = await people.server.logIn(login);
      const { key } = await people.mutate<{ key: string }>(
        'createApiKey',
        { name, ...input },
        'key',
        authToken,
      );
      return { name, text: key, client: createClient({ url: people.server.url, apiKey: key }) };
    };

    const requests: Readonly<Record<string, (credential: Credential) => Promise<unknown>>> = {
      'the query of the contract': async ({ text }) => {
        const { status } = await people.server.query(nestedNamesQuery(2), text);
        assert.equal(status, 200);
      },
      'a page of subfolders in the client': ({ client }) =>
        client.folders.children(top, { pageSize: 50 }).next(),
      'a level of the tree in the console': ({ client }) =>
        createTreeQueries(client).readRange(top, { from: 0, to: levelPageSize }, neverAborted),
      'a new folder': ({ client }) => client.folders.create({ name: newName(), parentId: top }),
      'a socket with a subscription, from its start to an event': async ({ text }) => {
        const { cursor } = await people.query<{ cursor: string }>('{cursor}');
        await createFolder(top);
        const socket = await SocketClient.connect(people.server.url, text);
        // When the change after the cursor arrives, the subscription has started.
        socket.start('watch', watchDocument, { after: cursor });
        assert.equal((await socket.next()).id, 'watch');
        await createFolder(top);
        assert.equal((await socket.next()).id, 'watch');
        socket.send({ id: 'watch', type: 'complete' });
        socket.start('last', '{__typename}');
        assert.deepEqual([(await socket.next()).id, (await socket.next()).id], ['last', 'last']);
        await socket.close();
      },
    };

    test('are the same for one API key and for several with different folders', async () => {
      const person = await people.createUser();
      await people.mutate('grantAccess', { folderId: top, userId: person.id, level: 'MANAGE' });
      for (let count = 0; count < 5; count++) {
        await createKey('an API key', person, { level: 'READ', folderId: await createFolder(top) });
      }
      const list = async (first: number) => {
        const query = `{apiKeys(userId: "${person.id}", first: ${first}){items{user{username} folder{path}}}}`;
        // The server prepares a plan for a query that it receives again.
        for (let count = 0; count < 2; count++) {
          statements.length = 0;
          const { apiKeys } = await people.query<{ apiKeys: { items: { folder: unknown }[] } }>(query);
          assert.equal(apiKeys.items.filter(({ folder }) => folder !== null).length, first);
        }
        return statements.toSorted();
      };
      assert.deepEqual(await list(5), await list(1));
    });

    for (const [title, send] of Object.entries(requests)) {
      test(`are the same with an API key as with an auth token for ${title}`, async (context) => {
        const list = async (credential: Credential) => {
          // The server prepares a plan for a query that it receives again.
          for (let count = 0; count < 2; count++) {
            statements.length = 0;
            await send(credential);
          }
          // Concurrent statements have no fixed order.
          return statements.toSorted();
        };
        for (const [viewer, [ofToken, ...ofKeys]] of Object.entries(credentials)) {
          const expected = await list(ofToken!);
          assert.ok(expected.length > 0, 'a request without statements shows nothing');
          context.diagnostic(`${viewer}: ${expected.length}`);
          for (const each of ofKeys)
            assert.deepEqual(await list(each), expected, `${viewer} with ${each.name}`);
        }
      });
    }
  });
}
