import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { retryFailedWrite } from './installation-values.ts';
import { reasonOfErrno, WriteState, writeFailureReasons, type WriteFailure } from './write-failure.ts';

describe('the state of writing', () => {
  let now: number;
  let told: string[];
  let counted: string[];
  let state: WriteState;
  beforeEach(() => {
    [now, told, counted] = [1_000, [], []];
    state = new WriteState({
      now: () => now,
      log: (severity, text) => told.push(`${severity}: ${text}`),
      onWriteFailure: (reason) => counted.push(reason),
    });
  });

  test('logs the reason and the advice once for each reason, and counts every attempt', () => {
    state.failed('quota', 'said', 1);
    state.failed('quota', 'said', 1);
    state.failed('disk_full', 'said', 1);
    assert.deepEqual(told, [
      'warn: Changes fail: The disk quota of the database is used up. (said) Raise the quota, or delete other files that count against it.',
      'warn: Changes fail: The disk of the database is full. (said) Free disk space.',
    ]);
    assert.deepEqual(counted, ['quota', 'quota', 'disk_full']);
    assert.equal(state.failure?.reason, 'disk_full');
  });

  test('recovers after a write of the same size, but not after a smaller or an empty one', () => {
    state.failed('disk_full', 'said', 3_000);
    state.succeeded(0);
    state.succeeded(2_999);
    assert.equal(state.failure?.reason, 'disk_full');
    state.succeeded(3_000);
    assert.equal(state.failure, undefined);
    assert.equal(told.at(-1), 'info: Changes are written again.');
  });

  test('recovers after any successful write a minute later', () => {
    state.failed('disk_full', 'said', 3_000);
    now += 59_999;
    state.succeeded(1);
    assert.equal(state.failure?.reason, 'disk_full');
    now += 1;
    state.succeeded(0);
    assert.equal(state.failure?.reason, 'disk_full');
    state.succeeded(1);
    assert.equal(state.failure, undefined);
  });
});

test('has a listed reason for every recognized error of the operating system', () => {
  for (const errno of ['ENOSPC', 'EFBIG', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EIO', 'EMFILE', 'ENFILE']) {
    assert.ok(writeFailureReasons.includes(reasonOfErrno(errno)!), errno);
  }
  assert.equal(reasonOfErrno('EFBIG'), 'file_size_limit');
  assert.equal(reasonOfErrno('EDQUOT'), 'quota');
  assert.equal(reasonOfErrno('ENOENT'), undefined);
  assert.equal(reasonOfErrno(undefined), undefined);
});

test('retries a write only while writes fail', async () => {
  let tries = 0;
  const state: { failure?: WriteFailure } = {};
  const database = {
    writeFailure: () => state.failure,
    transaction: () => Promise.resolve(void tries++) as never,
  };
  await retryFailedWrite(database);
  assert.equal(tries, 0);
  state.failure = { reason: 'quota', summary: '', detail: '' };
  await retryFailedWrite(database);
  assert.equal(tries, 1);
});
