import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createSignInArguments,
  readFilter,
  toGraphFilter,
  toQuery,
  type SignInFilter,
} from './sign-in-filter.ts';

const filter: SignInFilter = {
  userId: 'u1',
  method: 'SINGLE_SIGN_ON',
  result: 'WRONG_CREDENTIALS',
  from: '2026-03-01T12:00:00.000Z',
  until: '2026-03-02T12:00:00.000Z',
};

test('reads the filter that it writes to the address', () => {
  const query = new URLSearchParams(
    Object.entries(toQuery(filter)).map(([name, value]): [string, string] => [name, value ?? '']),
  );
  assert.equal(query.get('method'), 'single-sign-on');
  assert.deepEqual(readFilter(query), filter);
  assert.deepEqual(readFilter(new URLSearchParams('result=failed')), { result: 'FAILED' });
});

test('ignores invalid values in the address', () => {
  assert.deepEqual(readFilter(new URLSearchParams('method=x&result=PASSWORD&from=yesterday&user=')), {});
});

test('selects every result except success as failed', () => {
  const { results } = toGraphFilter({ result: 'FAILED' });
  assert.equal(results?.length, 6);
  assert.equal(results?.includes('SUCCESS'), false);
  assert.deepEqual(toGraphFilter({}), {});
});

test('writes the same filter as arguments of the command line', () => {
  assert.deepEqual(createSignInArguments({ result: 'FAILED' }), ['sign-in', 'ls', '--all', '--failed']);
  assert.deepEqual(createSignInArguments(filter), [
    'sign-in',
    'ls',
    ...['--user', 'id:u1', '--method', 'single-sign-on', '--result', 'wrong-credentials'],
    ...['--from', filter.from, '--until', filter.until],
  ]);
});
