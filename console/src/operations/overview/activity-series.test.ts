import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  allSeries,
  findBusiest,
  roundCeiling,
  formatCount,
  describeSeries,
  formatBytes,
  formatLogCommand,
  type ActivityMinute,
} from './activity-series.ts';

const requests = allSeries.find(({ key }) => key === 'requests')!;
const failedLogins = allSeries.find(({ key }) => key === 'failedLogins')!;
const minutes = [3, 1200, 1200, 1].map((count, index): ActivityMinute => ({
  at: `2026-11-15T14:0${index}:00.000Z`,
  requests: count,
  errors: 0,
  logins: 0,
  failedLogins: index === 0 ? 1 : 0,
  refreshes: 0,
}));
const clockText = (at: string) => at.slice(11, 16);

test('describes the total and the busiest minute', () => {
  assert.equal(
    describeSeries(requests, minutes, clockText),
    '2,404 requests in the last hour, most 1,200 at 14:01.',
  );
  assert.equal(
    describeSeries(failedLogins, minutes, clockText),
    '1 failed login in the last hour, most 1 at 14:00.',
  );
});

test('describes a series without counts', () => {
  assert.equal(describeSeries(requests, [], clockText), 'No requests in the last hour.');
  assert.equal(findBusiest(failedLogins, minutes.slice(1)), undefined);
  assert.equal(formatCount(requests, 0), '0 requests');
});

test('rounds the top of the chart up to a number above every bar', () => {
  assert.deepEqual(
    [0, 1, 3, 7, 10, 31, 99, 412, 1201].map(roundCeiling),
    [1, 1, 3, 8, 10, 40, 100, 500, 2000],
  );
});

test('starts the log search at the first minute with a count', () => {
  assert.equal(
    formatLogCommand(failedLogins, { condition: '.status == 401', explanation: '' }, minutes),
    `jq -cR 'fromjson? | select(.time >= ${Date.parse('2026-11-15T14:00:00.000Z')} and .status == 401)' espalier.log`,
  );
});

test('formats sizes with a unit', () => {
  assert.deepEqual([0, 999, 1_250, 5_400_000, 123_456_789_012].map(formatBytes), [
    '0 bytes',
    '999 bytes',
    '1.3 kB',
    '5.4 MB',
    '123 GB',
  ]);
});
