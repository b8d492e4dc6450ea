/** The headers of responses. */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { generate } from 'selfsigned';
import { json, RawClient } from '../live/raw-client.ts';
import { dataOf, StubApp, StubStream } from '../live/stub-app.ts';
import type { RawResponse } from '../support/raw-connection.ts';

const origin = 'https://app.example.com';

const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};

interface Case {
  readonly status: number;
  readonly send: (client: RawClient) => Promise<RawResponse>;
  /** Whether the response goes to an authenticated user. */
  readonly isAuthenticated?: boolean;
  /** The content security policy, if it is not that of the API. */
  readonly policy?: RegExp;
}

const upgrade = ['Upgrade: websocket', 'Connection: Upgrade'];
const pagePolicy = /^default-src 'none'; script-src 'self';/;

/** Every kind of response. */
const cases: Readonly<Record<string, Case>> = {
  'a result': { status: 200, isAuthenticated: true, send: (to) => to.post([json, to.bearer]) },
  'a result by GET': {
    status: 200,
    isAuthenticated: true,
    send: (to) => to.send('GET', '/graphql?query={x}', ['Host: x', to.bearer]),
  },
  'an event stream': {
    status: 200,
    isAuthenticated: true,
    send(to) {
      const stream = new StubStream();
      stream.end();
      to.app.open = () => stream;
      return to.post([json, to.bearer, 'Accept: text/event-stream']);
    },
  },
  'a login': {
    status: 200,
    isAuthenticated: true,
    send: (to) => to.post([json], '{"username":"u","password":"p"}', '/login'),
  },
  'a verified token': {
    status: 204,
    isAuthenticated: true,
    send: (to) => to.post([json], `{"authToken":"${to.app.token('ann')}"}`, '/login/verify'),
  },
  'the service root': { status: 200, send: (to) => to.send('GET', '/', ['Host: x']) },
  'a probe': { status: 200, send: (to) => to.send('GET', '/livez', ['Host: x']) },
  'the key set': { status: 200, send: (to) => to.send('GET', '/.well-known/jwks.json', ['Host: x']) },
  'the OpenAPI document': { status: 200, send: (to) => to.send('GET', '/openapi.json', ['Host: x']) },
  'a redirect to the console': { status: 308, send: (to) => to.send('GET', '/console', ['Host: x']) },
  'a page of the console': {
    status: 200,
    policy: pagePolicy,
    send: (to) => to.send('GET', '/console/', ['Host: x']),
  },
  'an asset of the console': {
    status: 200,
    policy: pagePolicy,
    send: (to) => to.send('GET', '/console/assets/app.js', ['Host: x']),
  },
  'a missing file of the console': {
    status: 404,
    send: (to) => to.send('GET', '/console/no.js', ['Host: x']),
  },
  'a body that is not JSON': {
    status: 400,
    isAuthenticated: true,
    send: (to) => to.post([json, to.bearer], 'no JSON'),
  },
  'a request without Host': { status: 400, send: (to) => to.send('GET', '/livez') },
  'a URL that cannot be decoded': { status: 400, send: (to) => to.send('GET', '/%zz', ['Host: x']) },
  'a request that is not HTTP': { status: 400, send: (to) => to.exchange('rubbish\r\n\r\n') },
  'a broken chunk': {
    status: 400,
    send: (to) =>
      to.send('POST', '/graphql', ['Host: x', json, to.bearer, 'Transfer-Encoding: chunked'], 'x\r\n'),
  },
  'a broken WebSocket handshake': {
    status: 400,
    send: (to) => to.send('GET', '/graphql', ['Host: x', ...upgrade]),
  },
  'a missing token': { status: 401, send: (to) => to.post([json]) },
  'a refused upgrade': {
    status: 401,
    send: (to) => to.send('GET', '/graphql', ['Host: x', 'Authorization: Bearer x', ...upgrade]),
  },
  'an unknown path': { status: 404, send: (to) => to.send('GET', '/nothing', ['Host: x']) },
  'a wrong method': { status: 405, send: (to) => to.send('PUT', '/login', ['Host: x', 'Content-Length: 0']) },
  'an unacceptable media type': {
    status: 406,
    isAuthenticated: true,
    send: (to) => to.post([json, to.bearer, 'Accept: image/png']),
  },
  'a body that is too large': { status: 413, send: (to) => to.post([json], 'x'.repeat(20_000), '/login') },
  'an unsupported media type': {
    status: 415,
    isAuthenticated: true,
    send: (to) => to.post(['Content-Type: text/plain', to.bearer]),
  },
  'an unknown expectation': {
    status: 417,
    send: (to) => to.send('GET', '/livez', ['Host: x', 'Expect: tea']),
  },
  'a socket path without an upgrade': {
    status: 426,
    send: (to) => to.send('GET', '/graphql/ws', ['Host: x']),
  },
  'headers that are too long': {
    status: 431,
    send: (to) => to.send('GET', '/livez', ['Host: x', `X: ${'x'.repeat(20_000)}`]),
  },
  'a bug': {
    status: 500,
    isAuthenticated: true,
    send(to) {
      to.app.open = () => Promise.reject(new TypeError('a bug'));
      return to.post([json, to.bearer]);
    },
  },
};

/** Throws if a header is repeated. */
function headersOf({ head }: RawResponse): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of head.split('\r\n').slice(1)) {
    const [, name = '', value = ''] = /^([^:]+): (.*)$/.exec(line) ?? [];
    assert.ok(!headers.has(name.toLowerCase()), `${name} is repeated in ${head}`);
    headers.set(name.toLowerCase(), value);
  }
  return headers;
}

for (const { corsOrigins = [], basePath = '' } of [
  {},
  { corsOrigins: [origin] },
  { corsOrigins: ['*'] },
  { basePath: '/my/api' },
]) {
  const origins = corsOrigins.join() || 'none';
  describe(`the headers of every response, CORS origins ${origins}, base path ${basePath || '/'}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
    let client: RawClient;
    before(async () => {
      mkdirSync(join(folder, 'assets'));
      writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Console</title>');
      writeFileSync(join(folder, 'assets', 'app.js'), '0;');
      const settings = { ...StubApp.settings, corsOrigins, basePath };
      client = new RawClient(await StubApp.start({ settings, consoleFolder: folder }), basePath);
    });
    after(async () => {
      await client.app.stop();
      rmSync(folder, { recursive: true });
    });

    for (const [what, { status, send, isAuthenticated = false, policy }] of Object.entries(cases)) {
      test(`are present for ${what}, status ${status}`, async () => {
        client.app.open = ({ query }) => dataOf({ query });
        const answer = await send(client);
        assert.equal(answer.status, status, answer.body);
        const headers = headersOf(answer);
        for (const [name, value] of Object.entries(securityHeaders)) {
          if (policy && name === 'content-security-policy') assert.match(headers.get(name) ?? '', policy);
          else assert.equal(headers.get(name), value, name);
        }
        assert.equal(headers.get('espalier-version'), isAuthenticated ? '0.0.0-test' : undefined);
        for (const name of ['server', 'x-powered-by', 'via', 'set-cookie', 'strict-transport-security']) {
          assert.equal(headers.get(name), undefined, name);
        }
        if (status < 400) return;
        assert.match(headers.get('content-type') ?? '', /^application\/(problem\+)?json/);
        assert.doesNotMatch(answer.head + answer.body, /fastify|node/i);
      });
    }
  });
}

describe('headers', () => {
  let app: StubApp;
  let client: RawClient;
  before(async () => {
    app = await StubApp.start({ settings: { ...StubApp.settings, corsOrigins: [origin] } });
    client = new RawClient(app);
    app.open = ({ query }) => dataOf({ query });
  });
  after(() => app.stop());

  const send = (line: string, headers: readonly string[] = [], body = '') => {
    const [method = '', path = ''] = line.split(' ');
    return client.send(method, path, headers, body);
  };
  const post = (headers: readonly string[]) => client.post(headers);

  for (const [what, status, line, ...headers] of [
    [
      'a preflight request',
      204,
      'OPTIONS /graphql',
      `Origin: ${origin}`,
      'Access-Control-Request-Method: POST',
    ],
    ['an upgrade from a forbidden origin', 403, 'GET /graphql', 'Origin: https://evil.example', ...upgrade],
  ] as const) {
    test(`are complete for ${what}, status ${status}`, async () => {
      const answer = await send(line, ['Host: x', ...headers]);
      assert.equal(answer.status, status);
      const responseHeaders = headersOf(answer);
      for (const [name, value] of Object.entries(securityHeaders))
        assert.equal(responseHeaders.get(name), value);
      assert.equal(responseHeaders.get('espalier-version'), undefined);
    });
  }

  test('include `Strict-Transport-Security` only if the server itself terminates TLS', async () => {
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }]);
    const secure = await StubApp.start({ tls: { cert: Buffer.from(cert), key: Buffer.from(key) } });
    const url = secure.url.replace(/^http:/, 'https:');
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { ca: cert, checkServerIdentity: () => undefined, agent: false as const };
      httpsRequest(`${url}/livez`, options, resolve).on('error', reject).end();
    });
    answer.resume();
    assert.equal(answer.headers['strict-transport-security'], 'max-age=63072000');
    await secure.stop();
  });

  test('include `Allow` on a 405 for the OpenAPI document', async () => {
    const answer = await send('POST /openapi.json', ['Host: x', 'Content-Length: 0']);
    assert.equal(answer.status, 405);
    assert.match(answer.head, /\r\nallow: HEAD, GET\r\n/i);
  });

  test('let a web page of an allowed origin send and read all headers that a client uses', async () => {
    const preflight = await send('OPTIONS /graphql', [
      'Host: x',
      `Origin: ${origin}`,
      'Access-Control-Request-Method: POST',
      'Access-Control-Request-Headers: authorization,content-type,idempotency-key',
    ]);
    assert.match(
      preflight.head,
      /access-control-allow-headers: authorization,content-type,idempotency-key\r\n/i,
    );
    assert.match(preflight.head, /access-control-allow-methods: GET, POST/i);
    for (const { head } of [preflight, await post([json, `Origin: ${origin}`])]) {
      assert.match(head, new RegExp(`access-control-allow-origin: ${origin}\r\n`, 'i'));
      assert.match(head, /\r\nvary: [^\r]*origin/i);
      assert.doesNotMatch(head, /access-control-allow-credentials/i);
    }
    const refused = await post([json, `Origin: ${origin}`]);
    for (const name of ['token-expired', 'WWW-Authenticate', 'Retry-After']) {
      assert.match(refused.head, new RegExp(`access-control-expose-headers: .*${name}`, 'i'));
    }
  });

  test('let any web page send requests without browser credentials if the origin is *', async () => {
    const open = await StubApp.start({ settings: { ...StubApp.settings, corsOrigins: ['*'] } });
    for (const init of [
      { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } },
      { method: 'POST', headers: { origin, cookie: 'a=b' } },
    ]) {
      const { headers } = await fetch(`${open.url}/graphql`, init);
      assert.equal(headers.get('access-control-allow-origin'), '*');
      assert.equal(headers.get('access-control-allow-credentials'), null);
    }
    await open.stop();
  });
});
