import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { requestLog, telling, traceIdOf, type AnsweredRequest } from './request-log.ts';

const answered: AnsweredRequest = {
  requestId: 'abc-1',
  method: 'POST',
  route: '/graphql',
  status: 200,
  ms: 1.23456,
  userId: '6f1c',
  traceparent: undefined,
};

function linesOf(level: string, tell: (tell: NonNullable<ReturnType<typeof requestLog>>) => void) {
  const lines: string[] = [];
  const log = pino({ level }, { write: (line) => void lines.push(line) }).child({ worker: 2 });
  const teller = requestLog(log, { now: () => 1_794_848_040_554 });
  if (teller) tell(teller);
  return lines.map((line) => {
    const { time, pid, hostname, ...rest } = JSON.parse(line) as Record<string, unknown>;
    assert.ok(time === 1_794_848_040_554 && typeof pid === 'number' && typeof hostname === 'string');
    return rest;
  });
}

test('a line is as the logger itself would write it', () => {
  assert.deepEqual(
    linesOf('info', (tell) => tell(answered)),
    [
      {
        level: 30,
        worker: 2,
        requestId: 'abc-1',
        method: 'POST',
        route: '/graphql',
        status: 200,
        ms: 1.235,
        userId: '6f1c',
        msg: 'request',
      },
    ],
  );
});

test('of a refused one it says why, and who was, whatever they call themselves', () => {
  const refused = { code: 'INVALID_CREDENTIALS', address: '"}\n{' };
  const [line] = linesOf('info', (tell) =>
    tell({ ...answered, route: undefined, status: 401, userId: undefined, refused }),
  );
  assert.deepEqual(line, {
    level: 30,
    worker: 2,
    requestId: 'abc-1',
    method: 'POST',
    status: 401,
    ms: 1.235,
    code: 'INVALID_CREDENTIALS',
    address: '"}\n{',
    msg: 'request',
  });
});

test('probes are told at debug only', () => {
  const probe = { ...answered, isProbe: true };
  assert.deepEqual(
    linesOf('info', (tell) => tell(probe)),
    [],
  );
  assert.deepEqual(linesOf('debug', (tell) => tell(probe))[0]!['level'], 20);
});

test('above info there is nobody to tell', () => {
  const log = pino({ level: 'warn' }, { write: () => assert.fail() });
  assert.equal(requestLog(log, { now: () => 0 }), undefined);
});

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentId = 'b7ad6b7169203331';

for (const [ms, shown] of [
  [0, 0],
  [0.0004, 0],
  [0.0206, 0.021],
  [0.9996, 1],
  [12, 12],
  [3_600_000.5, 3_600_000.5],
] as const) {
  test(`${ms} ms are written as ${shown}`, () => {
    const [line] = linesOf('info', (tell) => tell({ ...answered, ms }));
    assert.equal(line!['ms'], shown);
  });
}

test('the trace of the client is named', () => {
  const traceparent = `00-${traceId}-${parentId}-01`;
  const [line] = linesOf('info', (tell) => tell({ ...answered, traceparent }));
  assert.equal(line!['traceId'], traceId);
});

for (const [what, header] of [
  ['something else', 'hello","admin":"'],
  ['no trace', `00-${'0'.repeat(32)}-${parentId}-01`],
  ['no parent', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['a version that is none', `ff-${traceId}-${parentId}-01`],
  ['more than its version has', `00-${traceId}-${parentId}-01-more`],
  ['capital letters', `00-${traceId.toUpperCase()}-${parentId}-01`],
] as const) {
  test(`a header with ${what} names no trace`, () => {
    assert.equal(traceIdOf(header), undefined);
    const [line] = linesOf('info', (tell) => tell({ ...answered, traceparent: header }));
    assert.ok(line && !('traceId' in line));
  });
}

test('a later version may have more behind it', () => {
  assert.equal(traceIdOf(`01-${traceId}-${parentId}-01-more`), traceId);
});

test('several are told one after the other', () => {
  const told: string[] = [];
  const tell = telling(
    undefined,
    () => told.push('one'),
    () => told.push('two'),
    () => told.push('three'),
  );
  tell!(answered);
  assert.deepEqual(told, ['one', 'two', 'three']);
  assert.equal(telling(undefined), undefined);
});
