/** Another library subscribes with `client.socket`, which has the interface of a graphql-ws client. */

import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { createClient, EspalierError, type Client } from '@espalier/client';
import { sqlite } from '../support/databases.ts';
import { administrator, Testbed } from '../support/testbed.ts';
import { ClientTestbed } from './client-testbed.ts';

/** Subscribes. `ended` resolves with `complete` or with the error. */
async function follow(client: Client): Promise<{ ended: Promise<unknown>; unsubscribe: () => void }> {
  const query = 'subscription{folderChanges{kind}}';
  const sent = new Promise<void>((resolve) => {
    const stop = client.socket.on('connected', () => (stop(), resolve()));
  });
  let unsubscribe: (() => void) | undefined;
  const ended = new Promise<unknown>((resolve) => {
    const sink = { next: () => undefined, error: resolve, complete: () => resolve('complete') };
    unsubscribe = client.socket.subscribe({ query }, sink);
  });
  await sent;
  return { ended, unsubscribe: unsubscribe! };
}

describe('a subscription of another library on SQLite', { timeout: 60_000 }, () => {
  let testbed: ClientTestbed;
  before(async () => {
    testbed = await ClientTestbed.start(sqlite);
  });
  after(() => testbed.stop());
  const start = async (context: TestContext) => {
    const client = await testbed.createLoggedInClient(context);
    return { client, ...(await follow(client)) };
  };
  const isLoggedOut = (error: unknown) => error instanceof EspalierError && error.code === 'LOGGED_OUT';

  test('ends with LOGGED_OUT on logout, although the token is still valid', async (context) => {
    const { client, ended } = await start(context);
    await client.logout();
    assert.ok(isLoggedOut(await ended));
  });

  test('ends with LOGGED_OUT when the server ends the session', async (context) => {
    const person = await testbed.createUser();
    const client = testbed.createClient(context);
    await client.login(person);
    const { ended } = await follow(client);
    await testbed.mutate('updateUser', { id: person.id, isDisabled: true });
    assert.ok(isLoggedOut(await ended));
    assert.deepEqual(client.events, ['login', 'ended']);
  });

  test('completes when the client is closed', async (context) => {
    const { client, ended } = await start(context);
    const closed = new Promise((resolve) => client.socket.on('closed', resolve));
    client.close();
    assert.equal(await ended, 'complete');
    await closed;
  });

  test('completes when the client is closed while the server is down', async () => {
    const own = await Testbed.start(sqlite);
    const client = createClient({ url: own.url });
    await client.login(administrator);
    const { ended } = await follow(client);
    const lost = new Promise((resolve) => client.socket.on('closed', resolve));
    await own.stop();
    await lost;
    client.close();
    assert.equal(await ended, 'complete');
  });
});
