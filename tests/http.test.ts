/** The HTTP around the endpoints: addresses, methods, problem bodies, CORS, TLS, and requests that are no HTTP. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { generate } from 'selfsigned';
import { bodies, endpoints, type Endpoint, type LoginResponse, type ServiceLinks } from '@espalier/contract';
import { databaseKinds } from './databases.ts';
import { malformedBodies, nested } from './contract/malformed-bodies.ts';
import { SocketClient } from './live/socket-client.ts';
import { RawConnection } from './raw-connection.ts';
import { countRows } from './stored-rows.ts';
import { administrator, problemOf, Testbed } from './testbed.ts';

for (const kind of databaseKinds) {
  describe(`HTTP on ${kind.name}`, () => {
    let bed: Testbed;
    before(async () => (bed = await Testbed.start(kind)));
    after(() => bed.stop());

    test('an address with nothing behind it answers 404 with a problem', async () => {
      for (const path of ['/nothing', '/login/', '/Login', '/graphql/x', '/login/refresh/x']) {
        const answer = await bed.post(path, administrator);
        assert.equal(answer.status, 404, path);
        assert.equal(problemOf(answer).code, 'NOT_FOUND');
      }
    });

    test('a problem body has the fields of RFC 9457, a code and a request id, and nothing else', async () => {
      const answer = await bed.post('/login', {});
      const { requestId, ...problem } = problemOf(answer);
      assert.deepEqual(problem, {
        type: 'about:blank',
        title: 'Bad Request',
        status: 400,
        detail: 'The body needs the field username, a string.',
        code: 'BAD_INPUT',
      });
      assert.match(requestId, /^[\w-]+$/);
      assert.notEqual(problemOf(await bed.post('/login', {})).requestId, requestId);
    });

    for (const endpoint of Object.values<Endpoint>(endpoints)) {
      test(`${endpoint.path} refuses the methods it does not take with 405, and does nothing`, async () => {
        const pair = await bed.logIn();
        const headers = { authorization: `Bearer ${pair.authToken}` };
        for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
          if (endpoint.methods.some((allowed) => allowed === method)) continue;
          const answer = await bed.send(method, endpoint.path, { headers });
          assert.equal(answer.status, 405, method);
          assert.equal(answer.headers.get('allow'), endpoint.methods.join(', '));
        }
        assert.equal((await bed.refresh(pair)).status, 200);
      });
    }

    test('the OpenAPI document is public and names every endpoint', async () => {
      const answer = await bed.send('GET', '/openapi.json');
      assert.equal(answer.status, 200);
      const document = answer.json<{ openapi: string; paths: Record<string, unknown> }>();
      assert.equal(document.openapi, '3.1.0');
      assert.deepEqual(
        Object.keys(document.paths),
        Object.values<Endpoint>(endpoints).map(({ path }) => path),
      );
    });

    test('what is no HTTP, or hardly, gets a 4xx and the connection ends; the service goes on', async () => {
      const requests = [
        'rubbish\r\n\r\n',
        'GET\r\n\r\n',
        '\0\0\0\0\r\n\r\n',
        'POST /login HTTP/9.9\r\nHost: x\r\n\r\n',
        'POST /login HTTP/1.1\r\n\r\n',
        'POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
        'POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello',
        'POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        'POST /login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
        `POST /login HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`,
        `POST /${'x'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
        'POST /%zz HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n',
        'POST /login%00 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n',
        'POST /../../etc/passwd HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n',
        'GET http://[::1/graphql HTTP/1.1\r\nHost: x\r\n\r\n',
        'BREW /login HTTP/1.1\r\nHost: x\r\n\r\n',
        'TRACE /login HTTP/1.1\r\nHost: x\r\n\r\n',
      ];
      for (const text of requests) {
        const connection = await RawConnection.open(bed.url);
        const answer = await connection.exchange(text);
        connection.close();
        const shown = JSON.stringify(text.slice(0, 60));
        assert.ok(answer && answer.status >= 400 && answer.status < 500, `${shown}: ${answer?.status}`);
        assert.ok(!/ at .*:\d+:\d+|node_modules/.test(answer.body), shown);
        if (answer.body) assert.match(answer.head, /application\/(problem\+)?json/, shown);
      }
      assert.equal((await bed.post('/login', administrator)).status, 200);
    });

    test('a body that announces more than it sends changes nothing and hangs nobody', async () => {
      const connection = await RawConnection.open(bed.url);
      const pending = connection.exchange(
        'POST /logout HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"refresh',
      );
      assert.equal((await bed.post('/login', administrator)).status, 200);
      connection.close();
      assert.equal(await pending, undefined);
    });

    test('a client that sends a body too large reads its refusal to the end, and may go on', async () => {
      const { authToken } = await bed.logIn();
      const body = JSON.stringify({ query: '{folder{name}}', more: 'x'.repeat(3_000_000) });
      const head = (path: string, token: string) =>
        `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nAuthorization: Bearer ${token}\r\n`;
      bed.clock.advanceSeconds(600);
      for (const [path, token, status] of [
        ['/login', 'x', 413],
        ['/login/verify', 'x', 400],
        ['/graphql', authToken, 401],
        ['/logout', (await bed.logIn()).authToken, 204],
      ] as const) {
        for (const connection of ['close', 'keep-alive']) {
          const raw = await RawConnection.open(bed.url);
          const answer = await raw.exchange(`${head(path, token)}Connection: ${connection}\r\n\r\n${body}`);
          assert.equal(answer?.status, status, `${path} ${connection}`);
          if (path === '/graphql') assert.match(answer.head, /token-expired: true/);
          if (connection === 'keep-alive') {
            const next = await raw.exchange('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n');
            assert.equal(next?.status, 200, path);
          }
          raw.close();
        }
      }
    });

    test('a compressed body is refused in words', async () => {
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      const answer = await bed.postRaw('/login', JSON.stringify(administrator), headers);
      assert.equal(answer.status, 400);
      assert.match(problemOf(answer).detail, /without a Content-Encoding/);
    });

    test('the whole address as request target is understood, as proxies send it', async () => {
      const connection = await RawConnection.open(bed.url);
      const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`;
      assert.equal((await connection.exchange(get('http://tree.example/openapi.json')))?.status, 200);
      assert.equal((await connection.exchange(get('http://tree.example//graphql?query=x')))?.status, 401);
      assert.equal((await connection.exchange(get('http://tree.example')))?.status, 200);
      connection.close();
    });

    test('a challenge tells what is wrong with a bearer token, and nothing of anything else', async () => {
      const pair = await bed.logIn();
      const challenge = async (path: string, value: unknown, authorization: string) => {
        const headers = { 'content-type': 'application/json', authorization };
        const answer = await bed.postRaw(path, JSON.stringify(value), headers);
        assert.equal(answer.status, 401);
        return answer.headers.get('www-authenticate')!;
      };
      const plain = 'Bearer realm="espalier"';
      const wrong = { username: 'admin', password: 'not the password' };
      assert.equal(await challenge('/login', wrong, `Bearer ${pair.authToken}`), plain);
      assert.equal(
        await challenge('/login/refresh', { refreshToken: 'x' }, `Bearer ${pair.authToken}`),
        plain,
      );
      assert.equal(await challenge('/graphql', {}, 'Basic YTpi'), plain);
      assert.match(
        await challenge('/graphql', {}, 'Bearer x'),
        /^Bearer realm="espalier", error="invalid_token"/,
      );
    });

    test('a refusal is logged under the id that its body names, with the address it came from', async () => {
      const { requestId } = problemOf(await bed.post('/login', { username: 'admin', password: 'wrong' }));
      const line = bed.logLines
        .map((text) => JSON.parse(text) as Record<string, unknown>)
        .find((each) => each['requestId'] === requestId);
      assert.equal(line!['code'], 'INVALID_CREDENTIALS');
      assert.equal(line!['address'], '127.0.0.1');
      assert.equal(line!['route'], '/login');
    });

    test('no malformed request changes a row', async () => {
      const pair = await bed.logIn();
      const before = await countRows(bed.database.url);
      for (const { path, request } of Object.values<Endpoint>(endpoints)) {
        const required = request ? bodies[request.body].required : [];
        for (const [, body, headers] of malformedBodies(...required)) {
          const { status } = await bed.postRaw(path, body, headers);
          assert.ok(status >= 400 && status < 500, `${path} ${status}`);
        }
      }
      assert.deepEqual(await countRows(bed.database.url), before);
      assert.equal((await bed.refresh(pair)).status, 200);
    });

    test('several requests on one connection are answered in order', async () => {
      const connection = await RawConnection.open(bed.url);
      const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
      assert.equal(
        (await connection.exchange(get('/graphql') + get('/nothing') + get('/openapi.json')))?.status,
        401,
      );
      assert.equal((await connection.read())?.status, 404);
      assert.equal((await connection.read())?.status, 200);
      connection.close();
    });

    test('skips one byte-order mark before a JSON body, on every endpoint', async () => {
      const json = { 'content-type': 'application/json' };
      const pair = await bed.logIn();
      const bearer = { authorization: `Bearer ${pair.authToken}` };
      const verified = { authToken: pair.authToken };
      const refreshed = { refreshToken: pair.refreshToken };
      const loggedOut = { refreshToken: (await bed.logIn()).refreshToken };
      for (const [path, value, headers, status] of [
        ['/login', administrator, {}, 200],
        ['/login/verify', verified, {}, 204],
        ['/graphql', { query: '{folder{name}}' }, bearer, 200],
        ['/graphql', { query: `{folder{name}} #${'x'.repeat(90_000)}` }, bearer, 200],
        ['/login/refresh', refreshed, bearer, 200],
        ['/logout', loggedOut, {}, 204],
      ] as const) {
        const body = `\ufeff${JSON.stringify(value)}`;
        const twice = await bed.postRaw(path, `\ufeff${body}`, { ...json, ...headers });
        assert.equal(twice.status, 400, `${path} with two`);
        const answer = await bed.postRaw(path, body, { ...json, ...headers });
        assert.equal(answer.status, status, path);
        assert.ok(!answer.text.includes('errors'), answer.text);
      }
      assert.equal((await bed.postRaw('/login', '\ufeff', json)).status, 400);
    });

    test('answers 400 to a nested body of unknown length, 413 to another long one, and goes on', async () => {
      const chunked = (path: string, body: string) =>
        `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
      const long = JSON.stringify({ ...administrator, more: 'x'.repeat(100_000) });
      for (const [path, body, status] of [
        ['/login', nested(administrator, 100_000), 400],
        ['/login', long, 413],
        ['/login', JSON.stringify(administrator), 200],
        ['/login/refresh', nested({ refreshToken: 'x' }, 100_000), 400],
        ['/login/refresh', long, 413],
        ['/logout', nested({ refreshToken: 'x' }, 100_000), 400],
        ['/logout', long, 413],
      ] as const) {
        const raw = await RawConnection.open(bed.url);
        assert.equal((await raw.exchange(chunked(path, body)))?.status, status, `${path} ${status}`);
        assert.equal((await raw.exchange('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'))?.status, 200);
        raw.close();
      }
    });

    test('lists the addresses of the service at its root, with each of them served', async () => {
      for (const method of ['GET', 'HEAD']) {
        const answer = await bed.send(method, '/');
        assert.equal(answer.status, 200);
        assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
      }
      const { name, links } = (await bed.send('GET', '/')).json<ServiceLinks>();
      assert.equal(name, 'Espalier');
      const { graph, livez, login } = endpoints;
      const { console: consoleLink, ...others } = links;
      assert.equal(consoleLink, undefined, 'this server has no console');
      assert.deepEqual([others.login, others.graphql, others.health], [login.path, graph.path, livez.path]);
      for (const path of Object.values(others)) {
        assert.notEqual((await bed.send('GET', path)).status, 404, path);
      }
      const browser = await bed.send('GET', '/', { headers: { accept: 'text/html' }, redirect: 'manual' });
      assert.equal(browser.status, 200, 'without a console there is nothing to redirect to');
    });

    test('no log line, at any level, holds a password or a token', async () => {
      const pair = await bed.logIn();
      const next = (await bed.refresh(pair)).json<LoginResponse>();
      await bed.refresh(pair);
      await bed.query('{folder{name}}', next.authToken);
      await bed.post('/login', { username: 'admin', password: 'a wrong password' });
      await bed.post('/logout', {}, next.authToken);
      assert.ok(bed.logLines.length > 0);
      const log = bed.logLines.join('');
      const secrets = [pair.authToken, pair.refreshToken, next.authToken, next.refreshToken];
      for (const secret of [...secrets, administrator.password, 'a wrong password']) {
        assert.ok(!log.includes(secret));
      }
    });
  });

  describe(`base path on ${kind.name}`, () => {
    test('everything is served under it, doubled slashes folded, and nothing beside it', async () => {
      const bed = await Testbed.start(kind, { settings: { BASE_PATH: '/tree/api/' } });
      assert.match(bed.url, /\/tree\/api$/);
      const { authToken } = await bed.logIn();
      assert.equal((await bed.query('{folder{name}}', authToken)).status, 200);
      assert.equal((await bed.post('//graphql', { query: '{folder{name}}' }, authToken)).status, 200);
      const { servers } = (await bed.send('GET', '/openapi.json')).json<{ servers: unknown }>();
      assert.deepEqual(servers, [{ url: '/tree/api' }]);
      const beside = await fetch(new URL('/login', bed.url), { method: 'POST' });
      assert.equal(beside.status, 404);
      await bed.stop();
    });

    test('matches in any letter case, for requests and sockets; other paths match exactly', async (context) => {
      const bed = await Testbed.start(kind, { settings: { BASE_PATH: '/Tree/api' } });
      context.after(() => bed.stop());
      const { authToken } = await bed.logIn();
      const at = (path: string) => new URL(path, bed.url).href;
      const query = { query: '{folder{name}}' };
      const json = { 'content-type': 'application/json', authorization: `Bearer ${authToken}` };
      const ask = (path: string) =>
        fetch(at(path), { method: 'POST', headers: json, body: JSON.stringify(query) });
      for (const path of ['/Tree/api/graphql', '/tree/api/graphql', '/TREE//API/graphql']) {
        const answer = await ask(path);
        assert.equal(answer.status, 200, path);
        assert.deepEqual(await answer.json(), { data: { folder: { name: 'Root' } } });
      }
      for (const path of ['/tree/api/GraphQL', '/tree/apis/graphql', '/tre/api/graphql']) {
        assert.equal((await ask(path)).status, 404, path);
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

    test('it is closed by default', async () => {
      const bed = await Testbed.start(kind);
      const answer = await bed.send('OPTIONS', '/graphql', { headers: preflight });
      assert.equal(answer.status, 405);
      assert.equal(answer.headers.get('access-control-allow-origin'), null);
      await bed.stop();
    });

    test('an allowed origin may call and read the headers of a 401; another may not', async () => {
      const bed = await Testbed.start(kind, { settings: { CORS_ORIGINS: `${origin}, https://b.example` } });
      const allowed = await bed.send('OPTIONS', '/graphql', { headers: preflight });
      assert.equal(allowed.status, 204);
      assert.equal(allowed.headers.get('access-control-allow-origin'), origin);
      assert.match(allowed.headers.get('access-control-allow-headers')!, /authorization/i);
      assert.equal(allowed.headers.get('access-control-allow-credentials'), null);
      const { authToken } = await bed.logIn();
      bed.clock.advanceSeconds(600);
      const answer = await bed.send('POST', '/graphql', {
        headers: { origin, authorization: `Bearer ${authToken}` },
      });
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get('access-control-allow-origin'), origin);
      assert.match(answer.headers.get('access-control-expose-headers')!, /token-expired/i);
      assert.match(answer.headers.get('access-control-expose-headers')!, /WWW-Authenticate/i);
      const other = await bed.send('POST', '/graphql', { headers: { origin: 'https://evil.example' } });
      assert.notEqual(other.headers.get('access-control-allow-origin'), 'https://evil.example');
      await bed.stop();
    });
  });

  describe(`TLS on ${kind.name}`, () => {
    test('with a certificate and its key the service speaks https', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'espalier-tls-'));
      const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }]);
      writeFileSync(join(folder, 'cert.pem'), cert);
      writeFileSync(join(folder, 'key.pem'), key);
      const settings = { TLS_CERT_FILE: join(folder, 'cert.pem'), TLS_KEY_FILE: join(folder, 'key.pem') };
      const bed = await Testbed.start(kind, { settings });
      assert.match(bed.url, /^https:/);
      const status = await new Promise((resolve, reject) => {
        const options = { method: 'POST', ca: cert, checkServerIdentity: () => undefined };
        const request = httpsRequest(`${bed.url}/login`, options, ({ statusCode }) => resolve(statusCode));
        request.setHeader('content-type', 'application/json');
        request.on('error', reject).end(JSON.stringify(administrator));
      });
      assert.equal(status, 200);
      await bed.stop();
      rmSync(folder, { recursive: true });
    });
  });
}
