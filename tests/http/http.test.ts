/** HTTP behavior that all endpoints share: paths, methods, problem bodies and malformed requests. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { bodies, endpoints, type Endpoint, type LoginResponse, type ServiceLinks } from '@espalier/contract';
import { databaseKinds } from '../support/databases.ts';
import { malformedBodies, nested } from '../contract/malformed-bodies.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { countRows } from '../support/stored-rows.ts';
import { administrator, problemOf, Testbed } from '../support/testbed.ts';
import { eventually } from '../support/eventually.ts';

for (const kind of databaseKinds) {
  describe(`the HTTP server on ${kind.name}`, () => {
    let testbed: Testbed;
    before(async () => (testbed = await Testbed.start(kind)));
    after(() => testbed.stop());

    test('answers 404 with a problem body to an unknown path', async () => {
      for (const path of ['/nothing', '/login/', '/Login', '/graphql/x', '/login/refresh/x']) {
        const answer = await testbed.post(path, administrator);
        assert.equal(answer.status, 404, path);
        assert.equal(problemOf(answer).code, 'NOT_FOUND');
      }
    });

    test('sends the fields of RFC 9457, a code and a request id in a problem body, and nothing else', async () => {
      const answer = await testbed.post('/login', {});
      const { requestId, ...problem } = problemOf(answer);
      assert.deepEqual(problem, {
        type: 'about:blank',
        title: 'Bad Request',
        status: 400,
        detail: 'The body must contain the field username, a string.',
        code: 'BAD_INPUT',
      });
      assert.match(requestId, /^[\w-]+$/);
      assert.notEqual(problemOf(await testbed.post('/login', {})).requestId, requestId);
    });

    for (const endpoint of Object.values<Endpoint>(endpoints)) {
      test(`answers 405 to other methods at ${endpoint.path} and does nothing`, async () => {
        const tokens = await testbed.logIn();
        const headers = { authorization: `Bearer ${tokens.authToken}` };
        for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
          if (endpoint.methods.some((allowed) => allowed === method)) continue;
          const answer = await testbed.send(method, endpoint.path, { headers });
          assert.equal(answer.status, 405, method);
          assert.equal(answer.headers.get('allow'), endpoint.methods.join(', '));
        }
        assert.equal((await testbed.refresh(tokens)).status, 200);
      });
    }

    test('serves an OpenAPI document with every endpoint, without authentication', async () => {
      const answer = await testbed.send('GET', '/openapi.json');
      assert.equal(answer.status, 200);
      const document = answer.json<{ openapi: string; paths: Record<string, unknown> }>();
      assert.equal(document.openapi, '3.1.0');
      assert.deepEqual(
        Object.keys(document.paths),
        Object.values<Endpoint>(endpoints).map(({ path }) => path),
      );
    });

    test('answers 4xx to malformed HTTP, closes the connection and keeps serving', async () => {
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
        const connection = await RawConnection.open(testbed.url);
        const answer = await connection.exchange(text);
        connection.close();
        const excerpt = JSON.stringify(text.slice(0, 60));
        assert.ok(answer && answer.status >= 400 && answer.status < 500, `${excerpt}: ${answer?.status}`);
        assert.ok(!/ at .*:\d+:\d+|node_modules/.test(answer.body), excerpt);
        if (answer.body) assert.match(answer.head, /application\/(problem\+)?json/, excerpt);
      }
      assert.equal((await testbed.post('/login', administrator)).status, 200);
    });

    test('serves other clients while a body is shorter than its Content-Length', async () => {
      const connection = await RawConnection.open(testbed.url);
      const pending = connection.exchange(
        'POST /logout HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"refresh',
      );
      assert.equal((await testbed.post('/login', administrator)).status, 200);
      connection.close();
      assert.equal(await pending, undefined);
    });

    test('sends the complete response to a body that is too large, and keeps the connection usable', async () => {
      const { authToken } = await testbed.logIn();
      const body = JSON.stringify({ query: '{folder{name}}', more: 'x'.repeat(3_000_000) });
      const head = (path: string, token: string) =>
        `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nAuthorization: Bearer ${token}\r\n`;
      testbed.clock.advanceSeconds(600);
      for (const [path, token, status] of [
        ['/login', 'x', 413],
        ['/login/verify', 'x', 400],
        ['/graphql', authToken, 401],
        ['/logout', (await testbed.logIn()).authToken, 204],
      ] as const) {
        for (const connection of ['close', 'keep-alive']) {
          const raw = await RawConnection.open(testbed.url);
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

    test('refuses a compressed body with an explanation', async () => {
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      const answer = await testbed.postRaw('/login', JSON.stringify(administrator), headers);
      assert.equal(answer.status, 400);
      assert.match(problemOf(answer).detail, /without a Content-Encoding/);
    });

    test('accepts an absolute URL as request target, as proxies send it', async () => {
      const connection = await RawConnection.open(testbed.url);
      const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`;
      assert.equal((await connection.exchange(get('http://tree.example/openapi.json')))?.status, 200);
      assert.equal((await connection.exchange(get('http://tree.example//graphql?query=x')))?.status, 401);
      assert.equal((await connection.exchange(get('http://tree.example')))?.status, 200);
      connection.close();
    });

    test('describes the error in `WWW-Authenticate` only for a bearer token', async () => {
      const tokens = await testbed.logIn();
      const challenge = async (path: string, value: unknown, authorization: string) => {
        const headers = { 'content-type': 'application/json', authorization };
        const answer = await testbed.postRaw(path, JSON.stringify(value), headers);
        assert.equal(answer.status, 401);
        return answer.headers.get('www-authenticate')!;
      };
      const plain = 'Bearer realm="espalier"';
      const wrong = { username: 'admin', password: 'not the password' };
      assert.equal(await challenge('/login', wrong, `Bearer ${tokens.authToken}`), plain);
      assert.equal(
        await challenge('/login/refresh', { refreshToken: 'x' }, `Bearer ${tokens.authToken}`),
        plain,
      );
      assert.equal(await challenge('/graphql', {}, 'Basic YTpi'), plain);
      assert.match(
        await challenge('/graphql', {}, 'Bearer x'),
        /^Bearer realm="espalier", error="invalid_token"/,
      );
    });

    test('logs a refusal with the client address and the request id from the response', async () => {
      const { requestId } = problemOf(await testbed.post('/login', { username: 'admin', password: 'wrong' }));
      const line = testbed.logLines
        .map((text) => JSON.parse(text) as Record<string, unknown>)
        .find((each) => each['requestId'] === requestId);
      assert.equal(line!['code'], 'INVALID_CREDENTIALS');
      assert.equal(line!['address'], '127.0.0.1');
      assert.equal(line!['route'], '/login');
    });

    test('adds the request id of the log line to every GraphQL error', async () => {
      const { authToken } = await testbed.logIn();
      const idOfLastLine = () =>
        testbed.logLines
          .map((text) => JSON.parse(text) as Record<string, unknown>)
          .findLast(({ msg, route }) => msg === 'request' && route === '/graphql')?.['requestId'];
      const ids = new Set<unknown>();
      for (const query of [
        '{',
        '{nothing}',
        '{a: search(text: ""){totalCount} b: search(text: " "){totalCount}}',
        'mutation{a: deleteFolder(input: {id: "x"}){cursor} b: deleteFolder(input: {id: "y"}){cursor}}',
        'query($id: ID!){node(id: $id){id}}',
        'subscription{folderChanges{kind}}',
      ]) {
        const { errors } = (await testbed.query(query, authToken)).json<{
          errors: { extensions: { requestId: string } }[];
        }>();
        const found = new Set(errors.map(({ extensions }) => extensions.requestId));
        assert.equal(found.size, 1, query);
        await eventually(() => found.has(String(idOfLastLine())), query);
        for (const id of found) ids.add(id);
      }
      assert.equal(ids.size, 6);
    });

    test('changes no row for a malformed request', async () => {
      const tokens = await testbed.logIn();
      const before = await countRows(testbed.database.url);
      for (const { path, request, methods } of Object.values<Endpoint>(endpoints)) {
        // Such a POST ignores its body, so no body is malformed.
        if (!request && methods.includes('POST')) continue;
        const required = request ? bodies[request.body].required : [];
        for (const [, body, headers] of malformedBodies(...required)) {
          const { status } = await testbed.postRaw(path, body, headers);
          assert.ok(status >= 400 && status < 500, `${path} ${status}`);
        }
      }
      assert.deepEqual(await countRows(testbed.database.url), before);
      assert.equal((await testbed.refresh(tokens)).status, 200);
    });

    test('answers several requests on one connection in order', async () => {
      const connection = await RawConnection.open(testbed.url);
      const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
      assert.equal(
        (await connection.exchange(get('/graphql') + get('/nothing') + get('/openapi.json')))?.status,
        401,
      );
      assert.equal((await connection.read())?.status, 404);
      assert.equal((await connection.read())?.status, 200);
      connection.close();
    });

    test('skips one byte-order mark before a JSON body on every endpoint', async () => {
      const json = { 'content-type': 'application/json' };
      const tokens = await testbed.logIn();
      const bearer = { authorization: `Bearer ${tokens.authToken}` };
      const verifyBody = { authToken: tokens.authToken };
      const refreshBody = { refreshToken: tokens.refreshToken };
      const logoutBody = { refreshToken: (await testbed.logIn()).refreshToken };
      for (const [path, value, headers, status] of [
        ['/login', administrator, {}, 200],
        ['/login/verify', verifyBody, {}, 204],
        ['/graphql', { query: '{folder{name}}' }, bearer, 200],
        ['/graphql', { query: `{folder{name}} #${'x'.repeat(90_000)}` }, bearer, 200],
        ['/login/refresh', refreshBody, bearer, 200],
        ['/logout', logoutBody, {}, 204],
      ] as const) {
        const body = `\ufeff${JSON.stringify(value)}`;
        const twice = await testbed.postRaw(path, `\ufeff${body}`, { ...json, ...headers });
        assert.equal(twice.status, 400, `${path} with two`);
        const answer = await testbed.postRaw(path, body, { ...json, ...headers });
        assert.equal(answer.status, status, path);
        assert.ok(!answer.text.includes('errors'), answer.text);
      }
      assert.equal((await testbed.postRaw('/login', '\ufeff', json)).status, 400);
    });

    test('answers 400 to a deeply nested chunked body and 413 to one that is too long', async () => {
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
        const raw = await RawConnection.open(testbed.url);
        assert.equal((await raw.exchange(chunked(path, body)))?.status, status, `${path} ${status}`);
        assert.equal((await raw.exchange('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'))?.status, 200);
        raw.close();
      }
    });

    test('names the limit when it refuses a body that is too large', async () => {
      for (const [path, limit] of [
        ['/login', '16 KiB (16384 bytes)'],
        ['/login/verify', '16 KiB (16384 bytes)'],
        ['/graphql', '32 MiB (33554432 bytes)'],
      ] as const) {
        const { authToken } = await testbed.logIn();
        const body = ' '.repeat(path === '/graphql' ? 33 * 2 ** 20 : 20_000);
        const answer = await testbed.postRaw(path, body, {
          'content-type': 'application/json',
          authorization: `Bearer ${authToken}`,
        });
        assert.ok(answer.text.includes(`larger than the limit of ${limit}`), path);
      }
    });

    test('lists the links of the service at its root and serves each link', async () => {
      for (const method of ['GET', 'HEAD']) {
        const answer = await testbed.send(method, '/');
        assert.equal(answer.status, 200);
        assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
      }
      const { name, links } = (await testbed.send('GET', '/')).json<ServiceLinks>();
      assert.equal(name, 'Espalier');
      const { graph, livez, login } = endpoints;
      const { console: consoleLink, ...others } = links;
      assert.equal(consoleLink, undefined, 'this server has no console');
      assert.deepEqual([others.login, others.graphql, others.health], [login.path, graph.path, livez.path]);
      for (const path of Object.values(others)) {
        assert.notEqual((await testbed.send('GET', path)).status, 404, path);
      }
      const browser = await testbed.send('GET', '/', {
        headers: { accept: 'text/html' },
        redirect: 'manual',
      });
      assert.equal(browser.status, 200, 'there is no console to redirect to');
    });

    test('logs no password and no token at any level', async () => {
      const tokens = await testbed.logIn();
      const next = (await testbed.refresh(tokens)).json<LoginResponse>();
      await testbed.refresh(tokens);
      await testbed.query('{folder{name}}', next.authToken);
      await testbed.post('/login', { username: 'admin', password: 'a wrong password' });
      await testbed.post('/logout', {}, next.authToken);
      assert.ok(testbed.logLines.length > 0);
      const log = testbed.logLines.join('');
      const secrets = [tokens.authToken, tokens.refreshToken, next.authToken, next.refreshToken];
      for (const secret of [...secrets, administrator.password, 'a wrong password']) {
        assert.ok(!log.includes(secret));
      }
    });
  });
}
