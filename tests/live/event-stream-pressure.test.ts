/**
 * Event streams with slow readers, with clients that disconnect, and while the service stops. The graph is a
 * stub.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Refusal } from '../../server/src/refusal.ts';
import { EventClient } from './event-client.ts';
import { eventually } from '../support/eventually.ts';
import { StubApp, StubStream } from './stub-app.ts';
import { waitUntilStable } from './wait-until-stable.ts';
import { withoutRequestId } from '../support/graph-testbed.ts';

const complete = { event: 'complete', data: '' };
const failToSerialize = () => {
  throw new Error('secret');
};
const large = 'x'.repeat(256 * 1024);

async function start(): Promise<{ app: StubApp; stream: StubStream; open: () => Promise<EventClient> }> {
  const app = await StubApp.start();
  const stream = new StubStream();
  app.open = () => stream;
  const authorization = `Bearer ${app.token('ann')}`;
  return { app, stream, open: () => EventClient.open(app.url, { query: 'x' }, { authorization }) };
}

describe('an event stream', () => {
  test('starts before the first event is available', async () => {
    const { app, stream, open } = await start();
    const client = await open();
    assert.equal(client.response.status, 200);
    stream.push(1);
    assert.deepEqual(await client.next(), { event: 'next', data: { data: 1 } });
    stream.end();
    assert.deepEqual(await client.readRest(), [complete]);
    await app.stop();
  });

  test('sends heartbeat comments without losing events', async () => {
    const { app, stream, open } = await start();
    const client = await open();
    const events = client.readRest();
    await eventually(() => client.comments >= 5, 'heartbeat comments arrive');
    stream.push(1, 2, 3);
    stream.end();
    assert.equal((await events).length, 4);
    assert.equal(stream.nextCalls, 4, 'a comment does not request another response');
    await app.stop();
  });

  test('requests the next response only after the client has read the last one, and loses nothing', async () => {
    const { app, stream, open } = await start();
    const count = 200;
    for (let number = 0; number < count; number++) stream.push({ number, large });
    const client = await open();
    const computed = await waitUntilStable(() => stream.nextCalls);
    assert.ok(computed < count / 2, `${computed} responses were computed but not read`);
    for (let number = 0; number < count; number++) {
      const { data } = (await client.next())!.data as { data: { number: number } };
      assert.equal(data.number, number);
    }
    client.disconnect();
    await app.stop();
  });

  test('ends its subscription when the client disconnects', async () => {
    const { app, stream, open } = await start();
    const client = await open();
    await eventually(() => stream.nextCalls === 1, 'the subscription runs');
    client.disconnect();
    await eventually(() => stream.hasEnded, 'the stream ends');
    await app.stop();
  });

  test('ends its subscription when the client disconnects before the subscription starts', async () => {
    const { app, stream } = await start();
    const { promise, resolve } = Promise.withResolvers<StubStream>();
    let isOpened = false;
    app.open = () => {
      isOpened = true;
      return promise;
    };
    const abort = new AbortController();
    const headers = {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${app.token('ann')}`,
    };
    const body = '{"query":"x"}';
    const request = fetch(`${app.url}/graphql`, { method: 'POST', headers, body, signal: abort.signal });
    await eventually(() => isOpened, 'the operation is opened');
    abort.abort();
    await assert.rejects(request);
    resolve(stream);
    await eventually(() => stream.hasEnded, 'the stream ends');
    await app.stop();
  });

  test('reports a refusal during the stream with its code, and an unexpected error only as INTERNAL', async () => {
    for (const [error, expected] of [
      [new Refusal('NOT_FOUND', 'Gone.'), { message: 'Gone.', code: 'NOT_FOUND' }],
      [
        new Error('secret'),
        { message: 'The server failed; report the request id to its operator.', code: 'INTERNAL' },
      ],
      [undefined, { message: 'The server failed; report the request id to its operator.', code: 'INTERNAL' }],
    ] as const) {
      const { app, stream, open } = await start();
      const client = await open();
      stream.push(1);
      await client.next();
      if (error) stream.fail(error);
      else stream.push({ toJSON: failToSerialize });
      const { message, code } = expected;
      const [next, ...rest] = await client.readRest();
      const { errors } = next!.data as { errors: { extensions: object }[] };
      assert.deepEqual(errors.map(withoutRequestId), [{ message, extensions: { code } }]);
      assert.deepEqual([next!.event, rest], ['next', [complete]]);
      assert.equal(app.logLines.join('').includes('secret'), code === 'INTERNAL');
      await app.stop();
    }
  });

  test('ends without a complete event when the service stops, so that clients reconnect', async () => {
    const { app, stream, open } = await start();
    const client = await open();
    stream.push(1);
    await client.next();
    await app.stop();
    assert.deepEqual(await client.readRest(), []);
    assert.ok(stream.hasEnded);
  });

  test('does not delay the stop of the service when its client does not read', async () => {
    const { app, stream, open } = await start();
    for (let number = 0; number < 200; number++) stream.push(large);
    const client = await open();
    await eventually(() => stream.nextCalls > 3, 'the subscription runs');
    await app.stop();
    client.disconnect();
  });
});
