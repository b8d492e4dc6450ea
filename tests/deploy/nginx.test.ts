/**
 * deploy/nginx.conf in front of two nodes: sockets, streams, and restarts under load that nobody notices.
 * `npm run rolling-restart` does the last of it for longer.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { postgres } from '../support/databases.ts';
import { EventClient } from '../live/event-client.ts';
import { SocketClient } from '../live/socket-client.ts';
import { administrator } from '../many-nodes/node-process.ts';
import { NodesBehindNginx } from './nodes-behind-nginx.ts';
import { restartUnderLoad } from './restarts.ts';

const follow = 'subscription($after:String){folderChanges(after:$after){kind folder{name}}}';
const told = (name: string) => ({ data: { folderChanges: { kind: 'CREATE', folder: { name } } } });

describe(`two nodes behind nginx on ${postgres.name}`, () => {
  let bed: NodesBehindNginx;
  let urls: readonly string[];
  let authorization: string;
  before(async () => {
    bed = await NodesBehindNginx.start();
    urls = bed.urls;
  });
  after(() => bed.stop());

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

  /** What happens from now on is told, however long it takes to begin. */
  const fromNow = async () => {
    const response = await post(bed.nginx.url, '/graphql', { query: '{cursor}' });
    return { after: ((await response.json()) as { data: { cursor: string } }).data.cursor };
  };

  test('a login on one is good on the other, and through nginx', async () => {
    const login = await post(urls[0]!, '/login', administrator);
    assert.equal(login.status, 200);
    authorization = `Bearer ${((await login.json()) as LoginResponse).authToken}`;
    for (const url of [urls[1]!, bed.nginx.url]) {
      const response = await post(url, '/graphql', { query: '{viewer{user{username}}}' });
      assert.equal(response.status, 200);
      assert.deepEqual(await response.json(), {
        data: { viewer: { user: { username: administrator.username } } },
      });
    }
  });

  test('a socket through nginx hears what is changed through either node', async () => {
    const socket = await SocketClient.connect(bed.nginx.url, authorization.replace('Bearer ', ''));
    socket.start('1', follow, await fromNow());
    for (const [place, url] of urls.entries()) {
      await create(url, `socket ${place}`);
      assert.deepEqual((await socket.next()).payload, told(`socket ${place}`));
    }
    await socket.close();
  });

  test('an event stream through nginx hears it as it happens, too', async () => {
    const body = { query: follow, variables: await fromNow() };
    const stream = await EventClient.open(bed.nginx.url, body, { authorization });
    assert.equal(stream.response.status, 200);
    for (const [place, url] of urls.entries()) {
      await create(url, `stream ${place}`);
      assert.deepEqual(await stream.next(), { event: 'next', data: told(`stream ${place}`) });
    }
    stream.disconnect();
  });

  test('both are restarted under load, no request fails, and a watched tree has no gap', async (t) => {
    const { tally, made, found, told, watched, otherChanges } = await restartUnderLoad(bed, { rounds: 1 });
    t.diagnostic(tally.summary().replaceAll('\n', '; '));
    assert.deepEqual(tally.violations, []);
    assert.equal(tally.counts.get('restarts'), 2);
    for (const kind of ['query', 'mutation', 'login', 'refresh', 'verify']) {
      assert.ok(tally.counts.get(`done: ${kind}`)! > 0, `${kind}: none`);
    }
    assert.deepEqual(found, made);
    assert.deepEqual(told, made);
    assert.deepEqual(watched, made);
    assert.deepEqual(otherChanges, []);
  });
});
