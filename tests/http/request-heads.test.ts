/** Requests with ambiguous headers. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { json, RawClient } from '../live/raw-client.ts';
import { dataOf, StubApp } from '../live/stub-app.ts';

describe('a request head', () => {
  let app: StubApp;
  let client: RawClient;
  before(async () => {
    app = await StubApp.start();
    client = new RawClient(app);
    app.open = ({ query }) => dataOf({ query });
  });
  after(() => app.stop());

  const exchange = (text: string) => client.exchange(text);
  const send = (line: string, headers: readonly string[] = [], body = '') => {
    const [method = '', path = ''] = line.split(' ');
    return client.send(method, path, headers, body);
  };
  const post = (headers: readonly string[], body?: string, path?: string) => client.post(headers, body, path);
  const bearer = () => client.bearer;

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
    test(`gets ${status} with ${what} at ${path}`, async () => {
      const answer = await post([bearer(), ...headers], '{"query":"{x}"}', path);
      assert.equal(answer.status, status, answer.body);
    });
  }

  test('may have 100 headers', async () => {
    const many = Array.from({ length: 96 }, (_, n) => `X${n}: a`);
    assert.equal((await post([bearer(), json, ...many])).status, 200);
  });

  test('gets 400 with an unknown transfer encoding, or with `chunked` in HTTP/1.0', async () => {
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

  test('gets a problem with an explanation if it has no Host or no version', async () => {
    const responseWithoutHost = await send('GET /livez');
    assert.equal(responseWithoutHost.status, 400);
    assert.match(responseWithoutHost.body, /Host is missing/);
    const responseWithoutVersion = await exchange('GET /livez\r\n\r\n');
    assert.equal(responseWithoutVersion.status, 400);
    assert.match(responseWithoutVersion.body, /"code":"BAD_INPUT"/);
    assert.equal((await exchange('GET /livez HTTP/1.0\r\n\r\n')).status, 200);
  });

  test('cannot override the request method', async () => {
    const override = (method: string) => [
      `X-HTTP-Method-Override: ${method}`,
      `X-HTTP-Method: ${method}`,
      `X-Method-Override: ${method}`,
    ];
    const answer = await send('GET /login?_method=POST', ['Host: x', ...override('POST')]);
    assert.equal(answer.status, 405);
    assert.equal((await post([json, bearer(), ...override('GET')])).status, 200);
  });
});
