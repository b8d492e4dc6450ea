import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test, type TestContext } from 'node:test';
import { StartError } from '../../config/start-error.ts';
import { makeBackupInProcess, type BackupReport } from './backup-process.ts';

const minuteMs = 60_000;
const backup = {
  file: 'to',
  bytes: 5,
  schema: 8,
  folders: 1,
  users: 1,
  areKeysSealed: false,
  journalNumber: 1,
  lastChangeAt: 1,
};

/** Sends the messages that a test gives it, and exits only when it is killed. */
class StubbornProcess extends EventEmitter {
  connected = true;
  signalCode: string | null = null;
  readonly exitCode = null;
  readonly ends: string[] = [];

  disconnect(): void {
    this.ends.push('disconnect');
    this.connected = false;
    this.emit('disconnect');
  }

  kill(signal: string): void {
    this.ends.push(signal);
    this.signalCode = signal;
    this.emit('exit', null, signal);
  }

  report(report: BackupReport): void {
    this.emit('message', report);
  }
}

describe('the process that makes a backup', () => {
  let folder: string;
  let from: string;
  let child: StubbornProcess;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-backup-process-'));
    from = join(folder, 'from');
    writeFileSync(from, '');
    // A sparse file, which takes no room on the disk.
    truncateSync(from, 600_000_000);
  });
  after(() => rmSync(folder, { recursive: true }));
  beforeEach(() => (child = new StubbornProcess()));

  const start = (context: TestContext, signal = new AbortController().signal) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const making = makeBackupInProcess(
      { from, to: join(folder, 'to'), signal },
      () => child as unknown as ChildProcess,
    );
    making.catch(() => undefined);
    return { making, advance: (ms: number) => context.mock.timers.tick(ms) };
  };
  const stoppedAfter = (minutes: number) => (error: unknown) => {
    assert.ok(error instanceof StartError);
    assert.equal(
      error.message,
      `The backup process made no progress for ${minutes} minutes and was stopped.`,
    );
    return true;
  };

  test('is stopped after ten minutes without progress, and then killed', async (context) => {
    const { making, advance } = start(context);
    advance(10 * minuteMs - 1);
    assert.deepEqual(child.ends, []);
    advance(1);
    assert.deepEqual(child.ends, ['disconnect']);
    advance(1_000);
    assert.deepEqual(child.ends, ['disconnect', 'SIGKILL']);
    await assert.rejects(making, stoppedAfter(10));
  });

  test('has no time limit while it reports progress', async (context) => {
    const { making, advance } = start(context);
    for (let round = 0; round < 100; round++) {
      advance(9 * minuteMs);
      child.report({ progress: 'copy' });
    }
    assert.deepEqual(child.ends, []);
    child.report({ backup });
    child.disconnect();
    child.emit('exit', 0, null);
    assert.deepEqual(await making, backup);
    advance(24 * 60 * minuteMs);
    assert.deepEqual(child.ends, ['disconnect']);
  });

  test('has ten more minutes for each 600 MB during a check', async (context) => {
    const { making, advance } = start(context);
    child.report({ progress: 'check' });
    advance(20 * minuteMs - 1);
    assert.deepEqual(child.ends, []);
    advance(1);
    advance(1_000);
    assert.deepEqual(child.ends, ['disconnect', 'SIGKILL']);
    await assert.rejects(making, stoppedAfter(20));
  });

  test('ends with the reason of the abort signal when the server stops it', async (context) => {
    const stopping = new AbortController();
    const { making, advance } = start(context, stopping.signal);
    stopping.abort();
    advance(1_000);
    assert.deepEqual(child.ends, ['disconnect', 'SIGKILL']);
    await assert.rejects(making, { name: 'AbortError' });
  });

  test('is killed if it hangs', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const hangs = `process.on('disconnect', () => {}); process.send({ progress: 'copy' }); for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000)`;
    const real = spawn(process.execPath, ['-e', hangs], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const { signal } = new AbortController();
    const making = makeBackupInProcess({ from, to: join(folder, 'to'), signal }, () => real);
    await once(real, 'message');
    context.mock.timers.tick(10 * minuteMs);
    context.mock.timers.tick(1_000);
    await assert.rejects(making, stoppedAfter(10));
    assert.equal(real.signalCode, 'SIGKILL');
  });
});
