/**
 * Makes a backup in a process of its own: copying, syncing and checking a large file takes seconds, and would block requests on
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
  /** A name that is not taken. */
  readonly to: string;
  /** It ends soon, and rejects with the reason of the signal. */
  readonly signal: AbortSignal;
}

/** The messages of the process: its progress, and at the end its result. */
export type BackupReport =
  | { readonly doing: 'copy' | 'check' }
  | { readonly made: Backup }
  | { readonly refused: string }
  | { readonly failed: string };

/** A JavaScript build contains the JavaScript program. Sources also import the sources of the contract. */
const command = import.meta.url.endsWith('.ts')
  ? ['--conditions=espalier-source', pathOf('./backup-program.ts')]
  : [pathOf('./backup-program.js')];
/** After this time, a stopped process is killed. */
const killAfterMs = 1_000;
/** The time for a few megabytes: a disk that needs longer, for example on a lost network, has failed. */
const maxSilenceMs = 10 * 60_000;
/** A check reports no progress. This is a twentieth of the measured speed: decision 23. */
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
  const watchdog = new Watchdog(stop);
  watchdog.expectMessage(maxSilenceMs);
  let report: BackupReport | undefined;
  child.on('message', (message: BackupReport) => {
    if (!('doing' in message)) report = message;
    else watchdog.expectMessage(maxSilenceMs + (message.doing === 'check' ? checkMs(from) : 0));
  });
  signal.addEventListener('abort', stop);
  try {
    // Not 'close', which is not emitted after a disconnect. A message may arrive after the exit.
    await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
    if (report && 'made' in report) return report.made;
    signal.throwIfAborted();
    if (watchdog.silentForMs !== undefined) {
      const minutes = Math.round(watchdog.silentForMs / 60_000);
      throw new StartError(`It did not go on for ${minutes} minutes, and was given up.`);
    }
    if (report && 'refused' in report) throw new StartError(report.refused);
    const failed = report && 'failed' in report ? report.failed : undefined;
    throw new Error(
      failed ?? `The process that makes the backup ended with ${child.signalCode ?? child.exitCode}.`,
    );
  } finally {
    watchdog.end();
    signal.removeEventListener('abort', stop);
  }
}

function checkMs(file: string): number {
  return Math.min(maxCheckMs, sizeOf(file) / minCheckBytesPerMs);
}

/** Uses a timer instead of the clock, because a machine may be suspended and a clock may be set. */
class Watchdog {
  /** Set after a silence that was too long. */
  silentForMs: number | undefined;

  readonly #onSilence: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(onSilence: () => void) {
    this.#onSilence = onSilence;
  }

  /** The next message must arrive within this time. */
  expectMessage(withinMs: number): void {
    clearTimeout(this.#timer);
    if (this.silentForMs !== undefined) return;
    this.#timer = setTimeout(() => {
      this.silentForMs = withinMs;
      this.#onSilence();
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
