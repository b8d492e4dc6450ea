/** The base path, CORS and TLS. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { generate } from 'selfsigned';
import type { ServiceLinks } from '@espalier/contract';
import { databaseKinds } from '../support/databases.ts';
import { SocketClient } from '../live/socket-client.ts';
import { administrator, Testbed } from '../support/testbed.ts';

for (const kind of databaseKinds) {
  describe(`a base path on ${kind.name}`, () => {
    test('precedes the path of every endpoint, also after a double slash', async () => {
      const testbed = await Testbed.start(kind, { settings: { BASE_PATH: '/tree/api/' } });
      assert.match(testbed.url, /\/tree\/api$/);
      const { authToken } = await testbed.logIn();
      assert.equal((await testbed.query('{folder{name}}', authToken)).status, 200);
      assert.equal((await testbed.post('//graphql', { query: '{folder{name}}' }, authToken)).status, 200);
      const { servers } = (await testbed.send('GET', '/openapi.json')).json<{ servers: unknown }>();
      assert.deepEqual(servers, [{ url: '/tree/api' }]);
      const outside = await fetch(new URL('/login', testbed.url), { method: 'POST' });
      assert.equal(outside.status, 404);
      await testbed.stop();
    });

    test('is matched in any letter case, unlike the rest of a path', async (context) => {
      const testbed = await Testbed.start(kind, { settings: { BASE_PATH: '/Tree/api' } });
      context.after(() => testbed.stop());
      const { authToken } = await testbed.logIn();
      const at = (path: string) => new URL(path, testbed.url).href;
      const query = { query: '{folder{name}}' };
      const json = { 'content-type': 'application/json', authorization: `Bearer ${authToken}` };
      const postQuery = (path: string) =>
        fetch(at(path), { method: 'POST', headers: json, body: JSON.stringify(query) });
      for (const path of ['/Tree/api/graphql', '/tree/api/graphql', '/TREE//API/graphql']) {
        const answer = await postQuery(path);
        assert.equal(answer.status, 200, path);
        assert.deepEqual(await answer.json(), { data: { folder: { name: 'Root' } } });
      }
      for (const path of ['/tree/api/GraphQL', '/tree/apis/graphql', '/tre/api/graphql']) {
        assert.equal((await postQuery(path)).status, 404, path);
      }
      const client = await SocketClient.connect(at('/TREE/API'), authToken);
      await client.close();
      for (const path of ['/Tree/api', '/Tree/api/', '/tree/API', '/tree/API/']) {
        const { links } = (await (await fetch(at(path))).json()) as ServiceLinks;
        assert.deepEqual([links.login, links.docs], ['/Tree/api/login', '/Tree/api/openapi.json'], path);
      }
    });
  });

  describe(`CORS on ${kind.name}`, () => {
    const origin = 'https://app.example.com';
    const preflight = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    };

    test('is off by default', async () => {
      const testbed = await Testbed.start(kind);
      const answer = await testbed.send('OPTIONS', '/graphql', { headers: preflight });
      assert.equal(answer.status, 405);
      assert.equal(answer.headers.get('access-control-allow-origin'), null);
      await testbed.stop();
    });

    test('allows only listed origins to send requests and read the headers of a 401', async () => {
      const testbed = await Testbed.start(kind, {
        settings: { CORS_ORIGINS: `${origin}, https://b.example` },
      });
      const allowed = await testbed.send('OPTIONS', '/graphql', { headers: preflight });
      assert.equal(allowed.status, 204);
      assert.equal(allowed.headers.get('access-control-allow-origin'), origin);
      assert.match(allowed.headers.get('access-control-allow-headers')!, /authorization/i);
      assert.equal(allowed.headers.get('access-control-allow-credentials'), null);
      const { authToken } = await testbed.logIn();
      testbed.clock.advanceSeconds(600);
      const answer = await testbed.send('POST', '/graphql', {
        headers: { origin, authorization: `Bearer ${authToken}` },
      });
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get('access-control-allow-origin'), origin);
      assert.match(answer.headers.get('access-control-expose-headers')!, /token-expired/i);
      assert.match(answer.headers.get('access-control-expose-headers')!, /WWW-Authenticate/i);
      const other = await testbed.send('POST', '/graphql', { headers: { origin: 'https://evil.example' } });
      assert.notEqual(other.headers.get('access-control-allow-origin'), 'https://evil.example');
      await testbed.stop();
    });
  });

  describe(`a server with TLS on ${kind.name}`, () => {
    test('serves HTTPS with a certificate and its key', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'espalier-tls-'));
      const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }]);
      writeFileSync(join(folder, 'cert.pem'), cert);
      writeFileSync(join(folder, 'key.pem'), key);
      const settings = { TLS_CERT_FILE: join(folder, 'cert.pem'), TLS_KEY_FILE: join(folder, 'key.pem') };
      const testbed = await Testbed.start(kind, { settings });
      assert.match(testbed.url, /^https:/);
      const status = await new Promise((resolve, reject) => {
        const options = { method: 'POST', ca: cert, checkServerIdentity: () => undefined };
        const request = httpsRequest(`${testbed.url}/login`, options, ({ statusCode }) =>
          resolve(statusCode),
        );
        request.setHeader('content-type', 'application/json');
        request.on('error', reject).end(JSON.stringify(administrator));
      });
      assert.equal(status, 200);
      await testbed.stop();
      rmSync(folder, { recursive: true });
    });
  });
}
