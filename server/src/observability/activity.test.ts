import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Activity, maxMinutes } from './activity.ts';

const minuteMs = 60_000;

function countingFrom(now: number) {
  const clock = { now: () => now };
  const activity = new Activity(clock);
  return { activity, advance: (ms: number) => void (now += ms) };
}

test('returns the counts of each minute, including minutes without counts', () => {
  const { activity, advance } = countingFrom(10 * minuteMs + 59_999);
  activity.count('requests');
  advance(1);
  activity.count('requests');
  activity.count('logins');
  advance(2 * minuteMs);
  const nothing = { requests: 0, errors: 0, logins: 0, failedLogins: 0, refreshes: 0 };
  assert.deepEqual(activity.lastMinutes(4), [
    { ...nothing, requests: 1, at: 10 * minuteMs },
    { ...nothing, requests: 1, logins: 1, at: 11 * minuteMs },
    { ...nothing, at: 12 * minuteMs },
    { ...nothing, at: 13 * minuteMs },
  ]);
});

test('drops counts after an hour', () => {
  const { activity, advance } = countingFrom(0);
  activity.count('errors');
  advance((maxMinutes - 1) * minuteMs);
  assert.equal(activity.lastMinutes(maxMinutes)[0]!.errors, 1);
  advance(minuteMs);
  activity.count('errors');
  const errors = activity.lastMinutes(maxMinutes).map((each) => each.errors);
  assert.deepEqual(errors, [...Array<number>(maxMinutes - 1).fill(0), 1]);
});

test('returns no counts of later minutes after the clock was set back', () => {
  const { activity, advance } = countingFrom(100 * minuteMs);
  activity.count('refreshes');
  advance(-50 * minuteMs);
  assert.ok(activity.lastMinutes(maxMinutes).every(({ refreshes }) => refreshes === 0));
});
