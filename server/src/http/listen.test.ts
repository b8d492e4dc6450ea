import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { listen } from './listen.ts';

const addresses = ['127.0.0.1', '127.0.0.2'];

describe('listen()', () => {
  test('serves both addresses of a host name with one server', async () => {
    const server = createServer((_, response) => void response.end('here'));
    const listener = await listen(server, { host: 'localhost', port: 0 }, () => Promise.resolve(addresses));
    const { address } = listener;
    assert.equal(address.address, addresses[0]);
    const headers = { connection: 'close' };
    for (const host of addresses) {
      assert.equal(await (await fetch(`http://${host}:${address.port}`, { headers })).text(), 'here');
    }
    await listener.close();
    for (const host of addresses) await assert.rejects(fetch(`http://${host}:${address.port}`));
  });

  test('returns a close() that waits for requests on both addresses', async () => {
    const waiting: ServerResponse[] = [];
    let onRequest = () => {};
    const server = createServer((_, response) => {
      response.shouldKeepAlive = false;
      waiting.push(response);
      onRequest();
    });
    const listener = await listen(server, { host: 'localhost', port: 0 }, () => Promise.resolve(addresses));
    const { address } = listener;
    const allArrived = new Promise<void>((resolve) => (onRequest = () => waiting.length === 2 && resolve()));
    const requests = addresses.map((host) => fetch(`http://${host}:${address.port}`));
    await allArrived;
    let isClosed = false;
    const closed = listener.close().then(() => (isClosed = true));
    for (const host of addresses) await assert.rejects(fetch(`http://${host}:${address.port}`));
    assert.ok(!isClosed);
    for (const response of waiting) response.end('done');
    for (const request of requests) assert.equal(await (await request).text(), 'done');
    await closed;
  });

  test('skips a second address that cannot be bound, but not the first', async () => {
    const find = (found: string[]) => () => Promise.resolve(found);
    const server = createServer();
    const listener = await listen(server, { host: 'localhost', port: 0 }, find(['127.0.0.1', '203.0.113.1']));
    await listener.close();
    await assert.rejects(
      listen(createServer(), { host: 'localhost', port: 0 }, find(['203.0.113.1', '127.0.0.1'])),
      /EADDRNOTAVAIL/,
    );
  });

  test('rejects a port that other servers share only if requireUnused is set', async () => {
    const first = await listen(createServer(), { host: '127.0.0.1', port: 0, reusePort: true });
    const shared = { host: '127.0.0.1', port: first.address.port, reusePort: true };
    const second = await listen(createServer(), shared);
    await assert.rejects(listen(createServer(), { ...shared, requireUnused: true }), /EADDRINUSE/);
    await Promise.all([first.close(), second.close()]);
    await (await listen(createServer(), { ...shared, requireUnused: true })).close();
  });

  test('rejects a second address in use only if requireUnused is set', async () => {
    const other = await listen(createServer(), { host: addresses[1]!, port: 0, reusePort: true });
    const { port } = other.address;
    const find = () => Promise.resolve(addresses);
    const server = createServer();
    const required = { host: 'localhost', port, reusePort: true, requireUnused: true };
    await assert.rejects(listen(server, required, find), /EADDRINUSE/);
    server.close();
    await (await listen(createServer(), { host: 'localhost', port }, find)).close();
    await other.close();
  });
});
