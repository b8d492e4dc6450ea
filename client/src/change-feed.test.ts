import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createChangeFeed } from './change-feed.ts';

async function allOf(changes: AsyncIterable<number>): Promise<number[]> {
  const all: number[] = [];
  for await (const change of changes) all.push(change);
  return all;
}

describe('a feed of changes', () => {
  test('gives every iterator all that happens from when it began', async () => {
    const feed = createChangeFeed<number>();
    const first = feed[Symbol.asyncIterator]();
    feed.tell(1);
    const second = feed[Symbol.asyncIterator]();
    feed.tell(2);
    feed.end();
    assert.deepEqual(await allOf(first), [1, 2]);
    assert.deepEqual(await allOf(second), [2]);
  });

  test('answers several who ask at once in the order in which they asked', async () => {
    const feed = createChangeFeed<number>();
    const iterator = feed[Symbol.asyncIterator]();
    const asked = [iterator.next(), iterator.next()];
    feed.tell(1);
    feed.tell(2);
    assert.deepEqual(
      (await Promise.all(asked)).map(({ value }) => value as number),
      [1, 2],
    );
  });

  test('ends an iterator that is told to return while it waits', async () => {
    const iterator = createChangeFeed<number>()[Symbol.asyncIterator]();
    const asked = iterator.next();
    await iterator.return!();
    assert.equal((await asked).done, true);
  });

  test('gives the rest before it throws why it is over, once, and to those who come later at once', async () => {
    const feed = createChangeFeed<number>();
    const iterator = feed[Symbol.asyncIterator]();
    feed.tell(1);
    feed.end(new Error('logged out'));
    assert.deepEqual(await iterator.next(), { value: 1, done: false });
    await assert.rejects(iterator.next(), /logged out/);
    assert.equal((await iterator.next()).done, true);
    await assert.rejects(feed[Symbol.asyncIterator]().next(), /logged out/);
  });

  test('does not call a listener that has stopped', () => {
    const feed = createChangeFeed<number>();
    const heard: number[] = [];
    const listener = (change: number) => void heard.push(change);
    const stops = [feed.listen(listener), feed.listen(listener)];
    feed.tell(1);
    stops[0]!();
    feed.tell(2);
    assert.deepEqual(heard, [1, 1, 2]);
  });
});
