/**
 * Makes a backup in a separate process: copying, syncing and checking a large file takes seconds, and would block requests on
 * the same thread. Without its parent, the process stops and removes its files. A process without progress is killed.
 */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sizeOf } from '../../database/sqlite/file.ts';
import { StartError } from '../../config/start-error.ts';
import type { Backup } from './backup.ts';

export interface BackupOrder {
  readonly from: string;
  /** The name of a new file. */
  readonly to: string;
  /** Stops the backup, which then rejects with the reason of the signal. */
  readonly signal: AbortSignal;
}

/** The messages of the process: its progress, and at the end its result. */
export type BackupReport =
  | { readonly progress: 'copy' | 'check' }
  | { readonly backup: Backup }
  | { readonly refusal: string }
  | { readonly failure: string };

/** The program is `.ts` in the sources, which import the sources of the contract, and `.js` in a build. */
const command = import.meta.url.endsWith('.ts')
  ? ['--conditions=espalier-source', pathOf('./backup-program.ts')]
  : [pathOf('./backup-program.js')];
/** After this time, a stopped process is killed. */
const killAfterMs = 1_000;
/** The time limit for a few megabytes: a disk that needs longer, for example on a lost network, has failed. */
const maxSilenceMs = 10 * 60_000;
/** The minimum speed of a check, which reports no progress: a twentieth of the speed in docs/decisions/17-backup-restore-copy.md. */
const minCheckBytesPerMs = 1_000;
const maxCheckMs = 24 * 60 * 60_000;

export async function makeBackupInProcess(
  { from, to, signal }: BackupOrder,
  start: typeof startProgram = startProgram,
): Promise<Backup> {
  signal.throwIfAborted();
  const child = start(from, to);
  const stop = () => {
    if (child.connected) child.disconnect();
    setTimeout(() => child.kill('SIGKILL'), killAfterMs).unref();
  };
  let silentForMs: number | undefined;
  let watchdog: NodeJS.Timeout | undefined;
  // Uses a timer instead of the clock, because a machine may be suspended and a clock may be set.
  const expectMessage = (withinMs: number) => {
    clearTimeout(watchdog);
    if (silentForMs !== undefined) return;
    watchdog = setTimeout(() => {
      silentForMs = withinMs;
      stop();
    }, withinMs).unref();
  };
  expectMessage(maxSilenceMs);
  let report: BackupReport | undefined;
  child.on('message', (message: BackupReport) => {
    if (!('progress' in message)) report = message;
    else expectMessage(maxSilenceMs + (message.progress === 'check' ? checkMs(from) : 0));
  });
  signal.addEventListener('abort', stop);
  try {
    // Waits for both, because a message may arrive after the exit. 'close' is not emitted after a disconnect.
    await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
    if (report && 'backup' in report) return report.backup;
    signal.throwIfAborted();
    if (silentForMs !== undefined) {
      const minutes = Math.round(silentForMs / 60_000);
      throw new StartError(`The backup process made no progress for ${minutes} minutes and was stopped.`);
    }
    if (report && 'refusal' in report) throw new StartError(report.refusal);
    const failure = report && 'failure' in report ? report.failure : undefined;
    throw new Error(failure ?? `The backup process ended with ${child.signalCode ?? child.exitCode}.`);
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener('abort', stop);
  }
}

function checkMs(file: string): number {
  return Math.min(maxCheckMs, sizeOf(file) / minCheckBytesPerMs);
}

function startProgram(from: string, to: string): ChildProcess {
  return spawn(process.execPath, [...command, from, to], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
