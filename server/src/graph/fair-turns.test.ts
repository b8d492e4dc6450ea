import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { createFairTurns } from './fair-turns.ts';

/** Longer than others may be kept waiting. */
function workHard(): void {
  const end = performance.now() + 10;
  while (performance.now() < end);
}

test('what is little is done at once, in the same breath', () => {
  const turns = createFairTurns();
  assert.equal(
    turns.take('anna', () => 'done'),
    'done',
  );
});

test('after hard work others wait until something else could be done', async () => {
  const turns = createFairTurns();
  const order: string[] = [];
  void turns.take('anna', workHard);
  const waiting = turns.take('bert', () => void order.push('bert'));
  order.push('something else');
  await waiting;
  assert.deepEqual(order, ['something else', 'bert']);
});

test('one of each person after the other, and something else between any two that are hard', async () => {
  const turns = createFairTurns();
  const order: string[] = [];
  const ask = async (name: string) =>
    turns.take(name, () => {
      order.push(name);
      workHard();
    });
  void ask('first');
  const waiting = ['anna', 'anna', 'anna', 'bert', 'bert', 'carl'].map(ask);
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
  const turns = createFairTurns();
  const order: string[] = [];
  const ask = async (name: string, work: () => void) =>
    turns.take(name, () => {
      order.push(name);
      work();
    });
  const hard = Array.from({ length: 5 }, () => ['anna', 'bert'].map((name) => ask(name, workHard)));
  await Promise.race(hard[1]!);
  const before = order.length;
  await ask('carl', () => undefined);
  await ask('carl', () => undefined);
  // At most one of the others came between.
  assert.deepEqual([order[before], order[before + 2]], ['carl', 'carl'], order.join());
  await Promise.all(hard.flat());
});

test('whoever comes while others wait does not overtake them', async () => {
  const turns = createFairTurns();
  void turns.take('anna', workHard);
  const names = Array.from({ length: 20 }, (_, number) => `person ${number}`);
  const done: string[] = [];
  await Promise.all(names.map(async (name) => turns.take(name, () => void done.push(name))));
  assert.deepEqual(done, names);
});

test('what is known to take long waits in any case, and has its turn alone', async () => {
  const turns = createFairTurns();
  const begun: string[] = [];
  const long = (name: string) =>
    turns.wait(name, async () => {
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
  const turns = createFairTurns();
  const fail = () => {
    workHard();
    throw new Error('no');
  };
  assert.throws(() => turns.take('anna', fail), /no/);
  const later = Promise.resolve(turns.take<void>('anna', fail));
  const next = turns.take('bert', () => 'done');
  await assert.rejects(later, /no/);
  assert.equal(await next, 'done');
});
