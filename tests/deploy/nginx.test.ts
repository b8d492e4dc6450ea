/**
 * Tests the nginx configuration of docs/operators/reverse-proxy.md with one node, and deploy/nginx.conf with two nodes
 * that restart under load. `npm run lab -- rolling-restart` runs more restarts.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { postgres, sqlite } from '../support/databases.ts';
import { EventClient } from '../live/event-client.ts';
import { SocketClient } from '../live/socket-client.ts';
import { administrator } from '../many-nodes/node-process.ts';
import { runEspalier } from '../support/espalier-command.ts';
import { administrator as testbedAdministrator, Testbed } from '../support/testbed.ts';
import { NodesBehindNginx } from './nodes-behind-nginx.ts';
import { Nginx } from './nginx.ts';
import { restartUnderLoad } from './restart-under-load.ts';

const follow = 'subscription($after:String){folderChanges(after:$after){kind folder{name}}}';
const createEvent = (name: string) => ({ data: { folderChanges: { kind: 'CREATE', folder: { name } } } });

interface Cursor {
  readonly data: { readonly cursor: string };
}

const pageOrigin = 'https://app.example.com';

describe(`nginx with the configuration of the page on reverse proxies, with one node on ${sqlite.name}`, () => {
  let testbed: Testbed;
  let nginx: Nginx;
  let headers: Readonly<Record<string, string>>;
  let authToken: string;
  before(async () => {
    testbed = await Testbed.start(sqlite, {
      settings: { TRUST_PROXY: '127.0.0.1', CORS_ORIGINS: pageOrigin },
    });
    nginx = await Nginx.start([Number(new URL(testbed.url).port)]);
  });
  after(async () => {
    await nginx.stop();
    await testbed.stop();
  });

  const post = async (path: string, body: object) => {
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(nginx.url + path, request);
    assert.equal(response.status, 200);
    return response;
  };

  test('redirects from HTTP to HTTPS', async () => {
    const response = await fetch(`${nginx.plainUrl}/console?a=b`, { redirect: 'manual' });
    assert.equal(response.status, 301);
    assert.equal(response.headers.get('location'), 'https://localhost/console?a=b');
  });

  test('forwards the address of the client, and overwrites the header that the client sends', async () => {
    headers = { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' };
    const login = await post('/login', testbedAdministrator);
    assert.equal(login.headers.get('strict-transport-security'), 'max-age=63072000');
    ({ authToken } = (await login.json()) as LoginResponse);
    headers = { ...headers, authorization: `Bearer ${authToken}` };
    const query = '{viewer{user{sessions{edges{node{address}}}}}}';
    const sessions = await (await post('/graphql', { query })).text();
    assert.match(sessions, /"address":"127\.0\.0\.1"/);
    assert.doesNotMatch(sessions, /203/);
  });

  test('forwards bodies of several MiB', async () => {
    const response = await post('/graphql', { query: '{cursor}', variables: { unused: 'x'.repeat(5e6) } });
    assert.deepEqual(Object.keys((await response.json()) as object), ['data']);
  });

  test('forwards a WebSocket of the console and an event stream', async () => {
    const origin = new URL(nginx.url).origin;
    const socket = await SocketClient.connect(nginx.url, authToken, { origin });
    const { cursor } = ((await (await post('/graphql', { query: '{cursor}' })).json()) as Cursor).data;
    const body = { query: follow, variables: { after: cursor } };
    const stream = await EventClient.open(nginx.url, body, headers);
    socket.start('1', follow, body.variables);
    await post('/graphql', { query: 'mutation{createFolder(input:{name:"Plans"}){folder{name}}}' });
    assert.deepEqual((await socket.next()).payload, createEvent('Plans'));
    assert.deepEqual(await stream.next(), { event: 'next', data: createEvent('Plans') });
    stream.disconnect();
    await socket.close();
  });

  test('passes the checks of espalier doctor, also for web pages of another origin', async () => {
    const { output } = await runEspalier(['doctor', '--url', nginx.url, '--origin', pageOrigin, '--json'], {
      environment: {
        NODE_EXTRA_CA_CERTS: nginx.certificateFile,
        ESPALIER_DATABASE_URL: testbed.database.url,
        ESPALIER_TRUST_PROXY: '127.0.0.1',
      },
    });
    const { findings } = JSON.parse(output) as { findings: { subject: string; state: string }[] };
    const ofServer = findings.filter(({ subject }) => ['Server', 'Web pages'].includes(subject));
    assert.ok(ofServer.length > 8, output);
    assert.deepEqual(
      ofServer.filter(({ state }) => state === 'problem'),
      [],
    );
    assert.match(output, /WebSockets work/);
  });
});

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
    return { after: ((await response.json()) as Cursor).data.cursor };
  };

  test('accept an auth token of one node on the other node and through nginx', async () => {
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

  test('restart under load without a failed request or a missed change', async (t) => {
    const { tally, names, otherChanges } = await restartUnderLoad(testbed, {
      rounds: 1,
    });
    t.diagnostic(tally.summary().replaceAll('\n', '; '));
    assert.deepEqual(tally.violations, []);
    assert.equal(tally.counts.get('restarts'), 2);
    for (const kind of ['query', 'mutation', 'login', 'refresh', 'verify']) {
      assert.ok(tally.counts.get(`done: ${kind}`)! > 0, `${kind}: none`);
    }
    assert.deepEqual(names.stored, names.acknowledged);
    assert.deepEqual(names.received, names.acknowledged);
    assert.deepEqual(names.watched, names.acknowledged);
    assert.deepEqual(otherChanges, []);
  });
});
