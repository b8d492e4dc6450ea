/** Short JSON bodies are answered a quicker way. It says the same in the answer, and in the log. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { Refusal } from '../server/src/refusal.ts';
import { eventually } from './eventually.ts';
import { dataOf, StagedApp, StagedStream } from './live/staged-app.ts';
import { RawConnection } from './raw-connection.ts';

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
  const whose = `browsers of ${corsOrigins.join() || 'no other origin'}`;
  describe(`the quick way and the usual one, for ${whose}, below ${basePath || '/'}`, () => {
    let app: StagedApp;
    before(async () => (app = await StagedApp.start({ settings: { corsOrigins, basePath } })));
    after(() => app.stop());

    /** Chunks are taken the usual way. */
    const bothWays = async (path: string, headers: readonly string[], body: string) => {
      const chunk = `${body.length.toString(16)}\r\n${body}\r\n`;
      const head = [`POST ${basePath}${path} HTTP/1.1`, 'Host: x', ...headers].join('\r\n');
      return {
        quick: await told(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
        usual: await told(`${head}\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`),
      };
    };
    const told = async (request: string) => {
      app.logLines.length = 0;
      const connection = await RawConnection.open(app.url);
      const answer = await connection.exchange(request);
      connection.close();
      assert.ok(answer);
      await eventually(() => app.logLines.some((line) => line.includes('"msg":"request"')), 'it is logged');
      // The number in a request's id may be one digit longer than the one before.
      const idLength = /"requestId":"([^"]*)"/.exec(answer.body)?.[1]?.length ?? 0;
      return {
        head: sortedHead(answer.head)
          .replace(/date: .*/, 'date')
          .replace(/(?<=content-length: )\d+/, (length) => String(Number(length) - idLength)),
        body: answer.body.replace(/"requestId":"[^"]*"/, 'id'),
        log: app.logLines.map((line) =>
          line.replace(/"(time|pid|ms|port)":[\d.e-]+/g, '$1').replace(/"requestId":"[^"]*"/, 'id'),
        ),
      };
    };

    const bearer = () => `Authorization: Bearer ${app.token('ann')}`;
    const given: Readonly<Record<string, () => ReturnType<StagedApp['open']>>> = {
      'an answer': () => dataOf({ name: 'Root' }),
      'an answer beyond ASCII': () => dataOf({ name: 'Größe 🌳' }),
      'a long answer': () => dataOf({ name: 'ö'.repeat(70_000) }),
      'an answer that takes its time': () => Promise.resolve(dataOf({ name: 'Root' })),
      'a query that was not executed': () => ({ isExecuted: false, text: '{"errors":[]}' }),
      'an answer to come back for': () => ({ ...dataOf({}), retryAfterSeconds: 3 }),
      'a refusal': () => {
        throw new Refusal('BAD_INPUT', 'No.');
      },
      'a refusal that takes its time': () =>
        Promise.reject(new Refusal('UNAVAILABLE', 'Not now.', { retryAfterSeconds: 2 })),
      'a bug': () => Promise.reject(new TypeError('a bug')),
    };
    for (const [what, open] of Object.entries(given)) {
      for (const accept of ['*/*', 'application/graphql-response+json', 'image/png']) {
        test(`give ${what} alike to who accepts ${accept}`, async () => {
          app.open = open;
          const headers = [json, bearer(), `Accept: ${accept}`, 'Origin: https://app.example.com'];
          const { quick, usual } = await bothWays('/graphql', headers, query);
          assert.deepEqual(quick, { ...usual, log: quick.log });
          // Where the bug was thrown is not the same.
          if (what !== 'a bug') assert.deepEqual(quick.log, usual.log);
        });
      }
    }

    for (const [what, headers, body] of [
      ['JSON of a charset', [`${json}; charset=utf-8`], '{"authToken":"t"}'],
      ['what is not JSON', [json], 'rubbish'],
      ['what is not UTF-8', [json], '["ö"]'],
      ['an encoded body', [json, 'Content-Encoding: gzip'], '{"authToken":"t"}'],
      ['a missing field', [json], '{}'],
      ['a connection that ends', [json, 'Connection: close'], '{"authToken":"t"}'],
      ['another media type', ['Content-Type: text/plain'], '{"authToken":"t"}'],
    ] as const) {
      test(`answer alike to ${what}`, async () => {
        for (const path of ['/login/verify', '/login/refresh', '/graphql']) {
          const withToken = path === '/login/verify' ? headers : [...headers, bearer()];
          const sent = path === '/login/verify' ? body.replace('"t"', `"${app.token('ann')}"`) : body;
          const { quick, usual } = await bothWays(path, withToken, sent);
          assert.deepEqual(quick, usual, path);
        }
      });
    }

    test('answer alike to a good token', async () => {
      const verified = await bothWays('/login/verify', [json], `{"authToken":"${app.token('ann')}"}`);
      assert.match(verified.quick.head, /^HTTP\/1\.1 204 /);
      assert.deepEqual(verified.quick, verified.usual);
    });
  });
}

describe('a short JSON body', () => {
  let app: StagedApp;
  before(async () => {
    app = await StagedApp.start();
    app.open = ({ query }) => dataOf({ query });
  });
  after(() => app.stop());

  const head = (length: number) =>
    `POST /graphql HTTP/1.1\r\nHost: x\r\n${json}\r\nAuthorization: Bearer ${app.token('ann')}\r\nContent-Length: ${length}\r\n\r\n`;
  const isLogged = (text: string) => app.logLines.some((line) => line.includes(text));

  test('may come byte by byte', async () => {
    const connection = await RawConnection.open(app.url);
    connection.send(head(query.length));
    for (const byte of query) {
      connection.send(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal((await connection.read())?.body, '{"data":{"query":"{x}"}}');
    connection.close();
  });

  test('of HTTP/1.0 has an answer that says how long it is, and a connection that is kept if asked for', async () => {
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

  test('ends where it was said to end: what follows is the next request', async () => {
    const connection = await RawConnection.open(app.url);
    const request = head(query.length) + query;
    connection.send(request + request.replace('{x}', '{y}') + request.slice(0, -1));
    assert.equal((await connection.read())?.body, '{"data":{"query":"{x}"}}');
    assert.equal((await connection.read())?.body, '{"data":{"query":"{y}"}}');
    connection.send('}');
    assert.equal((await connection.read())?.body, '{"data":{"query":"{x}"}}');
    connection.close();
  });

  test('is asked by whom its own token names, whoever used the connection before', async () => {
    app.open = (_, { userId }) => dataOf({ userId });
    const connection = await RawConnection.open(app.url);
    const ask = async (authorization: string) => {
      const request = head(query.length).replace(/Authorization: .*/, authorization) + query;
      const answer = await connection.exchange(request);
      return answer?.status === 200 ? answer.body : answer?.status;
    };
    const ann = `Authorization: Bearer ${app.token('ann', 60)}`;
    assert.equal(await ask(ann), '{"data":{"userId":"ann"}}');
    assert.equal(await ask(ann), '{"data":{"userId":"ann"}}');
    assert.equal(await ask(`Authorization: Bearer ${app.token('bob')}`), '{"data":{"userId":"bob"}}');
    assert.equal(await ask(ann), '{"data":{"userId":"ann"}}');
    assert.equal(await ask('X-Nothing: x'), 401);
    assert.equal(await ask(`${ann}\r\n${ann}`), 401);
    app.clock.advanceSeconds(61);
    assert.equal(await ask(ann), 401);
    connection.close();
  });

  test('that breaks off is never answered, and is no failure', async () => {
    await eventually(() => app.openConnections === 0, 'those before are gone');
    app.logLines.length = 0;
    const connection = await RawConnection.open(app.url);
    connection.send(head(query.length) + query.slice(0, -1));
    await eventually(() => app.openConnections === 1, 'it is open');
    connection.close();
    await eventually(() => isLogged('the client left') && isLogged('"msg":"request"'), 'it is noticed');
    const lines = app.logLines.map(
      (line) => JSON.parse(line) as { level: number; msg: string; status: number },
    );
    assert.deepEqual(
      lines.filter(({ level }) => level > 20).map(({ msg, status }) => [msg, status]),
      [['request', 499]],
    );
  });

  /** When its sender has hung up. */
  const isWorkedOn = async () => {
    app.logLines.length = 0;
    const work = Promise.withResolvers<ReturnType<typeof dataOf>>();
    let isAsked = false;
    app.open = () => {
      isAsked = true;
      return work.promise;
    };
    const connection = await RawConnection.open(app.url);
    connection.send(head(query.length) + query);
    await eventually(() => isAsked, 'it is asked');
    connection.close();
    await eventually(() => app.openConnections === 0, 'it is gone');
    return work;
  };

  test('whose sender hangs up before the answer is worked on, and nobody is told', async () => {
    const work = await isWorkedOn();
    work.resolve(dataOf({}));
    await work.promise;
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(!isLogged('the client left') && !isLogged('request failed'));
  });

  test('whose sender hangs up may be refused all the same', async () => {
    const work = await isWorkedOn();
    work.reject(new Refusal('BAD_INPUT', 'No.'));
    await eventually(() => linesOf('request').some(({ code }) => code === 'BAD_INPUT'), 'it is logged');
    app.open = () => dataOf({});
    const connection = await RawConnection.open(app.url);
    assert.equal((await connection.exchange(head(query.length) + query))?.status, 200);
    connection.close();
    assert.ok(!isLogged('request failed'));
  });

  const failures: Readonly<Record<string, () => ReturnType<StagedApp['open']>>> = {
    'is refused at once': () => {
      throw new Refusal('BAD_INPUT', 'No.');
    },
    'is refused later': () => Promise.reject(new Refusal('UNAVAILABLE', 'Not now.')),
    'fails at once': () => {
      throw new TypeError('a bug');
    },
    'fails later': () => Promise.reject(new TypeError('a bug')),
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    'fails for no reason': () => Promise.reject(),
    'has an answer that cannot be written': () => dataOf(1n),
  };
  for (const [what, fail] of Object.entries(failures)) {
    test(`with a mutation that ${what} is run once, and the connection goes on`, async () => {
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
      .map((line) => JSON.parse(line) as { msg: string; requestId: string; code?: string })
      .filter(({ msg }) => msg === message);

  test('that is refused before it was read leaves the connection to the next', async () => {
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

  test('is streamed to whoever asks for events', async () => {
    const stream = new StagedStream();
    stream.give({ x: 1 });
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
    test(`is nothing that ${method} is answered for`, async () => {
      app.open = () => assert.fail('nobody asked');
      const headers = { authorization: `Bearer ${app.token('ann')}`, 'content-type': 'application/json' };
      const sent = request(`${app.url}/graphql`, { method, headers }).end(query);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      assert.equal(answer.statusCode, status);
      answer.resume();
    });
  }
});
