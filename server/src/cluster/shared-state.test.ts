import assert from 'node:assert/strict';
import { setImmediate as nextRound } from 'node:timers/promises';
import { describe, test } from 'node:test';
import type { ToWorker } from './messages.ts';
import { SharedState, type Recipient } from './shared-state.ts';

class Listener implements Recipient {
  readonly heard: ToWorker[] = [];
  send(message: ToWorker): void {
    this.heard.push(message);
  }
}

const queueKey = { key: 'one user', maxConcurrent: 8 };

describe('what workers share', () => {
  const share = (hashesAtOnce = 1) => {
    const work = new SharedState(hashesAtOnce);
    const [one, other] = [new Listener(), new Listener()];
    work.add(one);
    work.add(other);
    return { work, one, other };
  };
  const ticketsOf = ({ heard }: Listener) =>
    heard.flatMap((message) => (message.kind === 'take place' ? [message.ticket] : []));
  const lastAheadOf = ({ heard }: Listener) => {
    const last = heard.findLast((message) => message.kind === 'queued');
    return last?.ahead;
  };

  test('a commit is told to the others, and not to who has made it', () => {
    const { work, one, other } = share();
    work.handle(one, { kind: 'committed' });
    assert.deepEqual([one.heard, other.heard], [[], [{ kind: 'committed' }]]);
  });

  test('as many passwords are hashed as one process would; a worker that ends gives its place back', async () => {
    const { work, one, other } = share(1);
    work.handle(one, { kind: 'want place', ticket: 1 });
    work.handle(other, { kind: 'want place', ticket: 1 });
    work.handle(other, { kind: 'want place', ticket: 2 });
    await nextRound();
    assert.deepEqual([ticketsOf(one), ticketsOf(other)], [[1], []]);
    work.remove(one);
    await nextRound();
    assert.deepEqual(ticketsOf(other), [1]);
    work.handle(other, { kind: 'give back', ticket: 1 });
    await nextRound();
    assert.deepEqual(ticketsOf(other), [1, 2]);
  });

  test('who waits in line when its worker ends is passed over', async () => {
    const { work, one, other } = share(1);
    work.handle(one, { kind: 'want place', ticket: 1 });
    work.handle(one, { kind: 'want place', ticket: 2 });
    work.handle(other, { kind: 'want place', ticket: 1 });
    work.remove(one);
    await nextRound();
    assert.deepEqual(ticketsOf(other), [1]);
  });

  test('attempts of all workers stand in one line, and move up when one leaves or its worker ends', async () => {
    const { work, one, other } = share();
    work.handle(one, { kind: 'join', attempt: 1, keys: [queueKey] });
    work.handle(one, { kind: 'join', attempt: 2, keys: [queueKey] });
    work.handle(other, { kind: 'join', attempt: 1, keys: [queueKey] });
    assert.deepEqual([lastAheadOf(one), lastAheadOf(other)], [[1], [2]]);
    work.handle(one, { kind: 'leave', attempt: 1 });
    await nextRound();
    assert.deepEqual([lastAheadOf(one), lastAheadOf(other)], [[0], [1]]);
    work.remove(one);
    await nextRound();
    assert.deepEqual(lastAheadOf(other), [0]);
  });

  test('each worker knows how many connections a user has with the others, also one that comes later', () => {
    const { work, one, other } = share();
    work.handle(one, { kind: 'connections here', userId: 'somebody', count: 2 });
    const told = (count: number) => ({ kind: 'connections elsewhere', userId: 'somebody', count });
    assert.deepEqual(other.heard, [told(2)]);
    const late = new Listener();
    work.add(late);
    assert.deepEqual(late.heard, [told(2)]);
    work.remove(one);
    assert.deepEqual([other.heard.at(-1), late.heard.at(-1)], [told(0), told(0)]);
  });
});
