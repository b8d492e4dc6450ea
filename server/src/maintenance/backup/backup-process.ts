/**
 * Makes a backup in a process of its own: copying, syncing and checking a large file takes seconds, in which nobody who
 * shares a thread with it would be served. Without whoever asked for it, the process gives up and leaves nothing behind; one
 * that does not go on is ended.
 */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sizeOf } from '../../database/sqlite/file.ts';
import { StartError } from '../../config/start-error.ts';
import type { Backup } from './backup.ts';

export interface BackupOrder {
  readonly from: string;
  /** A name that is not taken. */
  readonly to: string;
  /** It ends soon, and rejects with the reason of the signal. */
  readonly signal: AbortSignal;
}

/** What the process tells: that it goes on, and at its end what became of it. */
export type BackupReport =
  | { readonly doing: 'copy' | 'check' }
  | { readonly made: Backup }
  | { readonly refused: string }
  | { readonly failed: string };

/** Beside this file, and in the same language; sources read those of the contract, too. */
const command = import.meta.url.endsWith('.ts')
  ? ['--conditions=espalier-source', pathOf('./backup-program.ts')]
  : [pathOf('./backup-program.js')];
/** Then it is ended as it is. */
const giveUpWithinMs = 1_000;
/** A disk that has not taken a few megabytes in this time, as one on a network that is away, takes no more. */
const stillForMs = 10 * 60_000;
/** Looking through a file tells nothing on the way. A twentieth of what was measured, with the copying: decision 23. */
const slowestCheckBytesPerMs = 1_000;
const longestCheckMs = 24 * 60 * 60_000;

export async function makeBackupInProcess(
  { from, to, signal }: BackupOrder,
  start: typeof startProgram = startProgram,
): Promise<Backup> {
  signal.throwIfAborted();
  const child = start(from, to);
  const stop = () => {
    if (child.connected) child.disconnect();
    setTimeout(() => child.kill('SIGKILL'), giveUpWithinMs).unref();
  };
  const watch = new StillnessWatch(stop);
  watch.expectNews(stillForMs);
  let report: BackupReport | undefined;
  child.on('message', (told: BackupReport) => {
    if (!('doing' in told)) report = told;
    else watch.expectNews(stillForMs + (told.doing === 'check' ? checkMs(from) : 0));
  });
  signal.addEventListener('abort', stop);
  try {
    // Not 'close', which never comes to who disconnects; what was told may come after the end.
    await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
    if (report && 'made' in report) return report.made;
    signal.throwIfAborted();
    if (watch.stillForMs !== undefined) {
      const minutes = Math.round(watch.stillForMs / 60_000);
      throw new StartError(`It did not go on for ${minutes} minutes, and was given up.`);
    }
    if (report && 'refused' in report) throw new StartError(report.refused);
    const failed = report && 'failed' in report ? report.failed : undefined;
    throw new Error(
      failed ?? `The process that makes the backup ended with ${child.signalCode ?? child.exitCode}.`,
    );
  } finally {
    watch.end();
    signal.removeEventListener('abort', stop);
  }
}

function checkMs(file: string): number {
  return Math.min(longestCheckMs, sizeOf(file) / slowestCheckBytesPerMs);
}

/** By a timer, not by the clock: a machine that slept, or whose clock was set, is no reason to give up. */
class StillnessWatch {
  /** Undefined unless it was too long. */
  stillForMs: number | undefined;

  readonly #onStill: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(onStill: () => void) {
    this.#onStill = onStill;
  }

  /** There was some; the next has to come within this time. */
  expectNews(withinMs: number): void {
    clearTimeout(this.#timer);
    if (this.stillForMs !== undefined) return;
    this.#timer = setTimeout(() => {
      this.stillForMs = withinMs;
      this.#onStill();
    }, withinMs).unref();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

function startProgram(from: string, to: string): ChildProcess {
  return spawn(process.execPath, [...command, from, to], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
