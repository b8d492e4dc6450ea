import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { pino } from 'pino';
import { eventually } from '../../../tests/support/eventually.ts';
import { withWriteLimit } from '../../../tests/support/write-limit.ts';
import { formatLogLine, LogDestination } from './log.ts';

let folder: string;
let file: string;
let descriptor: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
  file = join(folder, 'log');
  descriptor = openSync(file, 'a');
});
afterEach(() => {
  closeSync(descriptor);
  rmSync(folder, { recursive: true });
});
const messages = () =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: string }).msg);

test('writes lines that a full disk rejected, in order, as soon as there is space', async () => {
  const log = pino({}, new LogDestination(descriptor));
  log.info('before');
  await withWriteLimit(0, () => Promise.resolve(log.info('during')));
  assert.deepEqual(messages(), ['before']);
  log.info('after');
  assert.deepEqual(messages(), ['before', 'during', 'after']);
});

test('keeps only the first lines while it cannot write', async () => {
  const log = pino({}, new LogDestination(descriptor));
  const long = 'x'.repeat(100_000);
  await withWriteLimit(0, () => {
    for (let index = 0; index < 100; index++) log.info(`${index} ${long}`);
    return Promise.resolve();
  });
  log.info('lost');
  log.info('after');
  const indexes = messages().map((text) => text.split(' ')[0]);
  assert.deepEqual(indexes, ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '10', 'after']);
});

test('writes buffered lines of the access log before any other line', () => {
  const log = pino({}, new LogDestination(descriptor));
  log.info({ requestId: 'one' }, 'request');
  log.child({ worker: 1 }).info({ requestId: 'two' }, 'request');
  assert.equal(readFileSync(file, 'utf8'), '');
  log.info('three');
  assert.deepEqual(messages(), ['request', 'request', 'three']);
});

for (const level of ['warn', 'error', 'fatal'] as const) {
  test(`writes a line of level ${level} immediately, even with the message of the access log`, () => {
    const log = pino({}, new LogDestination(descriptor));
    log.info('request');
    log[level]('request');
    assert.deepEqual(messages(), ['request', 'request']);
  });
}

test('writes a failed line again even if no other line follows', async () => {
  const log = pino({}, new LogDestination(descriptor));
  await withWriteLimit(0, () => Promise.resolve(log.info('only')));
  await eventually(() => readFileSync(file, 'utf8') !== '', 'it is written');
  assert.deepEqual(messages(), ['only']);
});

test('buffers lines for a limited time and up to a maximum size', async () => {
  const log = pino({}, new LogDestination(descriptor));
  log.info({ address: 'x'.repeat(70_000) }, 'request');
  assert.deepEqual(messages(), ['request']);
  log.info('request');
  await eventually(() => messages().length === 2, 'it is written');
});

test('writes buffered lines when it is flushed', () => {
  const destination = new LogDestination(descriptor);
  pino({}, destination).info('request');
  destination.flush();
  assert.deepEqual(messages(), ['request']);
});

test('writes each line immediately and as text on a terminal', () => {
  const log = pino({ timestamp: () => ',"time":0' }, new LogDestination(descriptor, true));
  log.info({ method: 'GET', route: '/', status: 200, ms: 1 }, 'request');
  assert.match(readFileSync(file, 'utf8'), /^\d\d:\d\d:\d\d\.000 INFO {2}GET \/ 200 in 1 ms\n$/);
});

test('neither throws nor blocks if nothing can be written', () => {
  const full = openSync('/dev/full', 'w');
  const log = pino({}, new LogDestination(full));
  for (let index = 0; index < 1_000; index++) log.info('one of many');
  closeSync(full);
  log.info('closed');
});

const format = (line: Record<string, unknown>) =>
  formatLogLine(`${JSON.stringify({ level: 30, time: 0, pid: 1, hostname: 'here', ...line })}\n`).slice(13);

test('formats the method, route, status and duration of a request', () => {
  const facts = { requestId: 'r-1', method: 'POST', route: '/login', status: 401, ms: 12.5 };
  assert.equal(
    format({ ...facts, code: 'INVALID_CREDENTIALS', address: '::1', msg: 'request' }),
    'INFO  POST /login 401 in 12.5 ms  requestId=r-1  code=INVALID_CREDENTIALS  address=::1\n',
  );
});

test('formats a request without a route as "(no route)"', () => {
  const facts = { requestId: 'r-2', method: 'GET', status: 404, ms: 1 };
  assert.equal(format({ ...facts, msg: 'request' }), 'INFO  GET (no route) 404 in 1 ms  requestId=r-2\n');
});

test('formats a request that could not be parsed as "(no request)"', () => {
  const facts = { requestId: 'r-3', method: 'none', status: 431, ms: 0.2, code: 'BAD_INPUT', address: '::1' };
  assert.equal(
    format({ ...facts, msg: 'request' }),
    'INFO  (no request) 431 in 0.2 ms  requestId=r-3  code=BAD_INPUT  address=::1\n',
  );
});

test('formats an error with its indented stack', () => {
  assert.equal(
    format({ level: 50, msg: 'request failed', err: { message: 'no', stack: 'Error: no\n    at there' } }),
    'ERROR request failed\n    Error: no\n        at there\n',
  );
});

test('escapes control characters for a terminal', () => {
  assert.equal(
    format({ level: 40, msg: 'odd', agent: '\u001b[2J\u202e', err: { message: 'bell \u0007' } }),
    'WARN  odd  agent=\\u{1b}[2J\\u{202e}\n    bell \\u{7}\n',
  );
});
