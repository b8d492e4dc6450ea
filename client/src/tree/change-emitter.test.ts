import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ChangeEmitter } from './change-emitter.ts';

async function collect(changes: AsyncIterable<number>): Promise<number[]> {
  const all: number[] = [];
  for await (const change of changes) all.push(change);
  return all;
}

describe('a change emitter', () => {
  test('gives each iterator all changes since the start of the iterator', async () => {
    const emitter = new ChangeEmitter<number>();
    const first = emitter[Symbol.asyncIterator]();
    emitter.publish(1);
    const second = emitter[Symbol.asyncIterator]();
    emitter.publish(2);
    emitter.end();
    assert.deepEqual(await collect(first), [1, 2]);
    assert.deepEqual(await collect(second), [2]);
  });

  test('resolves concurrent reads in order', async () => {
    const emitter = new ChangeEmitter<number>();
    const iterator = emitter[Symbol.asyncIterator]();
    const reads = [iterator.next(), iterator.next()];
    emitter.publish(1);
    emitter.publish(2);
    assert.deepEqual(
      (await Promise.all(reads)).map(({ value }) => value as number),
      [1, 2],
    );
  });

  test('ends a pending read when the iterator returns', async () => {
    const iterator = new ChangeEmitter<number>()[Symbol.asyncIterator]();
    const reads = iterator.next();
    await iterator.return!();
    assert.equal((await reads).done, true);
  });

  test('returns queued changes first, and then throws its error once per iterator', async () => {
    const emitter = new ChangeEmitter<number>();
    const iterator = emitter[Symbol.asyncIterator]();
    emitter.publish(1);
    emitter.end(new Error('logged out'));
    assert.deepEqual(await iterator.next(), { value: 1, done: false });
    await assert.rejects(iterator.next(), /logged out/);
    assert.equal((await iterator.next()).done, true);
    await assert.rejects(emitter[Symbol.asyncIterator]().next(), /logged out/);
  });

  test('does not call a removed listener', () => {
    const emitter = new ChangeEmitter<number>();
    const received: number[] = [];
    const listener = (change: number) => void received.push(change);
    const stops = [emitter.listen(listener), emitter.listen(listener)];
    emitter.publish(1);
    stops[0]!();
    emitter.publish(2);
    assert.deepEqual(received, [1, 1, 2]);
  });
});
