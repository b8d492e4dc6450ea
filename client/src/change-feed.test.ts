import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ChangeFeed } from './change-feed.ts';

async function collect(changes: AsyncIterable<number>): Promise<number[]> {
  const all: number[] = [];
  for await (const change of changes) all.push(change);
  return all;
}

describe('change feed', () => {
  test('gives every iterator all changes since it started', async () => {
    const feed = new ChangeFeed<number>();
    const first = feed[Symbol.asyncIterator]();
    feed.publish(1);
    const second = feed[Symbol.asyncIterator]();
    feed.publish(2);
    feed.end();
    assert.deepEqual(await collect(first), [1, 2]);
    assert.deepEqual(await collect(second), [2]);
  });

  test('resolves concurrent reads in order', async () => {
    const feed = new ChangeFeed<number>();
    const iterator = feed[Symbol.asyncIterator]();
    const reads = [iterator.next(), iterator.next()];
    feed.publish(1);
    feed.publish(2);
    assert.deepEqual(
      (await Promise.all(reads)).map(({ value }) => value as number),
      [1, 2],
    );
  });

  test('ends a pending read when the iterator returns', async () => {
    const iterator = new ChangeFeed<number>()[Symbol.asyncIterator]();
    const reads = iterator.next();
    await iterator.return!();
    assert.equal((await reads).done, true);
  });

  test('returns queued changes before it throws the error once, and throws it in later iterators', async () => {
    const feed = new ChangeFeed<number>();
    const iterator = feed[Symbol.asyncIterator]();
    feed.publish(1);
    feed.end(new Error('logged out'));
    assert.deepEqual(await iterator.next(), { value: 1, done: false });
    await assert.rejects(iterator.next(), /logged out/);
    assert.equal((await iterator.next()).done, true);
    await assert.rejects(feed[Symbol.asyncIterator]().next(), /logged out/);
  });

  test('does not call a removed listener', () => {
    const feed = new ChangeFeed<number>();
    const received: number[] = [];
    const listener = (change: number) => void received.push(change);
    const stops = [feed.listen(listener), feed.listen(listener)];
    feed.publish(1);
    stops[0]!();
    feed.publish(2);
    assert.deepEqual(received, [1, 1, 2]);
  });
});
