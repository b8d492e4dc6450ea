import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { FairScheduler, type Scheduler, type Task } from './fair-scheduler.ts';

/** Takes longer than a time slice. */
function workHard(): void {
  const end = performance.now() + 10;
  while (performance.now() < end);
}

/** `order` lists the users in the order in which their work ran. */
function createRequests(scheduler: Scheduler) {
  const order: string[] = [];
  const request = async (name: string, work: () => void = workHard) =>
    scheduler.run(name, () => {
      order.push(name);
      work();
    });
  return { order, request };
}

test('runs short work synchronously', () => {
  const scheduler = new FairScheduler();
  assert.equal(
    scheduler.run('anna', () => 'done'),
    'done',
  );
});

test('lets the event loop run between a long slice and the next task', async () => {
  const scheduler = new FairScheduler();
  const order: string[] = [];
  void scheduler.run('anna', workHard);
  const waiting = scheduler.run('bert', () => void order.push('bert'));
  order.push('something else');
  await waiting;
  assert.deepEqual(order, ['something else', 'bert']);
});

test('serves users in turn, with a round of the event loop between long slices', async () => {
  const { order, request } = createRequests(new FairScheduler());
  void request('first');
  const waiting = ['anna', 'anna', 'anna', 'bert', 'bert', 'carl'].map((name) => request(name));
  let isOver = false;
  const done = Promise.all(waiting).then(() => (isOver = true));
  let rounds = 0;
  for (; !isOver; rounds++) await nextRound();
  await done;
  assert.deepEqual(order.slice(0, 4), ['first', 'anna', 'bert', 'carl']);
  assert.deepEqual(order.toSorted(), ['anna', 'anna', 'anna', 'bert', 'bert', 'carl', 'first']);
  assert.ok(rounds >= waiting.length, String(rounds));
});

test('serves the user with the least used time next', async () => {
  const { order, request } = createRequests(new FairScheduler());
  const hard = Array.from({ length: 5 }, () => ['anna', 'bert'].map((name) => request(name)));
  await Promise.race(hard[1]!);
  const before = order.length;
  await request('carl', () => undefined);
  await request('carl', () => undefined);
  // At most one task of another user ran in between.
  assert.deepEqual([order[before], order[before + 2]], ['carl', 'carl'], order.join());
  await Promise.all(hard.flat());
});

/** How many tasks ran between the position `since` and the next task of a user. */
function tasksUntil(order: readonly string[], name: string, since: number): number {
  return order.indexOf(name, since) - since;
}

test('does not charge a user for the time that a write waits', async () => {
  const scheduler = new FairScheduler();
  const { order, request } = createRequests(scheduler);
  const hash = Promise.withResolvers<void>();
  const others = Array.from({ length: 15 }, () => ['bert', 'carl'].map((name) => request(name))).flat();
  const change = scheduler.runWrite('anna', () => hash.promise);
  await others[14];
  hash.resolve();
  await change;
  const since = order.length;
  await request('anna', () => undefined);
  assert.ok(tasksUntil(order, 'anna', since) <= 1, order.join());
  await Promise.all(others);
});

test('limits the wait of a user who has used much time', async () => {
  const { order, request } = createRequests(new FairScheduler({ maxAheadMs: 30 }));
  void request('first');
  const others = Array.from({ length: 20 }, () => ['bert', 'carl'].map((name) => request(name))).flat();
  await request('anna', () => {
    for (let time = 0; time < 15; time++) workHard();
  });
  const since = order.length;
  await request('anna');
  assert.ok(tasksUntil(order, 'anna', since) <= 10, order.join());
  await Promise.all(others);
});

test('limits the time in which a new user is served before the others', async () => {
  const { order, request } = createRequests(new FairScheduler({ maxAheadMs: 30 }));
  const old = Array.from({ length: 40 }, () => request('anna'));
  await old[19];
  const since = order.length;
  const young = Array.from({ length: 20 }, () => request('dora'));
  await old[20];
  assert.ok(tasksUntil(order, 'dora', since) <= 1, order.join());
  assert.ok(tasksUntil(order, 'anna', since + 1) <= 6, order.join());
  await Promise.all([...old, ...young]);
});

test('limits the time in which a returning user is served before the others', async () => {
  let ms = 0;
  const scheduler = new FairScheduler({ now: () => ms });
  const order: string[] = [];
  const request = (name: string) =>
    scheduler.schedule(name, () => {
      ms += 5;
      order.push(name);
    });
  const busy = Array.from({ length: 400 }, () => request('anna'));
  await busy[300];
  const since = order.length;
  const idle = Array.from({ length: 60 }, () => request('dora'));
  await busy[302];
  assert.ok(tasksUntil(order, 'anna', since + 1) <= 6, order.slice(since).join());
  await Promise.all([...busy, ...idle]);
});

test('does not charge a user for the time that a task waits for the database', async () => {
  let ms = 0;
  const scheduler = new FairScheduler({ now: () => ms });
  const order: string[] = [];
  const answer = Promise.withResolvers<void>();
  const waiting = scheduler.run('anna', async (task) => {
    task.pause();
    await answer.promise;
    task.resume();
  });
  const others = Array.from({ length: 10 }, () =>
    scheduler.schedule('bert', () => {
      ms += 5;
      order.push('bert');
    }),
  );
  await others[4];
  ms += 500;
  answer.resolve();
  await waiting;
  const since = order.length;
  await scheduler.schedule('anna', () => void order.push('anna'));
  assert.ok(tasksUntil(order, 'anna', since) <= 2, order.join());
  await Promise.all(others);
});

test('serves new users in the order of their arrival', async () => {
  const scheduler = new FairScheduler();
  void scheduler.run('anna', workHard);
  const names = Array.from({ length: 20 }, (_, number) => `user ${number}`);
  const done: string[] = [];
  await Promise.all(names.map(async (name) => scheduler.run(name, () => void done.push(name))));
  assert.deepEqual(done, names);
});

test('starts at most one scheduled task per round of the event loop', async () => {
  const scheduler = new FairScheduler();
  const startOrder: string[] = [];
  const long = (name: string) =>
    scheduler.schedule(name, async () => {
      startOrder.push(name);
      await nextRound();
    });
  const all = [long('anna'), long('bert')];
  assert.deepEqual(startOrder, []);
  await nextRound();
  assert.ok(startOrder.length <= 1);
  await Promise.all(all);
  assert.deepEqual(startOrder, ['anna', 'bert']);
});

test('passes an error only to the caller of the failed task', async () => {
  const scheduler = new FairScheduler();
  const fail = () => {
    workHard();
    throw new Error('no');
  };
  assert.throws(() => scheduler.run('anna', fail), /no/);
  const later = Promise.resolve(scheduler.run<void>('anna', fail));
  const next = scheduler.run('bert', () => 'done');
  await assert.rejects(later, /no/);
  assert.equal(await next, 'done');
});

describe('long tasks', () => {
  /** A scheduler whose event loop advances by one round per `step`. */
  function createSteppedScheduler(options = {}) {
    const callbacks: (() => void)[] = [];
    let ms = 0;
    const scheduler = new FairScheduler({
      defer: (resume) => void callbacks.push(resume),
      now: () => ms,
      maxRows: 10,
      ...options,
    });
    const step = async () => {
      callbacks.shift()?.();
      for (let microtask = 0; microtask < 20; microtask++) await Promise.resolve();
    };
    return { scheduler, step, spend: (more: number) => void (ms += more) };
  }

  /** Examines ten rows in each step. */
  const work = (order: string[], name: string, steps: number) => async (task: Task) => {
    for (let step = 0; step < steps; step++) {
      await task.yieldBefore(10);
      order.push(name);
    }
  };

  test('let another user begin between two slices', async () => {
    const { scheduler, step, spend } = createSteppedScheduler();
    const order: string[] = [];
    const spending = async (task: Task) => {
      for (let slice = 0; slice < 5; slice++) {
        await task.yieldBefore(10);
        order.push('anna');
        spend(5);
      }
    };
    const long = scheduler.schedule('anna', spending);
    for (let round = 0; order.length < 2; round++) await step();
    const short = scheduler.run('bert', () => void order.push('bert'));
    for (let round = 0; order.length < 6; round++) await step();
    await Promise.all([long, short]);
    assert.ok(order.indexOf('bert') <= 3, order.join());
  });

  test('fail when their signal is aborted', async () => {
    const { scheduler, step } = createSteppedScheduler();
    const order: string[] = [];
    const gone = new AbortController();
    const long = scheduler.schedule('anna', work(order, 'anna', 5), { signal: gone.signal });
    const failed = assert.rejects(long, /The client no longer waits/);
    for (let round = 0; order.length < 2; round++) await step();
    gone.abort();
    for (let round = 0; round < 20; round++) await step();
    await failed;
    assert.equal(order.length, 2);
    const never = scheduler.schedule('anna', () => void order.push('never'), { signal: gone.signal });
    const refused = assert.rejects(never, /The client no longer waits/);
    for (let round = 0; round < 20; round++) await step();
    await refused;
    assert.equal(order.length, 2);
  });

  test('of one user are limited in number, and do not delay other users', async () => {
    const { scheduler, step } = createSteppedScheduler({ maxRunning: 2 });
    const startOrder: string[] = [];
    const gate = Promise.withResolvers<void>();
    const hold = (name: string) => scheduler.run(name, () => (startOrder.push(name), gate.promise));
    const all = ['anna', 'anna', 'anna', 'anna', 'bert'].map(hold);
    for (let round = 0; round < 20; round++) await step();
    assert.deepEqual(startOrder, ['anna', 'anna', 'bert']);
    gate.resolve();
    for (let round = 0; round < 20; round++) await step();
    await Promise.all(all.map(async (each) => each));
    assert.equal(startOrder.length, 5);
  });
});
