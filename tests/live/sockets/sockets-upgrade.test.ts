/** Which requests become sockets, by address, origin, handshake and TLS. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Problem } from '@espalier/contract';
import { generate } from 'selfsigned';
import { databaseKinds } from '../../support/databases.ts';
import { RawConnection } from '../../support/raw-connection.ts';
import { administrator, problemOf, Testbed } from '../../support/testbed.ts';
import { readRefusedUpgrade, SocketClient, type SocketClientOptions } from '../socket-client.ts';

for (const kind of databaseKinds) {
  describe(`an upgrade on ${kind.name}`, () => {
    let testbed: Testbed;
    before(async () => (testbed = await Testbed.start(kind, { settings: { BASE_PATH: '/tree' } })));
    after(() => testbed.stop());

    const assertOpens = async (options: SocketClientOptions) => {
      const { authToken } = await testbed.logIn();
      await (await SocketClient.connect(testbed.url, authToken, options)).close();
    };

    test('succeeds at both addresses, also with doubled slashes', async () => {
      for (const path of ['/graphql', '/graphql/ws', '//graphql', '/graphql//ws', '/graphql/ws?x=//']) {
        await assertOpens({ path });
      }
    });

    test('is refused with a problem at other addresses', async () => {
      for (const [path, status] of [
        ['/nothing', 404],
        ['/graphql/', 404],
        ['/graphql/ws/x', 404],
        ['/GraphQL', 404],
        ['/login', 405],
      ] as const) {
        const refused = await readRefusedUpgrade(testbed.url, { path });
        assert.equal(refused.status, status, path);
        const problem = JSON.parse(refused.body) as Problem;
        assert.equal(problem.status, status);
        assert.match(problem.requestId, /./);
      }
      assert.equal(
        (await readRefusedUpgrade(new URL(testbed.url).origin)).status,
        404,
        'outside the base path',
      );
      // RFC 9110 §7.8: a server may ignore the upgrade, and answer the request.
      assert.equal((await readRefusedUpgrade(testbed.url, { path: '/' })).status, 200);
    });

    test('is required at `/graphql/ws`, where other requests get 426', async () => {
      const response = await testbed.send('GET', '/graphql/ws');
      assert.equal(response.status, 426);
      assert.equal(response.headers.get('upgrade'), 'websocket');
      assert.match(problemOf(response).detail, /graphql-transport-ws/);
      const posted = await testbed.post('/graphql/ws', {});
      assert.equal(posted.status, 405);
      assert.equal(posted.headers.get('allow'), 'GET');
    });

    test('is refused with 4xx if the handshake is invalid, without affecting other sockets', async () => {
      const validHeaders: Record<string, string> = {
        host: 'x',
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        'sec-websocket-protocol': 'graphql-transport-ws',
      };
      const rows: (readonly [Record<string, string>, number])[] = [
        [{ 'sec-websocket-version': '12' }, 400],
        [{ 'sec-websocket-version': 'x' }, 400],
        [{ 'sec-websocket-key': 'short' }, 400],
        [{ 'sec-websocket-key': '' }, 400],
        [{ 'sec-websocket-protocol': ',' }, 400],
        [{ 'sec-websocket-protocol': 'a, a' }, 400],
        // Not WebSocket upgrades: a request with a body, and another protocol.
        [{ 'content-length': '5' }, 401],
        [{ upgrade: 'h2c' }, 401],
      ];
      for (const [changed, status] of rows) {
        const headers = Object.entries({ ...validHeaders, ...changed }).map(
          ([name, value]) => `${name}: ${value}\r\n`,
        );
        const connection = await RawConnection.open(testbed.url);
        const text = `GET /tree/graphql HTTP/1.1\r\n${headers.join('')}\r\n${'content-length' in changed ? 'hello' : ''}`;
        const response = await connection.exchange(text);
        assert.equal(response?.status, status, JSON.stringify(changed));
        assert.match(response.head, /application\/(problem\+)?json/);
        if (status === 400) assert.equal(await connection.read(), undefined, 'the connection ends');
        connection.close();
      }
      await assertOpens({});
    });

    test('is ignored for protocols other than WebSocket', async () => {
      const body = JSON.stringify(administrator);
      const connection = await RawConnection.open(testbed.url);
      const response = await connection.exchange(
        `POST /tree/login HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      assert.equal(response?.status, 200);
      connection.close();
    });

    test('is logged with the request id from its response body if it is refused', async () => {
      const { body } = await readRefusedUpgrade(testbed.url, { headers: { authorization: 'Bearer x' } });
      const { requestId } = JSON.parse(body) as Problem;
      const line = testbed.logLines.map((text) => JSON.parse(text) as Record<string, unknown>);
      const logEntry = line.find((each) => each['requestId'] === requestId);
      assert.equal(logEntry!['code'], 'INVALID_AUTH_TOKEN');
      assert.equal(logEntry!['address'], '127.0.0.1');
    });
  });

  describe(`the origin of a socket on ${kind.name}`, () => {
    /** HOST stands for the server's own host and port. */
    const rows: readonly {
      readonly settings?: Record<string, string>;
      readonly headers: Record<string, string>;
      readonly passes: boolean;
    }[] = [
      { headers: {}, passes: true },
      { headers: { origin: 'http://HOST' }, passes: true },
      { headers: { origin: 'https://HOST' }, passes: true },
      { headers: { origin: 'http://127.0.0.1' }, passes: false },
      { headers: { origin: 'http://127.0.0.1:1' }, passes: false },
      { headers: { origin: 'https://evil.example' }, passes: false },
      { headers: { origin: 'https://HOST.evil.example' }, passes: false },
      { headers: { origin: 'https://HOST@evil.example' }, passes: false },
      { headers: { origin: 'null' }, passes: false },
      { headers: { origin: '' }, passes: false },
      { headers: { origin: 'HOST' }, passes: false },
      { headers: { origin: 'file://HOST' }, passes: false },
      { headers: { host: 'tree.example', origin: 'https://tree.example' }, passes: true },
      { headers: { host: 'tree.example:443', origin: 'https://tree.example' }, passes: true },
      { headers: { host: 'TREE.example', origin: 'https://tree.example' }, passes: true },
      { headers: { host: 'tree.example:444', origin: 'https://tree.example' }, passes: false },
      { headers: { host: 'a b', origin: 'https://tree.example' }, passes: false },
      {
        headers: { 'x-forwarded-host': 'tree.example', origin: 'https://tree.example' },
        passes: false,
      },
      {
        settings: { TRUST_PROXY: 'loopback' },
        headers: { 'x-forwarded-host': 'tree.example', origin: 'https://tree.example' },
        passes: true,
      },
      {
        settings: { TRUST_PROXY: '10.0.0.0/8' },
        headers: { 'x-forwarded-host': 'tree.example', origin: 'https://tree.example' },
        passes: false,
      },
      { settings: { TRUST_PROXY: 'true' }, headers: { origin: 'http://HOST' }, passes: true },
      {
        settings: { CORS_ORIGINS: 'https://app.example.com, https://b.example' },
        headers: { origin: 'https://b.example' },
        passes: true,
      },
      {
        settings: { CORS_ORIGINS: 'https://app.example.com' },
        headers: { origin: 'http://app.example.com' },
        passes: false,
      },
      { settings: { CORS_ORIGINS: '*' }, headers: { origin: 'https://any.example' }, passes: true },
      { settings: { CORS_ORIGINS: '*' }, headers: { origin: 'null' }, passes: true },
    ];

    for (const { settings = {}, headers, passes } of rows) {
      const description = JSON.stringify({ ...settings, ...headers });
      test(`${passes ? 'is accepted' : 'is refused with 403'}: ${description}`, async () => {
        const testbed = await Testbed.start(kind, { settings });
        const { host } = new URL(testbed.url);
        const sent = Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, value.replace('HOST', host)]),
        );
        if (passes) {
          await (await SocketClient.open(testbed.url, { headers: sent })).close();
        } else {
          const { status, body } = await readRefusedUpgrade(testbed.url, { headers: sent });
          assert.equal(status, 403);
          assert.equal((JSON.parse(body) as Problem).code, 'FORBIDDEN');
        }
        await testbed.stop();
      });
    }
  });

  test(`the server serves sockets over wss with a certificate on ${kind.name}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-wss-'));
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }]);
    writeFileSync(join(folder, 'cert.pem'), cert);
    writeFileSync(join(folder, 'key.pem'), key);
    const settings = { TLS_CERT_FILE: join(folder, 'cert.pem'), TLS_KEY_FILE: join(folder, 'key.pem') };
    const testbed = await Testbed.start(kind, { settings });
    const client = await SocketClient.open(testbed.url, { rejectUnauthorized: false });
    client.init('x');
    assert.equal((await client.closed()).code, 4403);
    const refused = await readRefusedUpgrade(testbed.url, { rejectUnauthorized: false, path: '/nothing' });
    assert.equal(refused.status, 404);
    await testbed.stop();
    rmSync(folder, { recursive: true });
  });
}
