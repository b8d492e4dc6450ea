/** The server caches short GraphQL requests. The cache never reveals data of another user. */

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { GraphRequest } from '@espalier/contract';
import { dataOf, StubApp } from '../live/stub-app.ts';

describe('a repeated body', () => {
  let app: StubApp;
  let requests: GraphRequest[] = [];
  before(async () => {
    app = await StubApp.start();
    app.open = (request, { userId }) => {
      requests.push(request);
      return dataOf({ userId });
    };
  });
  beforeEach(() => (requests = []));
  after(() => app.stop());

  const send = async (body: string, headers: Readonly<Record<string, string>> = {}, user = 'ann') => {
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.token(user)}`, 'content-type': 'application/json', ...headers },
      body,
    });
    return response.status === 200 ? response.text() : response.status;
  };

  test('is parsed only once for all users', async () => {
    const body = '{"query":"query Q{x}","operationName":"Q","variables":{"a":[{"b":"ö🌳"}]},"extensions":{}}';
    for (const user of ['ann', 'bob', 'ann']) {
      assert.equal(await send(body, {}, user), `{"data":{"userId":"${user}"}}`);
    }
    assert.deepEqual(requests[0], JSON.parse(body));
    assert.ok(requests[1] === requests[0] && requests[2] === requests[0]);
    assert.equal(await send(body, { authorization: 'Bearer nobody' }), 401);
  });

  test('cannot be changed by its consumers', async () => {
    await send('{"query":"{y}","variables":{"a":[{"b":1}]}}');
    const { variables } = requests[0] as unknown as { variables: { a: [{ b: number }] } };
    assert.throws(() => (variables.a[0].b = 2), TypeError);
    assert.throws(() => variables.a.pop(), TypeError);
    assert.throws(() => Object.assign(requests[0]!, { query: '{z}' }), TypeError);
  });

  test('is refused if its headers are invalid, whether it is cached or not', async () => {
    for (const query of ['{known}', '{unknown}']) {
      const body = JSON.stringify({ query });
      if (query === '{known}') assert.equal(await send(body), '{"data":{"userId":"ann"}}');
      for (const headers of [
        { 'content-encoding': 'gzip' },
        { 'content-type': 'text/plain' },
        { 'content-type': 'application/json; charset=latin1' },
        { accept: 'image/png' },
      ]) {
        const status = 'accept' in headers ? 406 : 415;
        assert.equal(await send(body, headers), status);
      }
      assert.equal(await send(body), '{"data":{"userId":"ann"}}');
    }
    assert.deepEqual(
      requests.map(({ query }) => query),
      ['{known}', '{known}', '{unknown}'],
    );
  });

  test('is refused again if it was refused', async () => {
    for (const body of ['{"query":1}', '{"query":"{x}","variables":[]}', '[]', '{', '{"query":"\\ud']) {
      assert.deepEqual([await send(body), await send(body)], [400, 400], body);
    }
    assert.deepEqual(requests, []);
  });

  for (const [what, body] of [
    ['a mutation', '{"query":"mutation($p:String!){changePassword(newPassword:$p)}","variables":{"p":"x"}}'],
    ['long', JSON.stringify({ query: '{x}', variables: { text: 'x'.repeat(2048) } })],
  ] as const) {
    test(`is not cached if it is ${what}`, async () => {
      await send(body);
      await send(body);
      assert.deepEqual(requests[0], requests[1]);
      assert.notEqual(requests[0], requests[1]);
    });
  }

  test('must be the same in every byte', async () => {
    for (const text of ['ö', 'Ã¶', '\\u00f6', 'o']) await send(`{"query":"{x}","variables":{"a":"${text}"}}`);
    assert.deepEqual(
      requests.map(({ variables }) => variables?.['a']),
      ['ö', 'Ã¶', 'ö', 'o'],
    );
  });
});
