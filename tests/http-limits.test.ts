/** What is too much: connections, values in a body, bodies at a time, work at a time. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GraphResult } from '../server/src/graph/graph.ts';
import type { PressureLimits } from '../server/src/http/pressure.ts';
import { eventually } from './eventually.ts';
import { dataOf, StagedApp } from './live/staged-app.ts';
import { RawConnection } from './raw-connection.ts';

const mebibyte = 2 ** 20;
const query = '{folder{name}}';
const noLimits: PressureLimits = {
  operations: 1e9,
  operationsOfOne: 1e9,
  bodyBytes: 1e9,
  bodyBytesOfOne: 1e9,
};
const calm = { isMemoryShort: false, isBehind: false };

/** A graph request as bytes, as somebody, with what else it may hold. */
function ask(app: StagedApp, body: string | ReadableStream, userId = 'ann'): Promise<Response> {
  return fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${app.token(userId)}` },
    body,
    // For a body of unknown length.
    duplex: 'half',
  });
}
const padded = (bytes: number) => JSON.stringify({ query, more: 'x'.repeat(bytes) });

async function assertShed(response: Response): Promise<void> {
  assert.equal(response.status, 503);
  assert.ok(Number(response.headers.get('retry-after')) > 0);
  const { errors } = (await response.json()) as { errors: { extensions: { code: string } }[] };
  assert.equal(errors[0]!.extensions.code, 'UNAVAILABLE');
}

describe('connections', () => {
  test('beyond the bound, a new one is ended at once and those that are open go on', async () => {
    const app = await StagedApp.start({ crowd: { mostConnections: 2 } });
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
    await eventually(() => app.openConnections === 1, 'one is gone');
    const next = await RawConnection.open(app.url);
    assert.equal((await next.exchange(get))?.status, 200);
    assert.equal(app.logLines.filter((line) => line.includes('too many connections')).length, 1);
    next.close();
    one.close();
    await app.stop();
  });
});

describe('a body of tiny values', () => {
  const wrapped = (inner: string) => `{"query":"${query}","variables":{"a":[${inner}]}}`;
  const names = Array.from({ length: 200_001 }, (_, n) => `{"${n}":0}`).join();
  for (const [what, body] of [
    ['millions of empty objects', wrapped(`${'{},'.repeat(2_000_000)}{}`)],
    ['millions of numbers', wrapped(`${'1,'.repeat(2_000_000)}1`)],
    ['millions of levels', `{"query":${'['.repeat(2_100_000)}`],
    ['hundreds of thousands of names', wrapped(names)],
  ] as const) {
    test(`${what} are refused with 413, unparsed`, async () => {
      const app = await StagedApp.start();
      const response = await ask(app, body);
      assert.equal(response.status, 413);
      assert.match(await response.text(), /The body holds more than 2\d+ (values|different names)/);
      await app.stop();
    });
  }

  test('an import of 100,000 folders with texts and properties is taken', async () => {
    const app = await StagedApp.start();
    app.open = ({ variables }) => dataOf((variables!['list'] as unknown[]).length);
    const list = Array.from({ length: 100_000 }, (_, n) => ({
      path: `Places/Building ${n % 100}/Floor "${n}"`,
      title: `Floor {${n}}, [${n}]`,
      icon: 'floor',
      description: 'A floor: with rooms, doors, windows, a "kitchen" \\ and so on, and on, and on, and on.',
      properties: { level: n, tags: ['a', 'b'], size: { width: 1, height: 2 }, [`own${n % 1000}`]: null },
    }));
    const response = await ask(app, JSON.stringify({ query, variables: { list } }));
    assert.equal(await response.text(), '{"data":100000}');
    await app.stop();
  });

  test('braces and commas inside texts do not count', async () => {
    const app = await StagedApp.start();
    const text = '{[,:"\\"]}'.repeat(500_000);
    const response = await ask(app, JSON.stringify({ query, variables: { text } }));
    assert.equal(response.status, 200);
    await app.stop();
  });
});

describe('bodies at a time', () => {
  const limits = { ...noLimits, bodyBytes: 3 * mebibyte, bodyBytesOfOne: 2 * mebibyte };

  for (const [how, bodyOf] of [
    ['of known length', padded],
    ['that come in pieces', (bytes: number) => new Blob([padded(bytes)]).stream()],
  ] as const) {
    test(`${how}: too many large ones are refused until others are answered; small ones never`, async () => {
      const app = await StagedApp.start({ crowd: { load: calm, pressureLimits: limits } });
      const answers: ((result: GraphResult) => void)[] = [];
      app.open = () => new Promise((resolve) => answers.push(resolve));
      const first = ask(app, bodyOf(1.2 * mebibyte), 'ann');
      await eventually(() => answers.length === 1, 'the first is at work');
      await assertShed(await ask(app, bodyOf(1.2 * mebibyte), 'ann'));
      const second = ask(app, bodyOf(1.2 * mebibyte), 'bob');
      await eventually(() => answers.length === 2, 'that of another person is at work');
      await assertShed(await ask(app, bodyOf(1.2 * mebibyte), 'cid'));
      const small = ask(app, bodyOf(1_000), 'ann');
      await eventually(() => answers.length === 3, 'a small one is at work');
      answers.forEach((answer) => answer(dataOf({})));
      for (const each of [first, second, small]) assert.equal((await each).status, 200);
      app.open = () => dataOf({});
      for (let count = 0; count < 10; count++) {
        assert.equal((await ask(app, bodyOf(1.2 * mebibyte), 'ann')).status, 200);
      }
      await app.stop();
    });
  }

  test('what was announced and does not come takes no room from anybody', async () => {
    const app = await StagedApp.start({ crowd: { load: calm, pressureLimits: limits } });
    const silent = await Promise.all(Array.from({ length: 8 }, () => RawConnection.open(app.url)));
    for (const [place, each] of silent.entries()) {
      each.send(
        `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${app.token(`p${place}`)}\r\nContent-Length: ${2 * mebibyte}\r\n\r\n{`,
      );
    }
    await eventually(() => app.openConnections >= 8, 'all are there');
    assert.equal((await ask(app, padded(1.5 * mebibyte))).status, 200);
    silent.forEach((each) => each.close());
    await app.stop();
  });

  test('an answer that nobody reads takes room until it is sent or given up', async () => {
    const app = await StagedApp.start({ crowd: { load: calm, pressureLimits: limits } });
    // More than the system's own buffers take.
    const long = dataOf({ text: 'x'.repeat(24 * mebibyte) });
    app.open = (_, __, limits) => {
      limits?.mayBegin?.();
      return long;
    };
    const body = JSON.stringify({ query });
    const deaf = await RawConnection.open(app.url, { reads: false });
    deaf.send(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${app.token('ann')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await eventually(async () => (await ask(app, body, 'ann')).status === 503, 'there is no room');
    deaf.close();
    await eventually(async () => (await ask(app, body, 'ann')).status === 200, 'there is room again');
    await app.stop();
  });

  test('what a client that leaves had sent is not held any longer', async () => {
    const app = await StagedApp.start({ crowd: { load: calm, pressureLimits: limits } });
    for (let count = 0; count < 5; count++) {
      const half = await RawConnection.open(app.url);
      half.send(
        `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${app.token('ann')}\r\nContent-Length: ${2 * mebibyte}\r\n\r\n{`,
      );
      await eventually(() => app.openConnections === 1, 'it is there');
      half.close();
      await eventually(() => app.openConnections === 0, 'it is gone');
    }
    assert.equal((await ask(app, padded(1.5 * mebibyte))).status, 200);
    await app.stop();
  });
});

describe('too much work', () => {
  const others = async (app: StagedApp) => {
    assert.equal((await fetch(`${app.url}/livez`)).status, 200);
    assert.equal((await fetch(`${app.url}/readyz`)).status, 200);
    const verify = await fetch(`${app.url}/login/verify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ authToken: app.token('ann') }),
    });
    assert.equal(verify.status, 204);
  };
  const logIn = (app: StagedApp) =>
    fetch(`${app.url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'ann', password: 'x' }),
    });

  test('so many operations at a time, and no more; what is answered makes room', async () => {
    const app = await StagedApp.start({
      crowd: { load: calm, pressureLimits: { ...noLimits, operations: 500 } },
    });
    const answers: ((result: GraphResult) => void)[] = [];
    app.open = () => new Promise((resolve) => answers.push(resolve));
    const asked = Array.from({ length: 500 }, (_, n) => ask(app, padded(1), `p${n}`));
    await eventually(() => answers.length === 500, 'all are at work');
    await assertShed(await ask(app, padded(1)));
    await others(app);
    answers.forEach((answer) => answer(dataOf({})));
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    assert.deepEqual(new Set(statuses), new Set([200]));
    app.open = () => dataOf({});
    assert.equal((await ask(app, padded(1))).status, 200);
    await app.stop();
  });

  test('nobody takes all places: others find one', async () => {
    const app = await StagedApp.start({
      crowd: { load: calm, pressureLimits: { ...noLimits, operations: 4, operationsOfOne: 2 } },
    });
    const answers: ((result: GraphResult) => void)[] = [];
    app.open = () => new Promise((resolve) => answers.push(resolve));
    const asked = ['ann', 'ann', 'bob'].map((userId) => ask(app, padded(1), userId));
    await eventually(() => answers.length === 3, 'all are at work');
    await assertShed(await ask(app, padded(1), 'ann'));
    answers.forEach((answer) => answer(dataOf({})));
    for (const each of asked) assert.equal((await each).status, 200);
    await app.stop();
  });

  test('a connection with many unanswered requests is ended', async () => {
    const app = await StagedApp.start();
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

  test('a process that is behind refuses queries, and nothing else, until it has caught up', async () => {
    const load = { isMemoryShort: false, isBehind: true };
    const app = await StagedApp.start({ crowd: { load } });
    await assertShed(await ask(app, padded(1)));
    await others(app);
    assert.equal((await logIn(app)).status, 200);
    load.isBehind = false;
    assert.equal((await ask(app, padded(1))).status, 200);
    await app.stop();
  });

  test('when memory is short, queries and logins are refused; tokens are verified and refreshed', async () => {
    const load = { isMemoryShort: true, isBehind: false };
    const app = await StagedApp.start({ crowd: { load } });
    await assertShed(await ask(app, padded(1)));
    const refused = await logIn(app);
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get('retry-after'), '2');
    await others(app);
    load.isMemoryShort = false;
    assert.equal((await logIn(app)).status, 200);
    await app.stop();
  });
});
