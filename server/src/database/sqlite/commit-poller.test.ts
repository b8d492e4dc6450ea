import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import BetterSqlite, { type Database as Connection } from 'better-sqlite3';
import { CommitPoller } from './commit-poller.ts';

let folder: string;
let file: string;
let writer: Connection;
let spare: Connection;
let commits: CommitPoller;
let isNeeded: boolean;
let notified: number;

const write = (connection = writer) => connection.exec('insert into words values (1)');
const poll = () => mock.timers.tick(200);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'espalier-commits-'));
  file = join(folder, 'words.db');
  writer = new BetterSqlite(file);
  writer.pragma('journal_mode = wal');
  writer.exec('create table words (word integer)');
  spare = new BetterSqlite(file, { readonly: true });
  mock.timers.enable({ apis: ['setInterval'] });
  isNeeded = false;
  notified = 0;
  commits = new CommitPoller(spare, { isNeeded: () => isNeeded });
  commits.onCommit(() => notified++);
});

afterEach(() => {
  commits.stop();
  mock.timers.reset();
  spare.close();
  writer.close();
  rmSync(folder, { recursive: true });
});

describe('the read transaction that stays open between writes', () => {
  test('begins at a poll, and ends when it is released', () => {
    assert.equal(spare.inTransaction, false);
    poll();
    assert.equal(spare.inTransaction, true);
    commits.releaseReadLock();
    assert.equal(spare.inTransaction, false);
    commits.releaseReadLock();
    poll();
    assert.equal(spare.inTransaction, true);
  });

  test('does not begin while the connection is needed', () => {
    isNeeded = true;
    poll();
    assert.equal(spare.inTransaction, false);
  });

  test('hides no change: readers see it immediately, and listeners are called at the next poll', () => {
    poll();
    write();
    assert.equal(writer.prepare('select count(*) from words').pluck().get(), 1);
    assert.equal(notified, 0);
    poll();
    assert.equal(notified, 1);
    poll();
    assert.equal(notified, 1);
  });

  test('ends when a poll finds a change, and begins again when a poll finds none', () => {
    poll();
    write();
    poll();
    assert.equal(spare.inTransaction, false);
    write();
    poll();
    assert.equal(spare.inTransaction, false);
    poll();
    assert.equal(spare.inTransaction, true);
  });

  test('does not make the log grow when another process writes', () => {
    writer.pragma('wal_autocheckpoint = 10');
    for (let round = 0; round < 300; round++) {
      write();
      // Every third round, a second poll finds no change.
      poll();
      if (round % 3 === 0) poll();
    }
    assert.ok(statSync(`${file}-wal`).size < 200_000, `${statSync(`${file}-wal`).size}`);
  });

  test('does not begin after the poller has stopped', () => {
    poll();
    commits.stop();
    commits.releaseReadLock();
    poll();
    assert.equal(spare.inTransaction, false);
  });

  test('reports a file that cannot be read as changed, so that the next read fails with the error', () => {
    poll();
    spare.close();
    poll();
    assert.equal(notified, 1);
    spare = new BetterSqlite(file, { readonly: true });
  });
});
