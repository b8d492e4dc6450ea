import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EspalierError } from '@espalier/client';
import {
  exportDocument,
  exportJournal,
  type ExportPage,
  type ExportVariables,
  type Progress,
} from './journal-export.ts';

const entry = (number: number): ExportPage['journal']['items'][number] => ({
  number,
  at: '2026-11-15T16:50:07.123Z',
  kind: 'CREATE_GROUP',
  byId: null,
  by: null,
  byApiKeyId: null,
  byApiKey: null,
  folderId: null,
  folder: null,
  path: null,
  formerPath: null,
  userId: null,
  user: null,
  groupId: null,
  group: null,
  sessionId: null,
  before: null,
  after: null,
});

/** Creates a journal with this many entries, latest first, that returns at most `maxFirst` entries per page. */
function createJournal(count: number, maxFirst = 1_000) {
  const requests: ExportVariables[] = [];
  const read = (variables: ExportVariables): Promise<ExportPage> => {
    requests.push(variables);
    const { first, after, isFirst } = variables;
    if (first > maxFirst) return Promise.reject(new EspalierError('TOO_EXPENSIVE', 'Too much.'));
    const before = after === null ? count + 1 : Number(after);
    const numbers = Array.from({ length: Math.min(first, before - 1) }, (_, index) => before - 1 - index);
    const endCursor = String(numbers.at(-1) ?? 0);
    return Promise.resolve({
      journal: {
        ...(isFirst ? { totalCount: count } : {}),
        items: numbers.map(entry),
        pageInfo: { hasNextPage: Number(endCursor) > 1, endCursor },
      },
    });
  };
  return { read, requests };
}

async function runExport(count: number, maxFirst?: number) {
  const { read, requests } = createJournal(count, maxFirst);
  const progress: Progress[] = [];
  const parts = await exportJournal({ byId: 'a' }, read, (step) => progress.push(step));
  const numbers = parts
    .join('')
    .split('\r\n')
    .slice(1, -1)
    .map((line) => Number(line.split(',')[0]));
  return { numbers, progress, requests };
}

test('requests every field of a row', () => {
  for (const field of Object.keys(entry(1))) assert.match(exportDocument, new RegExp(`\\b${field}\\b`));
});

test('writes every entry once, page by page, and reports its progress', async () => {
  const { numbers, progress, requests } = await runExport(2_345);
  assert.deepEqual(
    numbers,
    Array.from({ length: 2_345 }, (_, index) => 2_345 - index),
  );
  assert.deepEqual(progress, [
    { done: 1_000, total: 2_345 },
    { done: 2_000, total: 2_345 },
    { done: 2_345, total: 2_345 },
  ]);
  assert.ok(requests.every(({ filter }) => filter.byId === 'a'));
});

test('writes only the header row for an empty journal', async () => {
  const { numbers, progress } = await runExport(0);
  assert.deepEqual(numbers, []);
  assert.deepEqual(progress, [{ done: 0, total: 0 }]);
});

test('halves the page size when a page is too expensive', async () => {
  const { numbers, requests } = await runExport(600, 300);
  assert.equal(numbers.length, 600);
  assert.deepEqual(
    requests.map(({ first }) => first),
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
