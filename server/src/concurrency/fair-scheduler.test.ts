import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { FairScheduler, type Scheduler } from './fair-scheduler.ts';

/** Longer than others may be kept waiting. */
function workHard(): void {
  const end = performance.now() + 10;
  while (performance.now() < end);
}

/** Somebody asks for work, which is hard unless told; `order` is whose was done, one after the other. */
function asking(turns: Scheduler) {
  const order: string[] = [];
  const ask = async (name: string, work: () => void = workHard) =>
    turns.run(name, () => {
      order.push(name);
      work();
    });
  return { order, ask };
}

test('what is little is done at once, in the same breath', () => {
  const turns = new FairScheduler();
  assert.equal(
    turns.run('anna', () => 'done'),
    'done',
  );
});

test('after hard work others wait until something else could be done', async () => {
  const turns = new FairScheduler();
  const order: string[] = [];
  void turns.run('anna', workHard);
  const waiting = turns.run('bert', () => void order.push('bert'));
  order.push('something else');
  await waiting;
  assert.deepEqual(order, ['something else', 'bert']);
});

test('one of each person after the other, and something else between any two that are hard', async () => {
  const { order, ask } = asking(new FairScheduler());
  void ask('first');
  const waiting = ['anna', 'anna', 'anna', 'bert', 'bert', 'carl'].map((name) => ask(name));
  let isOver = false;
  const done = Promise.all(waiting).then(() => (isOver = true));
  let rounds = 0;
  for (; !isOver; rounds++) await nextRound();
  await done;
  assert.deepEqual(order.slice(0, 4), ['first', 'anna', 'bert', 'carl']);
  assert.deepEqual(order.toSorted(), ['anna', 'anna', 'anna', 'bert', 'bert', 'carl', 'first']);
  assert.ok(rounds >= waiting.length, String(rounds));
});

test('whoever has taken least is next, however many others wait', async () => {
  const { order, ask } = asking(new FairScheduler());
  const hard = Array.from({ length: 5 }, () => ['anna', 'bert'].map((name) => ask(name)));
  await Promise.race(hard[1]!);
  const before = order.length;
  await ask('carl', () => undefined);
  await ask('carl', () => undefined);
  // At most one of the others came between.
  assert.deepEqual([order[before], order[before + 2]], ['carl', 'carl'], order.join());
  await Promise.all(hard.flat());
});

/** Of what was done, in its order: how much came between a moment and somebody's turn. */
function turnsUntil(order: readonly string[], name: string, since: number): number {
  return order.indexOf(name, since) - since;
}

test('what a change waits for is nothing that it takes from others', async () => {
  const turns = new FairScheduler();
  const { order, ask } = asking(turns);
  const hash = Promise.withResolvers<void>();
  const others = Array.from({ length: 15 }, () => ['bert', 'carl'].map((name) => ask(name))).flat();
  const change = turns.runWrite('anna', () => hash.promise);
  await others[14];
  hash.resolve();
  await change;
  const since = order.length;
  await ask('anna', () => undefined);
  assert.ok(turnsUntil(order, 'anna', since) <= 1, order.join());
  await Promise.all(others);
});

test('who has taken much waits until the others have taken some, not as much', async () => {
  const { order, ask } = asking(new FairScheduler({ maxAheadMs: 30 }));
  void ask('first');
  const others = Array.from({ length: 20 }, () => ['bert', 'carl'].map((name) => ask(name))).flat();
  await ask('anna', () => {
    for (let time = 0; time < 15; time++) workHard();
  });
  const since = order.length;
  await ask('anna');
  assert.ok(turnsUntil(order, 'anna', since) <= 10, order.join());
  await Promise.all(others);
});

test('who is new is not before everybody for as long as they have been there', async () => {
  const { order, ask } = asking(new FairScheduler({ maxAheadMs: 30 }));
  const old = Array.from({ length: 40 }, () => ask('anna'));
  await old[19];
  const since = order.length;
  const young = Array.from({ length: 20 }, () => ask('dora'));
  await old[20];
  assert.ok(turnsUntil(order, 'dora', since) <= 1, order.join());
  assert.ok(turnsUntil(order, 'anna', since + 1) <= 6, order.join());
  await Promise.all([...old, ...young]);
});

test('serves a user who was idle for long before the others for a moment only', async () => {
  let ms = 0;
  const turns = new FairScheduler({ now: () => ms });
  const order: string[] = [];
  const ask = (name: string) =>
    turns.schedule(name, () => {
      ms += 5;
      order.push(name);
    });
  const busy = Array.from({ length: 400 }, () => ask('anna'));
  await busy[300];
  const since = order.length;
  const idle = Array.from({ length: 60 }, () => ask('dora'));
  await busy[302];
  assert.ok(turnsUntil(order, 'anna', since + 1) <= 6, order.slice(since).join());
  await Promise.all([...busy, ...idle]);
});

test('does not charge a user for what the database takes', async () => {
  let ms = 0;
  const turns = new FairScheduler({ now: () => ms });
  const order: string[] = [];
  const answer = Promise.withResolvers<void>();
  const waiting = turns.run('anna', async (task) => {
    task.pause();
    await answer.promise;
    task.resume();
  });
  const others = Array.from({ length: 10 }, () =>
    turns.schedule('bert', () => {
      ms += 5;
      order.push('bert');
    }),
  );
  await others[4];
  ms += 500;
  answer.resolve();
  await waiting;
  const since = order.length;
  await turns.schedule('anna', () => void order.push('anna'));
  assert.ok(turnsUntil(order, 'anna', since) <= 2, order.join());
  await Promise.all(others);
});

test('whoever comes while others wait does not overtake them', async () => {
  const turns = new FairScheduler();
  void turns.run('anna', workHard);
  const names = Array.from({ length: 20 }, (_, number) => `person ${number}`);
  const done: string[] = [];
  await Promise.all(names.map(async (name) => turns.run(name, () => void done.push(name))));
  assert.deepEqual(done, names);
});

test('what is known to take long waits in any case, and has its turn alone', async () => {
  const turns = new FairScheduler();
  const begun: string[] = [];
  const long = (name: string) =>
    turns.schedule(name, async () => {
      begun.push(name);
      await nextRound();
    });
  const all = [long('anna'), long('bert')];
  assert.deepEqual(begun, []);
  await nextRound();
  assert.ok(begun.length <= 1);
  await Promise.all(all);
  assert.deepEqual(begun, ['anna', 'bert']);
});

test('what fails is its own failure, at once or later, and nobody else waits longer', async () => {
  const turns = new FairScheduler();
  const fail = () => {
    workHard();
    throw new Error('no');
  };
  assert.throws(() => turns.run('anna', fail), /no/);
  const later = Promise.resolve(turns.run<void>('anna', fail));
  const next = turns.run('bert', () => 'done');
  await assert.rejects(later, /no/);
  assert.equal(await next, 'done');
});
