import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatLogLine } from './format-log-line.ts';

const format = (line: Record<string, unknown>) =>
  formatLogLine(`${JSON.stringify({ level: 30, time: 0, pid: 1, hostname: 'here', ...line })}\n`).slice(13);

test('shows the method, route, status and duration of a request', () => {
  const facts = { requestId: 'r-1', method: 'POST', route: '/login', status: 401, ms: 12.5 };
  assert.equal(
    format({ ...facts, code: 'INVALID_CREDENTIALS', address: '::1', msg: 'request' }),
    'INFO  POST /login 401 in 12.5 ms  requestId=r-1  code=INVALID_CREDENTIALS  address=::1\n',
  );
});

test('a request to nowhere says so', () => {
  const facts = { requestId: 'r-2', method: 'GET', status: 404, ms: 1 };
  assert.equal(format({ ...facts, msg: 'request' }), 'INFO  GET (no route) 404 in 1 ms  requestId=r-2\n');
});

test('marks a line without a parsed request', () => {
  const facts = { requestId: 'r-3', method: 'none', status: 431, ms: 0.2, code: 'BAD_INPUT', address: '::1' };
  assert.equal(
    format({ ...facts, msg: 'request' }),
    'INFO  (no request) 431 in 0.2 ms  requestId=r-3  code=BAD_INPUT  address=::1\n',
  );
});

test('an error is shown with its stack, indented', () => {
  assert.equal(
    format({ level: 50, msg: 'request failed', err: { message: 'no', stack: 'Error: no\n    at there' } }),
    'ERROR request failed\n    Error: no\n        at there\n',
  );
});

test('whatever a terminal would obey is spelled out', () => {
  assert.equal(
    format({ level: 40, msg: 'odd', agent: '\u001b[2J\u202e', err: { message: 'bell \u0007' } }),
    'WARN  odd  agent=\\u{1b}[2J\\u{202e}\n    bell \\u{7}\n',
  );
});
