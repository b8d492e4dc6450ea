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
let spareConnection: Connection;
let poller: CommitPoller;
let isNeeded: boolean;
let notifications: number;

const write = (connection = writer) => connection.exec('insert into words values (1)');
const poll = () => mock.timers.tick(200);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'espalier-commits-'));
  file = join(folder, 'words.db');
  writer = new BetterSqlite(file);
  writer.pragma('journal_mode = wal');
  writer.exec('create table words (word integer)');
  spareConnection = new BetterSqlite(file, { readonly: true });
  mock.timers.enable({ apis: ['setInterval'] });
  isNeeded = false;
  notifications = 0;
  poller = new CommitPoller(spareConnection, { isNeeded: () => isNeeded });
  poller.onCommit(() => notifications++);
});

afterEach(() => {
  poller.stop();
  mock.timers.reset();
  spareConnection.close();
  writer.close();
  rmSync(folder, { recursive: true });
});

describe('the commit poller', () => {
  test('begins its read transaction at a poll, and ends it on release', () => {
    assert.equal(spareConnection.inTransaction, false);
    poll();
    assert.equal(spareConnection.inTransaction, true);
    poller.releaseReadLock();
    assert.equal(spareConnection.inTransaction, false);
    poller.releaseReadLock();
    poll();
    assert.equal(spareConnection.inTransaction, true);
  });

  test('begins no read transaction while the connection is needed', () => {
    isNeeded = true;
    poll();
    assert.equal(spareConnection.inTransaction, false);
  });

  test('hides no change from readers, and notifies listeners at the next poll', () => {
    poll();
    write();
    assert.equal(writer.prepare('select count(*) from words').pluck().get(), 1);
    assert.equal(notifications, 0);
    poll();
    assert.equal(notifications, 1);
    poll();
    assert.equal(notifications, 1);
  });

  test('ends its read transaction after a change, and begins it again without changes', () => {
    poll();
    write();
    poll();
    assert.equal(spareConnection.inTransaction, false);
    write();
    poll();
    assert.equal(spareConnection.inTransaction, false);
    poll();
    assert.equal(spareConnection.inTransaction, true);
  });

  test('does not make the log grow while another connection writes', () => {
    writer.pragma('wal_autocheckpoint = 10');
    for (let round = 0; round < 300; round++) {
      write();
      // Every third round, a second poll finds no change.
      poll();
      if (round % 3 === 0) poll();
    }
    assert.ok(statSync(`${file}-wal`).size < 200_000, `${statSync(`${file}-wal`).size}`);
  });

  test('begins no read transaction after it has stopped', () => {
    poll();
    poller.stop();
    poller.releaseReadLock();
    poll();
    assert.equal(spareConnection.inTransaction, false);
  });

  test('notifies listeners if the file cannot be read, so that their read reports the error', () => {
    poll();
    spareConnection.close();
    poll();
    assert.equal(notifications, 1);
    spareConnection = new BetterSqlite(file, { readonly: true });
  });
});
