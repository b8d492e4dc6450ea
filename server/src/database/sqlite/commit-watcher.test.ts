import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import BetterSqlite, { type Database as Connection } from 'better-sqlite3';
import { watchCommits, type CommitWatcher } from './commit-watcher.ts';

let folder: string;
let file: string;
let writer: Connection;
let spare: Connection;
let commits: CommitWatcher;
let isNeeded: boolean;
let told: number;

const write = (connection = writer) => connection.exec('insert into words values (1)');
const look = () => mock.timers.tick(200);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'espalier-commits-'));
  file = join(folder, 'words.db');
  writer = new BetterSqlite(file);
  writer.pragma('journal_mode = wal');
  writer.exec('create table words (word integer)');
  spare = new BetterSqlite(file, { readonly: true });
  mock.timers.enable({ apis: ['setInterval'] });
  isNeeded = false;
  told = 0;
  commits = watchCommits(spare, { onAnnounced: undefined, isNeeded: () => isNeeded });
  commits.watch(() => told++);
});

afterEach(() => {
  commits.stop();
  mock.timers.reset();
  spare.close();
  writer.close();
  rmSync(folder, { recursive: true });
});

describe('what is kept open while nobody writes', () => {
  test('is begun at a look, and let go of when it is asked for', () => {
    assert.equal(spare.inTransaction, false);
    look();
    assert.equal(spare.inTransaction, true);
    commits.releaseReadLock();
    assert.equal(spare.inTransaction, false);
    commits.releaseReadLock();
    look();
    assert.equal(spare.inTransaction, true);
  });

  test('is not begun while the connection is needed', () => {
    isNeeded = true;
    look();
    assert.equal(spare.inTransaction, false);
  });

  test('keeps no change from being told, at once for who reads and at the next look for who watches', () => {
    look();
    write();
    assert.equal(writer.prepare('select count(*) from words').pluck().get(), 1);
    assert.equal(told, 0);
    look();
    assert.equal(told, 1);
    look();
    assert.equal(told, 1);
  });

  test('is ended by a change, until a look finds none', () => {
    look();
    write();
    look();
    assert.equal(spare.inTransaction, false);
    write();
    look();
    assert.equal(spare.inTransaction, false);
    look();
    assert.equal(spare.inTransaction, true);
  });

  test('does not make the log grow when another process writes', () => {
    writer.pragma('wal_autocheckpoint = 10');
    for (let round = 0; round < 300; round++) {
      write();
      // Sometimes one passes without a change.
      look();
      if (round % 3 === 0) look();
    }
    assert.ok(statSync(`${file}-wal`).size < 200_000, `${statSync(`${file}-wal`).size}`);
  });

  test('is let go of for good when the watch ends', () => {
    look();
    commits.stop();
    commits.releaseReadLock();
    look();
    assert.equal(spare.inTransaction, false);
  });

  test('that cannot be read is told as a change: whoever looks meets the trouble', () => {
    look();
    spare.close();
    look();
    assert.equal(told, 1);
    spare = new BetterSqlite(file, { readonly: true });
  });
});
