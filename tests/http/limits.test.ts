/** Limits on connections, values in a body, concurrent bodies and concurrent operations. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GraphResult } from '../../server/src/graph/graph.ts';
import type { AdmissionLimits } from '../../server/src/http/guards/overload.ts';
import { eventually } from '../support/eventually.ts';
import { dataOf, StubApp } from '../live/stub-app.ts';
import { RawConnection } from '../support/raw-connection.ts';

const mebibyte = 2 ** 20;
const query = '{folder{name}}';
const noLimits: AdmissionLimits = {
  operations: 1e9,
  operationsPerUser: 1e9,
  bodyBytes: 1e9,
  bodyBytesPerUser: 1e9,
};
const noPressure = { isMemoryShort: false, isBehind: false };

/** Posts a GraphQL request. */
function postQuery(app: StubApp, body: string | ReadableStream, userId = 'ann'): Promise<Response> {
  return fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${app.token(userId)}` },
    body,
    // Required for a body of unknown length.
    duplex: 'half',
  });
}
const createPaddedBody = (bytes: number) => JSON.stringify({ query, more: 'x'.repeat(bytes) });

async function assertShed(response: Response): Promise<void> {
  assert.equal(response.status, 503);
  assert.ok(Number(response.headers.get('retry-after')) > 0);
  const { errors } = (await response.json()) as { errors: { extensions: { code: string } }[] };
  assert.equal(errors[0]!.extensions.code, 'UNAVAILABLE');
}

describe('the connection limit', () => {
  test('closes a new connection immediately and keeps the open connections', async () => {
    const app = await StubApp.start({ guardOptions: { maxConnections: 2 } });
    const get = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
    const [one, two] = [await RawConnection.open(app.url), await RawConnection.open(app.url)];
    assert.equal((await one.exchange(get))?.status, 200);
    assert.equal((await two.exchange(get))?.status, 200);
    for (let count = 0; count < 3; count++) {
      const third = await RawConnection.open(app.url);
      assert.equal(await third.exchange(get), undefined);
    }
    assert.equal((await one.exchange(get))?.status, 200);
    two.close();
    await eventually(() => app.openConnections === 1, 'one connection is closed');
    const next = await RawConnection.open(app.url);
    assert.equal((await next.exchange(get))?.status, 200);
    assert.equal(app.logLines.filter((line) => line.includes('There are too many connections')).length, 1);
    next.close();
    one.close();
    await app.stop();
  });
});

describe('a body of many small values', () => {
  const wrapped = (inner: string) => `{"query":"${query}","variables":{"a":[${inner}]}}`;
  const names = Array.from({ length: 200_001 }, (_, n) => `{"${n}":0}`).join();
  for (const [what, body] of [
    ['millions of empty objects', wrapped(`${'{},'.repeat(2_000_000)}{}`)],
    ['millions of numbers', wrapped(`${'1,'.repeat(2_000_000)}1`)],
    ['millions of levels', `{"query":${'['.repeat(2_100_000)}`],
    ['hundreds of thousands of names', wrapped(names)],
  ] as const) {
    test(`is refused with 413 before parsing if it has ${what}`, async () => {
      const app = await StubApp.start();
      const response = await postQuery(app, body);
      assert.equal(response.status, 413);
      assert.match(await response.text(), /The body contains more than 2\d+ (values|different member names)/);
      await app.stop();
    });
  }

  test('is accepted as an import of 100,000 folders with texts and properties', async () => {
    const app = await StubApp.start();
    app.open = ({ variables }) => dataOf((variables!['list'] as unknown[]).length);
    const list = Array.from({ length: 100_000 }, (_, n) => ({
      path: `Places/Building ${n % 100}/Floor "${n}"`,
      title: `Floor {${n}}, [${n}]`,
      icon: 'floor',
      description: 'A floor: with rooms, doors, windows, a "kitchen" \\ and so on, and on, and on, and on.',
      properties: { level: n, tags: ['a', 'b'], size: { width: 1, height: 2 }, [`own${n % 1000}`]: null },
    }));
    const response = await postQuery(app, JSON.stringify({ query, variables: { list } }));
    assert.equal(await response.text(), '{"data":100000}');
    await app.stop();
  });

  test('is accepted if the braces and commas are inside strings', async () => {
    const app = await StubApp.start();
    const text = '{[,:"\\"]}'.repeat(500_000);
    const response = await postQuery(app, JSON.stringify({ query, variables: { text } }));
    assert.equal(response.status, 200);
    await app.stop();
  });
});

describe('concurrent bodies', () => {
  const limits = { ...noLimits, bodyBytes: 3 * mebibyte, bodyBytesPerUser: 2 * mebibyte };

  for (const [form, bodyOf] of [
    ['with a Content-Length', createPaddedBody],
    ['in chunks', (bytes: number) => new Blob([createPaddedBody(bytes)]).stream()],
  ] as const) {
    test(`${form} are refused over the limit until earlier ones are answered, unless they are small`, async () => {
      const app = await StubApp.start({ guardOptions: { load: noPressure, admissionLimits: limits } });
      const answers: ((result: GraphResult) => void)[] = [];
      app.open = () => new Promise((resolve) => answers.push(resolve));
      const first = postQuery(app, bodyOf(1.2 * mebibyte), 'ann');
      await eventually(() => answers.length === 1, 'the first request is running');
      await assertShed(await postQuery(app, bodyOf(1.2 * mebibyte), 'ann'));
      const second = postQuery(app, bodyOf(1.2 * mebibyte), 'bob');
      await eventually(() => answers.length === 2, 'the request of another user is running');
      await assertShed(await postQuery(app, bodyOf(1.2 * mebibyte), 'cid'));
      const small = postQuery(app, bodyOf(1_000), 'ann');
      await eventually(() => answers.length === 3, 'a small request is running');
      answers.forEach((answer) => answer(dataOf({})));
      for (const each of [first, second, small]) assert.equal((await each).status, 200);
      app.open = () => dataOf({});
      for (let count = 0; count < 10; count++) {
        assert.equal((await postQuery(app, bodyOf(1.2 * mebibyte), 'ann')).status, 200);
      }
      await app.stop();
    });
  }

  test('do not count bytes that do not arrive', async () => {
    const app = await StubApp.start({ guardOptions: { load: noPressure, admissionLimits: limits } });
    const silent = await Promise.all(Array.from({ length: 8 }, () => RawConnection.open(app.url)));
    for (const [index, each] of silent.entries()) {
      each.send(
        `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${app.token(`p${index}`)}\r\nContent-Length: ${2 * mebibyte}\r\n\r\n{`,
      );
    }
    await eventually(() => app.openConnections >= 8, 'all connections are open');
    assert.equal((await postQuery(app, createPaddedBody(1.5 * mebibyte))).status, 200);
    silent.forEach((each) => each.close());
    await app.stop();
  });

  test('count until the client has read the response or disconnects', async () => {
    const app = await StubApp.start({ guardOptions: { load: noPressure, admissionLimits: limits } });
    // Larger than the socket buffers of the system.
    const long = dataOf({ text: 'x'.repeat(24 * mebibyte) });
    app.open = (_, __, options) => {
      options?.checkBeforeStart?.();
      return long;
    };
    const body = JSON.stringify({ query });
    const nonReading = await RawConnection.open(app.url, { reads: false });
    nonReading.send(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${app.token('ann')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await eventually(async () => (await postQuery(app, body, 'ann')).status === 503, 'the limit is reached');
    nonReading.close();
    await eventually(
      async () => (await postQuery(app, body, 'ann')).status === 200,
      'the limit is not reached any longer',
    );
    await app.stop();
  });

  test('do not count after the client disconnects within the body', async () => {
    const app = await StubApp.start({ guardOptions: { load: noPressure, admissionLimits: limits } });
    for (let count = 0; count < 5; count++) {
      const partialConnection = await RawConnection.open(app.url);
      partialConnection.send(
        `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${app.token('ann')}\r\nContent-Length: ${2 * mebibyte}\r\n\r\n{`,
      );
      await eventually(() => app.openConnections === 1, 'the connection is open');
      partialConnection.close();
      await eventually(() => app.openConnections === 0, 'the connection is closed');
    }
    assert.equal((await postQuery(app, createPaddedBody(1.5 * mebibyte))).status, 200);
    await app.stop();
  });
});

describe('overload protection', () => {
  const assertOthersServed = async (app: StubApp) => {
    assert.equal((await fetch(`${app.url}/livez`)).status, 200);
    assert.equal((await fetch(`${app.url}/readyz`)).status, 200);
    const verify = await fetch(`${app.url}/login/verify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ authToken: app.token('ann') }),
    });
    assert.equal(verify.status, 204);
  };
  const logIn = (app: StubApp) =>
    fetch(`${app.url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'ann', password: 'x' }),
    });

  test('limits concurrent operations and accepts new ones when others finish', async () => {
    const app = await StubApp.start({
      guardOptions: { load: noPressure, admissionLimits: { ...noLimits, operations: 500 } },
    });
    const answers: ((result: GraphResult) => void)[] = [];
    app.open = () => new Promise((resolve) => answers.push(resolve));
    const requests = Array.from({ length: 500 }, (_, n) => postQuery(app, createPaddedBody(1), `p${n}`));
    await eventually(() => answers.length === 500, 'all are running');
    await assertShed(await postQuery(app, createPaddedBody(1)));
    await assertOthersServed(app);
    answers.forEach((answer) => answer(dataOf({})));
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    assert.deepEqual(new Set(statuses), new Set([200]));
    app.open = () => dataOf({});
    assert.equal((await postQuery(app, createPaddedBody(1))).status, 200);
    await app.stop();
  });

  test('limits the operations of one user and keeps room for others', async () => {
    const app = await StubApp.start({
      guardOptions: {
        load: noPressure,
        admissionLimits: { ...noLimits, operations: 4, operationsPerUser: 2 },
      },
    });
    const answers: ((result: GraphResult) => void)[] = [];
    app.open = () => new Promise((resolve) => answers.push(resolve));
    const requests = ['ann', 'ann', 'bob'].map((userId) => postQuery(app, createPaddedBody(1), userId));
    await eventually(() => answers.length === 3, 'all are running');
    await assertShed(await postQuery(app, createPaddedBody(1), 'ann'));
    answers.forEach((answer) => answer(dataOf({})));
    for (const each of requests) assert.equal((await each).status, 200);
    await app.stop();
  });

  test('closes a connection with too many unanswered requests', async () => {
    const app = await StubApp.start();
    const get = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';
    const modest = await RawConnection.open(app.url);
    modest.send(get.repeat(100));
    for (let count = 0; count < 100; count++) assert.equal((await modest.read())?.status, 200);
    const greedy = await RawConnection.open(app.url);
    greedy.send(get.repeat(1_000));
    let answers = 0;
    while (await greedy.read()) answers++;
    assert.ok(answers <= 100, String(answers));
    modest.close();
    await app.stop();
  });

  test('refuses only queries while the process lags behind', async () => {
    const load = { isMemoryShort: false, isBehind: true };
    const app = await StubApp.start({ guardOptions: { load } });
    await assertShed(await postQuery(app, createPaddedBody(1)));
    await assertOthersServed(app);
    assert.equal((await logIn(app)).status, 200);
    load.isBehind = false;
    assert.equal((await postQuery(app, createPaddedBody(1))).status, 200);
    await app.stop();
  });

  test('refuses queries and logins while memory is short, and still verifies and refreshes tokens', async () => {
    const load = { isMemoryShort: true, isBehind: false };
    const app = await StubApp.start({ guardOptions: { load } });
    await assertShed(await postQuery(app, createPaddedBody(1)));
    const refused = await logIn(app);
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get('retry-after'), '2');
    await assertOthersServed(app);
    load.isMemoryShort = false;
    assert.equal((await logIn(app)).status, 200);
    await app.stop();
  });
});
