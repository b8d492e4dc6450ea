import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../config/start-error.ts';
import { parseTime } from './flag-values.ts';

const now = Date.parse('2026-11-15T16:50:00Z');

test('reads a time without an offset as UTC', () => {
  const expected = {
    '2026-11-15': '2026-11-15T00:00:00.000Z',
    '2026-11-15 16:50': '2026-11-15T16:50:00.000Z',
    '2026-11-15T16:50:07': '2026-11-15T16:50:07.000Z',
    '2026-11-15T16:50:07.250z': '2026-11-15T16:50:07.250Z',
    '2026-11-15T18:50:00+02:00': '2026-11-15T16:50:00.000Z',
    '2024-02-29': '2024-02-29T00:00:00.000Z',
  };
  for (const [text, at] of Object.entries(expected)) assert.equal(parseTime('--from', text, now), at, text);
});

test('reads a duration as the time before now', () => {
  const expected = {
    '90s': '2026-11-15T16:48:30.000Z',
    '30m': '2026-11-15T16:20:00.000Z',
    '12h': '2026-11-15T04:50:00.000Z',
    '7d': '2026-11-08T16:50:00.000Z',
  };
  for (const [text, at] of Object.entries(expected)) assert.equal(parseTime('--from', text, now), at, text);
});

test('rejects an invalid time with examples of valid times', () => {
  const wrong = [
    '',
    'yesterday',
    '2026-02-30',
    '2026-13-01',
    '2026-11-15 25:00',
    '15.11.2026',
    '7w',
    '-1d',
    '999999999d',
    '2026-11-15T16:50+2',
  ];
  for (const text of wrong) {
    assert.throws(
      () => parseTime('--from', text, now),
      (error) =>
        error instanceof UsageError && /^Invalid value "[^]*" for --from: use a time/.test(error.message),
      text,
    );
  }
});
