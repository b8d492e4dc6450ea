/**
 * deploy/nginx.conf in front of two nodes: sockets, streams, and restarts under load without failures. `npm run
 * rolling-restart` runs the restarts longer.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { postgres } from '../support/databases.ts';
import { EventClient } from '../live/event-client.ts';
import { SocketClient } from '../live/socket-client.ts';
import { administrator } from '../many-nodes/node-process.ts';
import { NodesBehindNginx } from './nodes-behind-nginx.ts';
import { restartUnderLoad } from './restart-under-load.ts';

const follow = 'subscription($after:String){folderChanges(after:$after){kind folder{name}}}';
const createEvent = (name: string) => ({ data: { folderChanges: { kind: 'CREATE', folder: { name } } } });

describe(`two nodes behind nginx on ${postgres.name}`, () => {
  let testbed: NodesBehindNginx;
  let urls: readonly string[];
  let authorization: string;
  before(async () => {
    testbed = await NodesBehindNginx.start();
    urls = testbed.urls;
  });
  after(() => testbed.stop());

  const post = (url: string, path: string, body: object) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
      body: JSON.stringify(body),
    });
  const create = async (url: string, name: string) => {
    const query = `mutation{createFolder(input:{name:"${name}"}){folder{name}}}`;
    const response = await post(url, '/graphql', { query });
    assert.deepEqual(await response.json(), { data: { createFolder: { folder: { name } } } });
  };

  /** Returns the current cursor, so that a subscription misses no change while it starts. */
  const currentCursor = async () => {
    const response = await post(testbed.nginx.url, '/graphql', { query: '{cursor}' });
    return { after: ((await response.json()) as { data: { cursor: string } }).data.cursor };
  };

  test('accept a login of each other, and through nginx', async () => {
    const login = await post(urls[0]!, '/login', administrator);
    assert.equal(login.status, 200);
    authorization = `Bearer ${((await login.json()) as LoginResponse).authToken}`;
    for (const url of [urls[1]!, testbed.nginx.url]) {
      const response = await post(url, '/graphql', { query: '{viewer{user{username}}}' });
      assert.equal(response.status, 200);
      assert.deepEqual(await response.json(), {
        data: { viewer: { user: { username: administrator.username } } },
      });
    }
  });

  test('send changes of both nodes to a socket through nginx', async () => {
    const socket = await SocketClient.connect(testbed.nginx.url, authorization.replace('Bearer ', ''));
    socket.start('1', follow, await currentCursor());
    for (const [index, url] of urls.entries()) {
      await create(url, `socket ${index}`);
      assert.deepEqual((await socket.next()).payload, createEvent(`socket ${index}`));
    }
    await socket.close();
  });

  test('send changes of both nodes to an event stream through nginx', async () => {
    const body = { query: follow, variables: await currentCursor() };
    const stream = await EventClient.open(testbed.nginx.url, body, { authorization });
    assert.equal(stream.response.status, 200);
    for (const [index, url] of urls.entries()) {
      await create(url, `stream ${index}`);
      assert.deepEqual(await stream.next(), { event: 'next', data: createEvent(`stream ${index}`) });
    }
    stream.disconnect();
  });

  test('are restarted under load without a failed request or a missed change', async (t) => {
    const { tally, acknowledged, stored, received, watched, otherChanges } = await restartUnderLoad(testbed, {
      rounds: 1,
    });
    t.diagnostic(tally.summary().replaceAll('\n', '; '));
    assert.deepEqual(tally.violations, []);
    assert.equal(tally.counts.get('restarts'), 2);
    for (const kind of ['query', 'mutation', 'login', 'refresh', 'verify']) {
      assert.ok(tally.counts.get(`done: ${kind}`)! > 0, `${kind}: none`);
    }
    assert.deepEqual(stored, acknowledged);
    assert.deepEqual(received, acknowledged);
    assert.deepEqual(watched, acknowledged);
    assert.deepEqual(otherChanges, []);
  });
});
