/** The headers of answers, and requests whose headers could be read in two ways. */

import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { generate } from 'selfsigned';
import { apiHeaderLines, securedResponse, servePage } from '../server/src/http/secured-response.ts';
import { dataOf, StagedApp } from './live/staged-app.ts';
import { RawConnection, type RawAnswer } from './raw-connection.ts';

const origin = 'https://app.example.com';

describe('headers', () => {
  let app: StagedApp;
  before(async () => {
    app = await StagedApp.start({ settings: { ...StagedApp.settings, corsOrigins: [origin] } });
    app.open = ({ query }) => dataOf({ query });
  });
  after(() => app.stop());

  const exchange = async (text: string): Promise<RawAnswer> => {
    const connection = await RawConnection.open(app.url);
    const answer = await connection.exchange(text);
    connection.close();
    assert.ok(answer, `an answer to ${JSON.stringify(text.slice(0, 80))}`);
    return answer;
  };
  const send = (line: string, headers: readonly string[] = [], body = '') =>
    exchange(`${line} HTTP/1.1\r\n${headers.map((each) => `${each}\r\n`).join('')}\r\n${body}`);
  const ask = (headers: readonly string[], body = '{"query":"{x}"}', path = '/graphql') =>
    send(`POST ${path}`, ['Host: x', ...headers, `Content-Length: ${body.length}`], body);
  const json = 'Content-Type: application/json';
  const bearer = () => `Authorization: Bearer ${app.token('ann')}`;

  test('every answer bears the headers that keep browsers from taking it for something else', async () => {
    const answers = {
      200: await ask([json, bearer()]),
      204: await send('OPTIONS /graphql', [
        'Host: x',
        `Origin: ${origin}`,
        'Access-Control-Request-Method: POST',
      ]),
      400: await ask([json, bearer()], 'no JSON'),
      401: await ask([json]),
      403: await send('GET /graphql', [
        'Host: x',
        'Origin: https://evil.example',
        'Upgrade: websocket',
        'Connection: Upgrade',
      ]),
      404: await send('GET /nothing', ['Host: x']),
      405: await send('PUT /login', ['Host: x', 'Content-Length: 0']),
      406: await ask([json, bearer(), 'Accept: image/png']),
      413: await ask([json], 'x'.repeat(20_000), '/login'),
      415: await ask(['Content-Type: text/plain', bearer()]),
      417: await send('GET /livez', ['Host: x', 'Expect: tea']),
      426: await send('GET /graphql/ws', ['Host: x']),
      431: await send('GET /livez', ['Host: x', `X: ${'x'.repeat(20_000)}`]),
    };
    const broken = [await exchange('rubbish\r\n\r\n'), await send('GET /%zz', ['Host: x'])];
    const others = [await send('GET /openapi.json', ['Host: x']), await send('GET /livez', ['Host: x'])];
    for (const [status, answer] of Object.entries(answers)) assert.equal(answer.status, Number(status));
    for (const { status, head, body } of [...Object.values(answers), ...broken, ...others]) {
      const names = head.split('\r\n').map((line) => line.split(':')[0]!.toLowerCase());
      assert.equal(new Set(names).size, names.length, `a header is there twice in ${status}: ${head}`);
      for (const line of apiHeaderLines.trimEnd().split('\r\n')) {
        assert.ok(head.includes(`\r\n${line}`), `${line} in ${status}: ${head}`);
      }
      assert.ok(
        !/\r\n(server|x-powered-by|via|set-cookie|strict-transport-security):/i.test(head),
        `${status}: ${head}`,
      );
      if (status >= 400 && status < 600) assert.match(head, /content-type: application\/(problem\+)?json/i);
      assert.ok(!/fastify|node/i.test(head + (status >= 400 ? body : '')), `${status}: no names`);
    }
  });

  test('what they are', () => {
    assert.equal(
      apiHeaderLines,
      [
        'x-content-type-options: nosniff',
        "content-security-policy: default-src 'none'; frame-ancestors 'none'",
        'referrer-policy: no-referrer',
        'cross-origin-resource-policy: same-origin',
        '',
      ].join('\r\n'),
    );
  });

  test('a page has a policy of its own, and the rest of them', () => {
    const Response = securedResponse(true, '1.2.3');
    const response = new Response(new IncomingMessage(new Socket()));
    servePage(response, "default-src 'self'");
    response.writeHead(200, { 'content-type': 'text/html' });
    const head = (response as unknown as { _header: string })._header;
    assert.match(head, /content-security-policy: default-src 'self'\r\n/);
    assert.doesNotMatch(head, /default-src 'none'/);
    assert.match(head, /x-content-type-options: nosniff\r\n/);
  });

  test('with TLS of its own, the service asks browsers to stay with TLS', async () => {
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }]);
    const secure = await StagedApp.start({ tls: { cert: Buffer.from(cert), key: Buffer.from(key) } });
    const url = secure.url.replace(/^http:/, 'https:');
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { ca: cert, checkServerIdentity: () => undefined, agent: false as const };
      httpsRequest(`${url}/livez`, options, resolve).on('error', reject).end();
    });
    answer.resume();
    assert.equal(answer.headers['strict-transport-security'], 'max-age=63072000');
    await secure.stop();
  });

  for (const [what, path, headers, status] of [
    ['two different auth tokens', '/graphql', [json, 'Authorization: Bearer a.b.9e15'], 401],
    ['a second, empty Authorization', '/graphql', [json, 'authorization:'], 401],
    ['two Authorization headers', '/logout', [json, 'Authorization: Bearer x'], 401],
    ['two Hosts', '/graphql', [json, 'Host: x'], 400],
    ['two Hosts', '/login/verify', [json, 'host: y'], 400],
    ['two Content-Types', '/graphql', [json, 'Content-type: text/plain'], 400],
    ['two Content-Types', '/login', [json, json], 400],
    ['two Idempotency-Keys', '/graphql', [json, 'Idempotency-Key: a', 'idempotency-key: a'], 400],
    ['two Content-Lengths', '/graphql', [json, 'Content-Length: 15'], 400],
    ['a list of Content-Lengths', '/graphql', [json, 'content-length: 15, 15'], 400],
    ['Content-Length and Transfer-Encoding', '/graphql', [json, 'Transfer-Encoding: chunked'], 400],
    ['a folded line', '/graphql', [json, 'X: a\r\n b'], 400],
    ['a space before a colon', '/graphql', [json, 'X : a'], 400],
    ['a line that ends with a bare LF', '/graphql', [json, 'X: a\nY: b'], 400],
    ['a bare CR', '/graphql', [json, 'X: a\rY: b'], 400],
    ['a NUL', '/graphql', [json, 'X: a\0b'], 400],
    ['101 headers', '/graphql', [json, ...Array.from({ length: 97 }, (_, n) => `X${n}: a`)], 400],
  ] as const) {
    test(`${what} at ${path}: ${status}`, async () => {
      const answer = await ask([bearer(), ...headers], '{"query":"{x}"}', path);
      assert.equal(answer.status, status, answer.body);
    });
  }

  test('100 headers are fine', async () => {
    const many = Array.from({ length: 96 }, (_, n) => `X${n}: a`);
    assert.equal((await ask([bearer(), json, ...many])).status, 200);
  });

  test('a body in another transfer encoding, or of HTTP/1.0, is not guessed at', async () => {
    const body = '0\r\n\r\n';
    const headers = ['Host: x', bearer(), json];
    for (const encoding of ['gzip, chunked', 'xchunked', 'identity', 'chunked, identity']) {
      const answer = await send('POST /graphql', [...headers, `Transfer-Encoding: ${encoding}`], body);
      assert.equal(answer.status, 400, encoding);
    }
    const old = await exchange(
      `POST /graphql HTTP/1.0\r\n${[...headers, 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n${body}`,
    );
    assert.equal(old.status, 400);
  });

  test('a request without Host, and one of no version, get a problem in words', async () => {
    const without = await send('GET /livez');
    assert.equal(without.status, 400);
    assert.match(without.body, /Host is missing/);
    const ancient = await exchange('GET /livez\r\n\r\n');
    assert.equal(ancient.status, 400);
    assert.match(ancient.body, /"code":"BAD_INPUT"/);
    assert.equal((await exchange('GET /livez HTTP/1.0\r\n\r\n')).status, 200);
  });

  test('no header makes another method of a request', async () => {
    const override = (method: string) => [
      `X-HTTP-Method-Override: ${method}`,
      `X-HTTP-Method: ${method}`,
      `X-Method-Override: ${method}`,
    ];
    const answer = await send('GET /login?_method=POST', ['Host: x', ...override('POST')]);
    assert.equal(answer.status, 405);
    assert.equal((await ask([json, bearer(), ...override('GET')])).status, 200);
  });

  test('an unknown method on the OpenAPI document gets 405 with Allow', async () => {
    const answer = await send('POST /openapi.json', ['Host: x', 'Content-Length: 0']);
    assert.equal(answer.status, 405);
    assert.match(answer.head, /\r\nallow: HEAD, GET\r\n/i);
  });

  test('a web page of an allowed origin may send what it needs, and read what it is told', async () => {
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
    for (const { head } of [preflight, await ask([json, `Origin: ${origin}`])]) {
      assert.match(head, new RegExp(`access-control-allow-origin: ${origin}\r\n`, 'i'));
      assert.match(head, /\r\nvary: [^\r]*origin/i);
      assert.doesNotMatch(head, /access-control-allow-credentials/i);
    }
    const refused = await ask([json, `Origin: ${origin}`]);
    for (const name of ['token-expired', 'WWW-Authenticate', 'Retry-After']) {
      assert.match(refused.head, new RegExp(`access-control-expose-headers: .*${name}`, 'i'));
    }
  });

  test('with *, any web page may call, and none with credentials of the browser', async () => {
    const open = await StagedApp.start({ settings: { ...StagedApp.settings, corsOrigins: ['*'] } });
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
