import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import {
  reportToAll,
  createAccessLog,
  traceIdOf,
  type FinishedRequest,
  type ReportRequest,
} from './access-log.ts';

const finishedRequest: FinishedRequest = {
  requestId: 'abc-1',
  method: 'POST',
  route: '/graphql',
  status: 200,
  ms: 1.23456,
  userId: '6f1c',
  traceparent: undefined,
};

function linesOf(level: string, use: (report: ReportRequest) => void) {
  const lines: string[] = [];
  const timestamp = () => ',"time":1794848040554';
  const log = pino({ level, timestamp }, { write: (line) => void lines.push(line) }).child({ worker: 2 });
  const report = createAccessLog(log);
  if (report) use(report);
  return lines.map((line) => {
    const { time, pid, hostname, ...rest } = JSON.parse(line) as Record<string, unknown>;
    assert.ok(time === 1_794_848_040_554 && typeof pid === 'number' && typeof hostname === 'string');
    return rest;
  });
}

test('writes one line with the fields of the request in a fixed order', () => {
  const [line] = linesOf('info', (report) => report(finishedRequest));
  assert.deepEqual(Object.entries(line!), [
    ['level', 30],
    ['worker', 2],
    ['requestId', 'abc-1'],
    ['method', 'POST'],
    ['route', '/graphql'],
    ['status', 200],
    ['ms', 1.235],
    ['userId', '6f1c'],
    ['msg', 'request'],
  ]);
});

test('adds the escaped code and address of a refused request', () => {
  const refusal = { code: 'INVALID_CREDENTIALS', address: '"}\n{' };
  const [line] = linesOf('info', (report) =>
    report({ ...finishedRequest, route: undefined, status: 401, userId: undefined, refusal }),
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

test('logs probes at debug level only', () => {
  const probe = { ...finishedRequest, isProbe: true };
  assert.deepEqual(
    linesOf('info', (report) => report(probe)),
    [],
  );
  assert.deepEqual(linesOf('debug', (report) => report(probe))[0]!['level'], 20);
});

test('createAccessLog() returns undefined if the log level excludes its lines', () => {
  const log = pino({ level: 'warn' }, { write: () => assert.fail() });
  assert.equal(createAccessLog(log), undefined);
});

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentId = 'b7ad6b7169203331';

for (const [ms, written] of [
  [0, 0],
  [0.0004, 0],
  [0.0206, 0.021],
  [0.9996, 1],
  [12, 12],
  [3_600_000.5, 3_600_000.5],
] as const) {
  test(`writes ${ms} ms as ${written}`, () => {
    const [line] = linesOf('info', (report) => report({ ...finishedRequest, ms }));
    assert.equal(line!['ms'], written);
  });
}

test('logs the trace id that the client sent', () => {
  const traceparent = `00-${traceId}-${parentId}-01`;
  const [line] = linesOf('info', (report) => report({ ...finishedRequest, traceparent }));
  assert.equal(line!['traceId'], traceId);
});

for (const [what, header] of [
  ['another format', 'hello","admin":"'],
  ['no trace', `00-${'0'.repeat(32)}-${parentId}-01`],
  ['no parent', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['an invalid version', `ff-${traceId}-${parentId}-01`],
  ['more fields than its version has', `00-${traceId}-${parentId}-01-more`],
  ['capital letters', `00-${traceId.toUpperCase()}-${parentId}-01`],
] as const) {
  test(`logs no trace id for a header with ${what}`, () => {
    assert.equal(traceIdOf(header), undefined);
    const [line] = linesOf('info', (report) => report({ ...finishedRequest, traceparent: header }));
    assert.ok(line && !('traceId' in line));
  });
}

test('traceIdOf() accepts more fields in a later version of the header', () => {
  assert.equal(traceIdOf(`01-${traceId}-${parentId}-01-more`), traceId);
});

test('reportToAll() calls all functions, one after another', () => {
  const reported: string[] = [];
  const report = reportToAll(
    undefined,
    () => reported.push('one'),
    () => reported.push('two'),
    () => reported.push('three'),
  );
  report!(finishedRequest);
  assert.deepEqual(reported, ['one', 'two', 'three']);
  assert.equal(reportToAll(undefined), undefined);
});
