/** Requests with JSON bodies: their responses, their log lines, and the state of their connections afterwards. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { Refusal } from '../../server/src/refusal.ts';
import { eventually } from '../support/eventually.ts';
import { dataOf, StubApp, StubStream } from '../live/stub-app.ts';
import { RawConnection } from '../support/raw-connection.ts';

const json = 'Content-Type: application/json';
const query = '{"query":"{x}"}';

/** Headers may come in any order, and their names in any case (RFC 9110 §5). */
const sortedHead = (head: string) =>
  head
    .split('\r\n')
    .map((line) => line.replace(/^[\w-]+(?=:)/, (name) => name.toLowerCase()))
    .sort()
    .join('\r\n');

for (const { corsOrigins = [], basePath = '' } of [
  {},
  { corsOrigins: ['https://app.example.com'] },
  { corsOrigins: ['*'] },
  { basePath: '/my/api' },
]) {
  const origins = corsOrigins.join() || 'none';
  describe(`a chunked body and a body with Content-Length, CORS origins ${origins}, base path ${basePath || '/'}`, () => {
    let app: StubApp;
    before(async () => (app = await StubApp.start({ settings: { corsOrigins, basePath } })));
    after(() => app.stop());

    const sendBoth = async (path: string, headers: readonly string[], body: string) => {
      const chunk = `${body.length.toString(16)}\r\n${body}\r\n`;
      const head = [`POST ${basePath}${path} HTTP/1.1`, 'Host: x', ...headers].join('\r\n');
      return {
        sized: await send(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
        chunked: await send(`${head}\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`),
      };
    };
    const send = async (request: string) => {
      app.logLines.length = 0;
      const connection = await RawConnection.open(app.url);
      const answer = await connection.exchange(request);
      connection.close();
      assert.ok(answer);
      await eventually(() => app.logLines.some((line) => line.includes('"msg":"request"')), 'it is logged');
      // A request id contains a number, which may have one digit more than in the previous request.
      const idLength = /"requestId":"([^"]*)"/.exec(answer.body)?.[1]?.length ?? 0;
      return {
        head: sortedHead(answer.head)
          .replace(/date: .*/, 'date')
          .replace(/(?<=content-length: )\d+/, (length) => String(Number(length) - idLength)),
        body: answer.body.replace(/"requestId":"[^"]*"/, 'id'),
        log: app.logLines.map((line) =>
          line
            .replace(/"(time|pid|ms|port)":[\d.e-]+/g, '$1')
            .replace(/"requestId":"[^"]*"/, 'id')
            .replace(/"stack":"(?:[^"\\]|\\.)*"/, 'stack'),
        ),
      };
    };

    const bearer = () => `Authorization: Bearer ${app.token('ann')}`;
    const outcomes: Readonly<Record<string, () => ReturnType<StubApp['open']>>> = {
      'a result': () => dataOf({ name: 'Root' }),
      'a result with characters beyond ASCII': () => dataOf({ name: 'Größe 🌳' }),
      'a long result': () => dataOf({ name: 'ö'.repeat(70_000) }),
      'a result that takes time': () => Promise.resolve(dataOf({ name: 'Root' })),
      'a query that was not executed': () => ({ isExecuted: false, text: '{"errors":[]}' }),
      'a result with Retry-After': () => ({ ...dataOf({}), retryAfterSeconds: 3 }),
      'a refusal': () => {
        throw new Refusal('BAD_INPUT', 'No.');
      },
      'a refusal that takes time': () =>
        Promise.reject(new Refusal('UNAVAILABLE', 'Not now.', { retryAfterSeconds: 2 })),
      'a bug': () => Promise.reject(new TypeError('a bug')),
    };
    for (const [what, open] of Object.entries(outcomes)) {
      for (const accept of ['*/*', 'application/graphql-response+json', 'image/png']) {
        test(`get the same response for ${what}, with Accept: ${accept}`, async () => {
          app.open = open;
          const headers = [json, bearer(), `Accept: ${accept}`, 'Origin: https://app.example.com'];
          const { sized, chunked } = await sendBoth('/graphql', headers, query);
          assert.deepEqual(sized, chunked);
        });
      }
    }

    for (const [what, headers, body] of [
      ['JSON with a charset', [`${json}; charset=utf-8`], '{"authToken":"t"}'],
      ['a body that is not JSON', [json], 'rubbish'],
      ['a body that is not UTF-8', [json], '["ö"]'],
      ['an encoded body', [json, 'Content-Encoding: gzip'], '{"authToken":"t"}'],
      ['a missing field', [json], '{}'],
      ['a connection to be closed', [json, 'Connection: close'], '{"authToken":"t"}'],
      ['another media type', ['Content-Type: text/plain'], '{"authToken":"t"}'],
    ] as const) {
      test(`get the same response for ${what}`, async () => {
        for (const path of ['/login/verify', '/login/refresh', '/graphql']) {
          const withToken = path === '/login/verify' ? headers : [...headers, bearer()];
          const sent = path === '/login/verify' ? body.replace('"t"', `"${app.token('ann')}"`) : body;
          const { sized, chunked } = await sendBoth(path, withToken, sent);
          assert.deepEqual(sized, chunked, path);
        }
      });
    }

    test('get the same response for a valid token', async () => {
      const verified = await sendBoth('/login/verify', [json], `{"authToken":"${app.token('ann')}"}`);
      assert.match(verified.sized.head, /^HTTP\/1\.1 204 /);
      assert.deepEqual(verified.sized, verified.chunked);
    });
  });
}

describe('a request with a JSON body', () => {
  let app: StubApp;
  before(async () => {
    app = await StubApp.start();
    app.open = ({ query }) => dataOf({ query });
  });
  after(() => app.stop());

  const head = (length: number) =>
    `POST /graphql HTTP/1.1\r\nHost: x\r\n${json}\r\nAuthorization: Bearer ${app.token('ann')}\r\nContent-Length: ${length}\r\n\r\n`;
  const isLogged = (text: string) => app.logLines.some((line) => line.includes(text));

  test('is complete even if it arrives byte by byte', async () => {
    const connection = await RawConnection.open(app.url);
    connection.send(head(query.length));
    for (const byte of query) {
      connection.send(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal((await connection.read())?.body, '{"data":{"query":"{x}"}}');
    connection.close();
  });

  test('gets a response with Content-Length and leaves the connection open, also in HTTP/1.0', async () => {
    const connection = await RawConnection.open(app.url);
    const old = head(query.length)
      .replace('HTTP/1.1', 'HTTP/1.0')
      .replace('Host: x', 'Host: x\r\nConnection: keep-alive');
    for (let time = 0; time < 2; time++) {
      const answer = await connection.exchange(old + query);
      assert.match(answer!.head, /^content-length: 24$/im);
      assert.equal(answer!.body, '{"data":{"query":"{x}"}}');
    }
    connection.close();
  });

  test('ends at its Content-Length, where the next request starts', async () => {
    const connection = await RawConnection.open(app.url);
    const request = head(query.length) + query;
    connection.send(request + request.replace('{x}', '{y}') + request.slice(0, -1));
    assert.equal((await connection.read())?.body, '{"data":{"query":"{x}"}}');
    assert.equal((await connection.read())?.body, '{"data":{"query":"{y}"}}');
    connection.send('}');
    assert.equal((await connection.read())?.body, '{"data":{"query":"{x}"}}');
    connection.close();
  });

  test('is authenticated by its own token, not by that of an earlier request', async () => {
    app.open = (_, { userId }) => dataOf({ userId });
    const connection = await RawConnection.open(app.url);
    const postQuery = async (authorization: string) => {
      const request = head(query.length).replace(/Authorization: .*/, authorization) + query;
      const answer = await connection.exchange(request);
      return answer?.status === 200 ? answer.body : answer?.status;
    };
    const ann = `Authorization: Bearer ${app.token('ann', 60)}`;
    assert.equal(await postQuery(ann), '{"data":{"userId":"ann"}}');
    assert.equal(await postQuery(ann), '{"data":{"userId":"ann"}}');
    assert.equal(await postQuery(`Authorization: Bearer ${app.token('bob')}`), '{"data":{"userId":"bob"}}');
    assert.equal(await postQuery(ann), '{"data":{"userId":"ann"}}');
    assert.equal(await postQuery('X-Nothing: x'), 401);
    assert.equal(await postQuery(`${ann}\r\n${ann}`), 401);
    app.clock.advanceSeconds(61);
    assert.equal(await postQuery(ann), 401);
    connection.close();
  });

  test('is logged as 499 and not as a failure if the client disconnects before the end', async () => {
    await eventually(() => app.openConnections === 0, 'earlier connections are closed');
    app.logLines.length = 0;
    const connection = await RawConnection.open(app.url);
    connection.send(head(query.length) + query.slice(0, -1));
    await eventually(() => app.openConnections === 1, 'it is open');
    connection.close();
    await eventually(
      () => isLogged('the client left') && isLogged('"msg":"request"'),
      'the disconnect is logged',
    );
    const lines = app.logLines.map(
      (line) => JSON.parse(line) as { level: number; msg: string; status: number },
    );
    assert.deepEqual(
      lines.filter(({ level }) => level > 20).map(({ msg, status }) => [msg, status]),
      [['request', 499]],
    );
  });

  /** Returns the pending work of a request after its client has disconnected. */
  const startAbandoned = async () => {
    app.logLines.length = 0;
    const work = Promise.withResolvers<ReturnType<typeof dataOf>>();
    let isStarted = false;
    app.open = () => {
      isStarted = true;
      return work.promise;
    };
    const connection = await RawConnection.open(app.url);
    connection.send(head(query.length) + query);
    await eventually(() => isStarted, 'it is started');
    connection.close();
    await eventually(() => app.openConnections === 0, 'the connection is closed');
    return work;
  };

  test('is executed and logged once as 499 if its client disconnects', async () => {
    const work = await startAbandoned();
    work.resolve(dataOf({}));
    await work.promise;
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(
      linesOf('request').map(({ status }) => status),
      [499],
    );
    assert.ok(!isLogged('the client left') && !isLogged('The request failed'));
  });

  test('is logged once as 499 if its client disconnects before it is refused', async () => {
    const work = await startAbandoned();
    work.reject(new Refusal('BAD_INPUT', 'No.'));
    app.open = () => dataOf({});
    const connection = await RawConnection.open(app.url);
    assert.equal((await connection.exchange(head(query.length) + query))?.status, 200);
    connection.close();
    await eventually(() => linesOf('request').length === 2, 'both are logged');
    assert.deepEqual(
      linesOf('request').map(({ status }) => status),
      [499, 200],
    );
    assert.ok(!isLogged('The request failed'));
  });

  const failures: Readonly<Record<string, () => ReturnType<StubApp['open']>>> = {
    'is refused immediately': () => {
      throw new Refusal('BAD_INPUT', 'No.');
    },
    'is refused later': () => Promise.reject(new Refusal('UNAVAILABLE', 'Not now.')),
    'fails immediately': () => {
      throw new TypeError('a bug');
    },
    'fails later': () => Promise.reject(new TypeError('a bug')),
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    'fails without an error': () => Promise.reject(),
    'has a result that cannot be serialized': () => dataOf(1n),
  };
  for (const [what, fail] of Object.entries(failures)) {
    test(`runs once, is logged once and keeps the connection if it is a mutation that ${what}`, async () => {
      app.logLines.length = 0;
      const mutation = '{"query":"mutation{x}"}';
      const ran: string[] = [];
      app.open = ({ query }) => {
        ran.push(query);
        return query === 'mutation{x}' ? fail() : dataOf({ query });
      };
      const connection = await RawConnection.open(app.url);
      for (let count = 1; count <= 2; count++) {
        const refused = await connection.exchange(head(mutation.length) + mutation);
        assert.ok(refused && refused.status >= 400);
        assert.doesNotMatch(refused.head, /\nConnection: close/i);
        assert.equal(ran.length, count);
      }
      const answer = await connection.exchange(head(query.length) + query);
      assert.equal(answer?.body, '{"data":{"query":"{x}"}}');
      connection.close();
      await eventually(() => linesOf('request').length === 3, 'each is logged once');
      assert.equal(new Set(linesOf('request').map(({ requestId }) => requestId)).size, 3);
      assert.deepEqual(ran, ['mutation{x}', 'mutation{x}', '{x}']);
    });
  }

  const linesOf = (message: string) =>
    app.logLines
      .map((line) => JSON.parse(line) as { msg: string; requestId: string; status: number })
      .filter(({ msg }) => msg === message);

  test('leaves the connection usable if it is refused before it is read', async () => {
    app.open = ({ query }) => dataOf({ query });
    const connection = await RawConnection.open(app.url);
    for (const wrong of [
      head(query.length).replace('Bearer', 'Basic'),
      head(query.length).replace('Host: x\r\n', ''),
    ]) {
      connection.send(wrong + query.slice(0, 3));
      connection.send(query.slice(3));
      assert.match((await connection.read())?.head ?? '', /^HTTP\/1\.1 40[01] /);
      const answer = await connection.exchange(head(query.length) + query);
      assert.equal(answer?.body, '{"data":{"query":"{x}"}}');
    }
    connection.close();
  });

  test('gets an event stream if it accepts no other media type', async () => {
    const stream = new StubStream();
    stream.push({ x: 1 });
    stream.end();
    app.open = () => stream;
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        authorization: `Bearer ${app.token('ann')}`,
        'content-type': 'application/json',
      },
      body: query,
    });
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.match(await response.text(), /data: {"data":{"x":1}}\n\nevent: complete\n/);
  });

  for (const [method, status] of [
    ['GET', 400],
    ['HEAD', 405],
    ['PUT', 405],
    ['PATCH', 405],
  ] as const) {
    test(`is not executed with the method ${method}`, async () => {
      app.open = () => assert.fail('it was executed');
      const headers = { authorization: `Bearer ${app.token('ann')}`, 'content-type': 'application/json' };
      const sent = request(`${app.url}/graphql`, { method, headers }).end(query);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      assert.equal(answer.statusCode, status);
      answer.resume();
    });
  }
});
