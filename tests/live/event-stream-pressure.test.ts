/** Event streams whose reader is slow, goes away, or is there when something ends: with a staged graph. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Refusal } from '../../server/src/refusal.ts';
import { EventClient } from './event-client.ts';
import { eventually } from '../eventually.ts';
import { StagedApp, StagedStream } from './staged-app.ts';

const complete = { event: 'complete', data: '' };
const cannotBeWritten = () => {
  throw new Error('secret');
};
const large = 'x'.repeat(256 * 1024);

async function start(): Promise<{ app: StagedApp; stream: StagedStream; open: () => Promise<EventClient> }> {
  const app = await StagedApp.start();
  const stream = new StagedStream();
  app.open = () => stream;
  const authorization = `Bearer ${app.token('ann')}`;
  return { app, stream, open: () => EventClient.open(app.url, { query: 'x' }, { authorization }) };
}

describe('an event stream', () => {
  test('begins at once, before there is anything to tell', async () => {
    const { app, stream, open } = await start();
    const client = await open();
    assert.equal(client.response.status, 200);
    stream.give(1);
    assert.deepEqual(await client.next(), { event: 'next', data: { data: 1 } });
    stream.end();
    assert.deepEqual(await client.rest(), [complete]);
    await app.stop();
  });

  test('is kept alive by comments, among which nothing is lost', async () => {
    const { app, stream, open } = await start();
    const client = await open();
    const events = client.rest();
    await eventually(() => client.comments >= 5, 'comments come');
    stream.give(1, 2, 3);
    stream.end();
    assert.equal((await events).length, 4);
    assert.equal(stream.asked, 4, 'a comment does not ask for another answer');
    await app.stop();
  });

  test('asks for the next answer only when the last was taken, and loses nothing', async () => {
    const { app, stream, open } = await start();
    const count = 200;
    for (let number = 0; number < count; number++) stream.give({ number, large });
    const client = await open();
    let [last, same] = [0, 0];
    await eventually(() => {
      same = stream.asked === last ? same + 1 : 0;
      last = stream.asked;
      return same === 40;
    }, 'it stops asking');
    assert.ok(last < count / 2, `${last} answers were made for nobody`);
    for (let number = 0; number < count; number++) {
      const { data } = (await client.next())!.data as { data: { number: number } };
      assert.equal(data.number, number);
    }
    client.leave();
    await app.stop();
  });

  test('ends its subscription when the client goes away', async () => {
    const { app, stream, open } = await start();
    const client = await open();
    await eventually(() => stream.asked === 1, 'it runs');
    client.leave();
    await eventually(() => stream.isOver, 'the stream ends');
    await app.stop();
  });

  test('ends its subscription when the client went away before it began', async () => {
    const { app, stream } = await start();
    const { promise, resolve } = Promise.withResolvers<StagedStream>();
    let isAsked = false;
    app.open = () => {
      isAsked = true;
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
    await eventually(() => isAsked, 'it is asked for');
    abort.abort();
    await assert.rejects(request);
    resolve(stream);
    await eventually(() => stream.isOver, 'the stream ends');
    await app.stop();
  });

  test('that fails in the middle tells the code of a refusal, and of a bug nothing but that', async () => {
    for (const [error, shown] of [
      [new Refusal('NOT_FOUND', 'Gone.'), { message: 'Gone.', code: 'NOT_FOUND' }],
      [new Error('secret'), { message: 'The service failed.', code: 'INTERNAL' }],
      [undefined, { message: 'The service failed.', code: 'INTERNAL' }],
    ] as const) {
      const { app, stream, open } = await start();
      const client = await open();
      stream.give(1);
      await client.next();
      if (error) stream.fail(error);
      else stream.give({ toJSON: cannotBeWritten });
      const { message, code } = shown;
      const data = { errors: [{ message, extensions: { code } }] };
      assert.deepEqual(await client.rest(), [{ event: 'next', data }, complete]);
      assert.equal(app.logLines.join('').includes('secret'), code === 'INTERNAL');
      await app.stop();
    }
  });

  test('ends without being complete when the service stops, so that clients come back', async () => {
    const { app, stream, open } = await start();
    const client = await open();
    stream.give(1);
    await client.next();
    await app.stop();
    assert.deepEqual(await client.rest(), []);
    assert.ok(stream.isOver);
  });

  test('does not keep the service from stopping when its client does not read', async () => {
    const { app, stream, open } = await start();
    for (let number = 0; number < 200; number++) stream.give(large);
    const client = await open();
    await eventually(() => stream.asked > 3, 'it runs');
    await app.stop();
    client.leave();
  });
});
