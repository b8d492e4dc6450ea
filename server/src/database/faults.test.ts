import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { retryFailedWrite } from './installation-values.ts';
import { Faults, reasonOfErrno, writeFailureReasons, type WriteFailure } from './faults.ts';

describe('a write failure', () => {
  let now: number;
  let logged: string[];
  let counted: string[];
  let faults: Faults;
  beforeEach(() => {
    [now, logged, counted] = [1_000, [], []];
    const options = {
      log: (severity: string, text: string) => logged.push(`${severity}: ${text}`),
      onWriteFailure: (reason: string) => counted.push(reason),
    };
    faults = new Faults(options, () => now);
  });

  test('is logged once for each reason, and counted for every failed write', () => {
    faults.recordWriteFailure('quota', 'error text', 1);
    faults.recordWriteFailure('quota', 'error text', 1);
    faults.recordWriteFailure('disk_full', 'error text', 1);
    assert.deepEqual(logged, [
      'warn: Changes fail: The disk quota of the database is used up. (error text) Raise the quota, or delete other files that count against it.',
      'warn: Changes fail: The disk of the database is full. (error text) Free disk space.',
    ]);
    assert.deepEqual(counted, ['quota', 'quota', 'disk_full']);
    assert.equal(faults.writeFailure?.reason, 'disk_full');
  });

  test('ends with a write of the same size, but not with a smaller write', () => {
    faults.recordWriteFailure('disk_full', 'error text', 3_000);
    faults.recordCommit(0);
    faults.recordCommit(2_999);
    assert.equal(faults.writeFailure?.reason, 'disk_full');
    faults.recordCommit(3_000);
    assert.equal(faults.writeFailure, undefined);
    assert.equal(logged.at(-1), 'info: Changes are written again.');
  });

  test('ends after a minute with any write that changes a row', () => {
    faults.recordWriteFailure('disk_full', 'error text', 3_000);
    now += 59_999;
    faults.recordCommit(1);
    assert.equal(faults.writeFailure?.reason, 'disk_full');
    now += 1;
    faults.recordCommit(0);
    assert.equal(faults.writeFailure?.reason, 'disk_full');
    faults.recordCommit(1);
    assert.equal(faults.writeFailure, undefined);
  });
});

test('maps every known error code of the operating system to a listed reason', () => {
  for (const errno of ['ENOSPC', 'EFBIG', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EIO', 'EMFILE', 'ENFILE']) {
    assert.ok(writeFailureReasons.includes(reasonOfErrno(errno)!), errno);
  }
  assert.equal(reasonOfErrno('EFBIG'), 'file_size_limit');
  assert.equal(reasonOfErrno('EDQUOT'), 'quota');
  assert.equal(reasonOfErrno('ENOENT'), undefined);
  assert.equal(reasonOfErrno(undefined), undefined);
});

test('tries a small write only while writes fail', async () => {
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
