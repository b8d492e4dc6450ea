import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EspalierError } from '@espalier/client';
import { exportJournal, type ExportPage, type ExportVariables, type Progress } from './journal-export.ts';

const entry = (number: number): ExportPage['journal']['items'][number] => ({
  number,
  at: '2026-11-15T16:50:07.123Z',
  kind: 'CREATE_GROUP',
  byId: null,
  by: null,
  folderId: null,
  folder: null,
  userId: null,
  user: null,
  groupId: null,
  group: null,
  sessionId: null,
  before: null,
  after: null,
});

/** Creates a journal with this many entries, latest first, that returns at most `most` entries per page. */
function journalOf(count: number, most = 1_000) {
  const asked: ExportVariables[] = [];
  const ask = (variables: ExportVariables): Promise<ExportPage> => {
    asked.push(variables);
    const { first, after, isFirst } = variables;
    if (first > most) return Promise.reject(new EspalierError('TOO_EXPENSIVE', 'Too much.'));
    const before = after === null ? count + 1 : Number(after);
    const numbers = Array.from({ length: Math.min(first, before - 1) }, (_, place) => before - 1 - place);
    const endCursor = String(numbers.at(-1) ?? 0);
    return Promise.resolve({
      journal: {
        ...(isFirst ? { totalCount: count } : {}),
        items: numbers.map(entry),
        pageInfo: { hasNextPage: Number(endCursor) > 1, endCursor },
      },
    });
  };
  return { ask, asked };
}

async function exported(count: number, most?: number) {
  const { ask, asked } = journalOf(count, most);
  const told: Progress[] = [];
  const parts = await exportJournal({ byId: 'a' }, ask, (progress) => told.push(progress));
  const numbers = parts
    .join('')
    .split('\r\n')
    .slice(1, -1)
    .map((line) => Number(line.split(',')[0]));
  return { numbers, told, asked };
}

test('writes every entry once, page by page, and reports its progress', async () => {
  const { numbers, told, asked } = await exported(2_345);
  assert.deepEqual(
    numbers,
    Array.from({ length: 2_345 }, (_, place) => 2_345 - place),
  );
  assert.deepEqual(told, [
    { done: 1_000, total: 2_345 },
    { done: 2_000, total: 2_345 },
    { done: 2_345, total: 2_345 },
  ]);
  assert.ok(asked.every(({ filter }) => filter.byId === 'a'));
});

test('writes only the header row for an empty journal', async () => {
  const { numbers, told } = await exported(0);
  assert.deepEqual(numbers, []);
  assert.deepEqual(told, [{ done: 0, total: 0 }]);
});

test('halves the page size when a page is too expensive', async () => {
  const { numbers, asked } = await exported(600, 300);
  assert.equal(numbers.length, 600);
  assert.deepEqual(
    asked.map(({ first }) => first),
    [1_000, 500, 250, 250, 250],
  );
});

test('rejects after an error or an abort', async () => {
  const stopped = new Error('stopped');
  await assert.rejects(
    exportJournal(
      {},
      () => Promise.reject(stopped),
      () => undefined,
    ),
    stopped,
  );
});
