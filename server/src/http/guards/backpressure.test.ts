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

function createPressure(load = { isMemoryShort: false, isBehind: false }, now = () => 0): Admission {
  return new Admission(load, limits, now);
}

/** Many subscriptions of one connection, each with a response to compute; it ends when `finish` is called. */
class Crowd {
  readonly slots: ResponseSlot[] = [];
  readonly started: number[] = [];
  readonly stopping = new AbortController();
  readonly results: Promise<number>[] = [];
  readonly #gates = new Map<number, () => void>();

  constructor(room: ConnectionBackpressure, count: number) {
    for (let number = 0; number < count; number++) {
      const slot = new ResponseSlot(room, this.stopping.signal);
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

describe('room for responses', () => {
  test('computes one response of a connection and two of a user at the same time', async () => {
    const pressure = createPressure();
    const crowds = Array.from({ length: 3 }, () => new Crowd(pressure.connect('ann'), 10));
    await settle();
    assert.deepEqual(
      crowds.map(({ started }) => started),
      [[0], [0], []],
    );
    const other = new Crowd(pressure.connect('bob'), 1);
    await settle();
    assert.deepEqual(other.started, [0], 'another user does not wait');
    await crowds[0]!.finish(0);
    assert.deepEqual(
      crowds.map(({ started }) => started),
      [[0], [0], [0]],
      'the connection that has waited longest is next',
    );
  });

  test('computes nothing for a user whose unsent responses take all the room, until some are sent', async () => {
    const pressure = createPressure();
    const silent = pressure.connect('ann');
    silent.setUnsent(500 * kibibyte);
    const waiting = new Crowd(pressure.connect('ann'), 3);
    const other = new Crowd(pressure.connect('bob'), 1);
    await settle();
    assert.deepEqual(waiting.started, []);
    assert.deepEqual(other.started, [0]);
    silent.setUnsent(499 * kibibyte);
    await settle();
    assert.deepEqual(waiting.started, [0]);
  });

  test('counts small responses like large ones', async () => {
    const pressure = createPressure();
    const rooms = Array.from({ length: 500 }, () => pressure.connect('ann'));
    rooms.forEach((room) => room.setUnsent(kibibyte));
    const waiting = new Crowd(pressure.connect('ann'), 1);
    await settle();
    assert.deepEqual(waiting.started, []);
    assert.throws(() => pressure.reserveBody('ann', 1), isUnavailable);
    rooms[0]!.setUnsent(0);
    await settle();
    assert.deepEqual(waiting.started, [0]);
  });

  test('leaves room for others when several users read nothing', async () => {
    const pressure = createPressure();
    for (let number = 0; number < 3; number++) {
      const room = pressure.connect(`user ${number}`);
      let unsent = 0;
      // Each takes what it gets: 50 KiB for every response.
      for (;;) {
        const crowd = new Crowd(room, 1);
        await settle();
        if (crowd.started.length === 0) {
          crowd.stopping.abort();
          break;
        }
        room.setUnsent((unsent += 50 * kibibyte));
        await crowd.finish(0);
      }
    }
    const honest = new Crowd(pressure.connect('bob'), 1);
    await settle();
    assert.deepEqual(honest.started, [0]);
  });

  test('a connection that is not read does not delay the others of its user', async () => {
    const pressure = new Admission(
      { isMemoryShort: false, isBehind: false },
      { ...limits, bodyBytes: 1e9, bodyBytesPerUser: 1e9 },
      () => 0,
    );
    const asleep = pressure.connect('ann');
    asleep.setUnsent(1024 * kibibyte);
    const waiting = new Crowd(asleep, 5);
    const awake = new Crowd(pressure.connect('ann'), 5);
    await settle();
    assert.deepEqual(waiting.started, []);
    assert.deepEqual(awake.started, [0]);
    asleep.setUnsent(1023 * kibibyte);
    await settle();
    assert.deepEqual(waiting.started, [0]);
  });

  test('responses that are in memory are sent for a few milliseconds, then others are served', async () => {
    let ms = 0;
    const pressure = createPressure(undefined, () => ms);
    const sent: string[] = [];
    const send = (userId: string) => {
      const slot = new ResponseSlot(pressure.connect(userId), new AbortController().signal);
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

  test('what is stopped while it waits is never computed, and makes way', async () => {
    const pressure = createPressure();
    const room = pressure.connect('ann');
    room.setUnsent(500 * kibibyte);
    const stopped = new Crowd(room, 5);
    const next = new Crowd(room, 1);
    await settle();
    stopped.stopping.abort();
    for (const result of stopped.results) await assert.rejects(result, isUnavailable);
    room.setUnsent(0);
    await settle();
    assert.deepEqual(stopped.started, []);
    assert.deepEqual(next.started, [0]);
  });

  test('what is stopped while it is computed takes room until it ends', async () => {
    const pressure = createPressure();
    const rooms = [pressure.connect('ann'), pressure.connect('ann'), pressure.connect('ann')];
    const [first, , third] = rooms.map((room) => new Crowd(room, 2));
    await settle();
    first!.stopping.abort();
    await settle();
    assert.deepEqual(third!.started, []);
    await first!.finish(0);
    assert.deepEqual(third!.started, [0]);
  });

  test('a response that fails gives its room back', async () => {
    const pressure = createPressure();
    const room = pressure.connect('ann');
    for (let number = 0; number < 10; number++) {
      const slot = new ResponseSlot(room, new AbortController().signal);
      await assert.rejects(
        slot.compute(() => Promise.reject(new Error('failed'))),
        /failed/,
      );
    }
  });

  test('waits while memory is short, and goes on by itself', async () => {
    const load = { isMemoryShort: true, isBehind: false };
    const crowd = new Crowd(createPressure(load).connect('ann'), 1);
    await settle();
    assert.deepEqual(crowd.started, []);
    load.isMemoryShort = false;
    // The retry does not keep a process alive.
    const alive = setInterval(() => undefined, 1_000);
    while (crowd.started.length === 0) await settle();
    clearInterval(alive);
  });
});

describe('requests of open operations', () => {
  test('small ones are many, large ones are few, and those of one user leave room for others', () => {
    const open = (pressure: Admission, userId: string, bytes: number) => {
      let count = 0;
      try {
        for (;;) {
          pressure.reserveRequest(userId, bytes);
          count++;
        }
      } catch (error) {
        assert.ok(isUnavailable(error));
        return count;
      }
    };
    const pressure = createPressure();
    assert.equal(open(pressure, 'ann', 400), 250);
    assert.equal(open(pressure, 'bob', 400), 250);
    assert.equal(open(pressure, 'cid', 400), 0);
    assert.ok(open(createPressure(), 'ann', 8 * kibibyte) < 3);
  });

  test('one that ends makes room', () => {
    const pressure = createPressure();
    for (let number = 0; number < 1_000; number++) pressure.reserveRequest('ann', 8 * kibibyte)();
  });
});

function isUnavailable(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'UNAVAILABLE';
}
