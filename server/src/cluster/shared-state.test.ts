import assert from 'node:assert/strict';
import { setImmediate as nextRound } from 'node:timers/promises';
import { describe, test } from 'node:test';
import type { ToWorker } from './messages.ts';
import { SharedState, type WorkerChannel } from './shared-state.ts';

class TestWorker implements WorkerChannel {
  readonly received: ToWorker[] = [];
  send(message: ToWorker): void {
    this.received.push(message);
  }
}

const queueKey = { key: 'one user', maxConcurrent: 8 };

describe('the shared state of workers', () => {
  const createState = (maxHashes = 1) => {
    const state = new SharedState(maxHashes);
    const [one, other] = [new TestWorker(), new TestWorker()];
    state.add(one);
    state.add(other);
    return { state, one, other };
  };
  const ticketsOf = ({ received }: TestWorker) =>
    received.flatMap((message) => (message.kind === 'permit granted' ? [message.ticket] : []));
  const lastAheadOf = ({ received }: TestWorker) => {
    const last = received.findLast((message) => message.kind === 'queued');
    return last?.ahead;
  };

  test('sends a commit to the other workers only', () => {
    const { state, one, other } = createState();
    state.handle(one, { kind: 'committed' });
    assert.deepEqual([one.received, other.received], [[], [{ kind: 'committed' }]]);
  });

  test('limits the hashes of all workers, and releases the permits of an ended worker', async () => {
    const { state, one, other } = createState(1);
    state.handle(one, { kind: 'acquire permit', ticket: 1 });
    state.handle(other, { kind: 'acquire permit', ticket: 1 });
    state.handle(other, { kind: 'acquire permit', ticket: 2 });
    await nextRound();
    assert.deepEqual([ticketsOf(one), ticketsOf(other)], [[1], []]);
    state.remove(one);
    await nextRound();
    assert.deepEqual(ticketsOf(other), [1]);
    state.handle(other, { kind: 'release permit', ticket: 1 });
    await nextRound();
    assert.deepEqual(ticketsOf(other), [1, 2]);
  });

  test('skips a waiting request of a worker that has ended', async () => {
    const { state, one, other } = createState(1);
    state.handle(one, { kind: 'acquire permit', ticket: 1 });
    state.handle(one, { kind: 'acquire permit', ticket: 2 });
    state.handle(other, { kind: 'acquire permit', ticket: 1 });
    state.remove(one);
    await nextRound();
    assert.deepEqual(ticketsOf(other), [1]);
  });

  test('queues the attempts of all workers together, and sends each new position', async () => {
    const { state, one, other } = createState();
    state.handle(one, { kind: 'join', attempt: 1, keys: [queueKey] });
    state.handle(one, { kind: 'join', attempt: 2, keys: [queueKey] });
    state.handle(other, { kind: 'join', attempt: 1, keys: [queueKey] });
    assert.deepEqual([lastAheadOf(one), lastAheadOf(other)], [[1], [2]]);
    state.handle(one, { kind: 'leave', attempt: 1 });
    await nextRound();
    assert.deepEqual([lastAheadOf(one), lastAheadOf(other)], [[0], [1]]);
    state.remove(one);
    await nextRound();
    assert.deepEqual(lastAheadOf(other), [0]);
  });

  test('sends the number of connections of a user to the other workers', () => {
    const { state, one, other } = createState();
    state.handle(one, { kind: 'local connections', userId: 'ann', count: 2 });
    const message = (count: number) => ({ kind: 'remote connections', userId: 'ann', count });
    assert.deepEqual(other.received, [message(2)]);
    const late = new TestWorker();
    state.add(late);
    assert.deepEqual(late.received, [message(2)]);
    state.remove(one);
    assert.deepEqual([other.received.at(-1), late.received.at(-1)], [message(0), message(0)]);
  });
});
