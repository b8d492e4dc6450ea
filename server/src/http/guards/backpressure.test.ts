import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Refusal } from '../../refusal.ts';
import { Admission, type AdmissionLimits } from './overload.ts';
import { ResponseSlot, type ConnectionBackpressure } from './backpressure.ts';

const kibibyte = 1024;
const limits: AdmissionLimits = {
  operations: 100,
  operationsPerUser: 100,
  bodyBytes: 1000 * kibibyte,
  bodyBytesPerUser: 500 * kibibyte,
};

function createAdmission(load = { isMemoryShort: false, isBehind: false }, now = () => 0): Admission {
  return new Admission(load, limits, now);
}

/** Many subscriptions of one connection, each with a response to compute until `finish` is called. */
class Subscriptions {
  readonly slots: ResponseSlot[] = [];
  readonly started: number[] = [];
  readonly stopping = new AbortController();
  readonly results: Promise<number>[] = [];
  readonly #gates = new Map<number, () => void>();

  constructor(connection: ConnectionBackpressure, count: number) {
    for (let number = 0; number < count; number++) {
      const slot = new ResponseSlot(connection, this.stopping.signal);
      this.slots.push(slot);
      const compute = async () =>
        slot.compute(async () => {
          this.started.push(number);
          await new Promise<void>((resolve) => this.#gates.set(number, resolve));
          return number;
        });
      const result = compute();
      result.catch(() => undefined);
      this.results.push(result);
    }
  }

  async finish(number: number): Promise<void> {
    this.#gates.get(number)!();
    await this.results[number];
    this.slots[number]!.release();
    await settle();
  }
}

async function settle(): Promise<void> {
  await new Promise(setImmediate);
}

describe('the response queue', () => {
  test('admits at most one response per connection and two per user at a time', async () => {
    const admission = createAdmission();
    const groups = Array.from({ length: 3 }, () => new Subscriptions(admission.connect('ann'), 10));
    await settle();
    assert.deepEqual(
      groups.map(({ started }) => started),
      [[0], [0], []],
    );
    const otherSubscriptions = new Subscriptions(admission.connect('bob'), 1);
    await settle();
    assert.deepEqual(otherSubscriptions.started, [0], 'another user does not wait');
    await groups[0]!.finish(0);
    assert.deepEqual(
      groups.map(({ started }) => started),
      [[0], [0], [0]],
      'the connection that has waited longest is next',
    );
  });

  test('admits no response of a user with too many unsent bytes until some are sent', async () => {
    const admission = createAdmission();
    const fullConnection = admission.connect('ann');
    fullConnection.setUnsent(500 * kibibyte);
    const waitingSubscriptions = new Subscriptions(admission.connect('ann'), 3);
    const otherSubscriptions = new Subscriptions(admission.connect('bob'), 1);
    await settle();
    assert.deepEqual(waitingSubscriptions.started, []);
    assert.deepEqual(otherSubscriptions.started, [0]);
    fullConnection.setUnsent(499 * kibibyte);
    await settle();
    assert.deepEqual(waitingSubscriptions.started, [0]);
  });

  test('counts the bytes of many small responses together', async () => {
    const admission = createAdmission();
    const connections = Array.from({ length: 500 }, () => admission.connect('ann'));
    connections.forEach((connection) => connection.setUnsent(kibibyte));
    const waitingSubscriptions = new Subscriptions(admission.connect('ann'), 1);
    await settle();
    assert.deepEqual(waitingSubscriptions.started, []);
    assert.throws(() => admission.reserveBody('ann', 1), isUnavailable);
    connections[0]!.setUnsent(0);
    await settle();
    assert.deepEqual(waitingSubscriptions.started, [0]);
  });

  test('admits responses of other users while several users read nothing', async () => {
    const admission = createAdmission();
    for (let number = 0; number < 3; number++) {
      const connection = admission.connect(`user ${number}`);
      let unsent = 0;
      // Each response leaves 50 KiB unsent.
      for (;;) {
        const subscriptions = new Subscriptions(connection, 1);
        await settle();
        if (subscriptions.started.length === 0) {
          subscriptions.stopping.abort();
          break;
        }
        connection.setUnsent((unsent += 50 * kibibyte));
        await subscriptions.finish(0);
      }
    }
    const otherSubscriptions = new Subscriptions(admission.connect('bob'), 1);
    await settle();
    assert.deepEqual(otherSubscriptions.started, [0]);
  });

  test('does not delay other connections of a user whose client does not read one', async () => {
    const admission = new Admission(
      { isMemoryShort: false, isBehind: false },
      { ...limits, bodyBytes: 1e9, bodyBytesPerUser: 1e9 },
      () => 0,
    );
    const unreadConnection = admission.connect('ann');
    unreadConnection.setUnsent(1024 * kibibyte);
    const waitingSubscriptions = new Subscriptions(unreadConnection, 5);
    const readSubscriptions = new Subscriptions(admission.connect('ann'), 5);
    await settle();
    assert.deepEqual(waitingSubscriptions.started, []);
    assert.deepEqual(readSubscriptions.started, [0]);
    unreadConnection.setUnsent(1023 * kibibyte);
    await settle();
    assert.deepEqual(waitingSubscriptions.started, [0]);
  });

  test('serves other users after a few milliseconds', async () => {
    let ms = 0;
    const admission = createAdmission(undefined, () => ms);
    const sent: string[] = [];
    const send = (userId: string) => {
      const slot = new ResponseSlot(admission.connect(userId), new AbortController().signal);
      const done = slot.compute(() => {
        ms += 4;
        sent.push(userId);
      });
      if (done instanceof Promise) void done.then(() => slot.release());
      else slot.release();
    };
    for (let number = 0; number < 9; number++) send('ann');
    send('bob');
    assert.deepEqual(sent, ['ann', 'ann', 'ann']);
    await settle();
    assert.deepEqual(sent.length, 6);
    await settle();
    assert.ok(sent.includes('bob'), 'each round begins with another user');
    while (sent.length < 10) await settle();
  });

  test('never admits a response that is stopped while it waits', async () => {
    const admission = createAdmission();
    const connection = admission.connect('ann');
    connection.setUnsent(500 * kibibyte);
    const stoppedSubscriptions = new Subscriptions(connection, 5);
    const nextSubscriptions = new Subscriptions(connection, 1);
    await settle();
    stoppedSubscriptions.stopping.abort();
    for (const result of stoppedSubscriptions.results) await assert.rejects(result, isUnavailable);
    connection.setUnsent(0);
    await settle();
    assert.deepEqual(stoppedSubscriptions.started, []);
    assert.deepEqual(nextSubscriptions.started, [0]);
  });

  test('counts a stopped response until its computation ends', async () => {
    const admission = createAdmission();
    const connections = [admission.connect('ann'), admission.connect('ann'), admission.connect('ann')];
    const [first, , third] = connections.map((connection) => new Subscriptions(connection, 2));
    await settle();
    first!.stopping.abort();
    await settle();
    assert.deepEqual(third!.started, []);
    await first!.finish(0);
    assert.deepEqual(third!.started, [0]);
  });

  test('releases the slot of a response that fails', async () => {
    const admission = createAdmission();
    const connection = admission.connect('ann');
    for (let number = 0; number < 10; number++) {
      const slot = new ResponseSlot(connection, new AbortController().signal);
      await assert.rejects(
        slot.compute(() => Promise.reject(new Error('failed'))),
        /failed/,
      );
    }
  });

  test('waits while memory is short, and continues without an event', async () => {
    const load = { isMemoryShort: true, isBehind: false };
    const subscriptions = new Subscriptions(createAdmission(load).connect('ann'), 1);
    await settle();
    assert.deepEqual(subscriptions.started, []);
    load.isMemoryShort = false;
    // The retry does not keep a process alive.
    const alive = setInterval(() => undefined, 1_000);
    while (subscriptions.started.length === 0) await settle();
    clearInterval(alive);
  });
});

describe('the memory for requests of open operations', () => {
  test('is limited in total and per user', () => {
    const open = (admission: Admission, userId: string, bytes: number) => {
      let count = 0;
      try {
        for (;;) {
          admission.reserveRequest(userId, bytes);
          count++;
        }
      } catch (error) {
        assert.ok(isUnavailable(error));
        return count;
      }
    };
    const admission = createAdmission();
    assert.equal(open(admission, 'ann', 400), 250);
    assert.equal(open(admission, 'bob', 400), 250);
    assert.equal(open(admission, 'cid', 400), 0);
    assert.ok(open(createAdmission(), 'ann', 8 * kibibyte) < 3);
  });

  test('is released when the operation ends', () => {
    const admission = createAdmission();
    for (let number = 0; number < 1_000; number++) admission.reserveRequest('ann', 8 * kibibyte)();
  });
});

function isUnavailable(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'UNAVAILABLE';
}
