/**
 * Makes a backup in a process of its own: copying, syncing and checking a large file takes seconds, in which nobody who
 * shares a thread with it would be served. Without whoever asked for it, the process gives up and leaves nothing behind.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { StartError } from '../start-error.ts';
import type { Backup } from './backup.ts';

export interface BackupOrder {
  readonly from: string;
  /** A name that is not taken. */
  readonly to: string;
  /** It ends soon, and rejects with the reason of the signal. */
  readonly signal: AbortSignal;
}

/** What the process tells at its end. */
export type BackupReport =
  { readonly made: Backup } | { readonly refused: string } | { readonly failed: string };

/** Beside this file, and in the same language; sources read those of the contract, too. */
const command = import.meta.url.endsWith('.ts')
  ? ['--conditions=espalier-source', pathOf('./backup-program.ts')]
  : [pathOf('./backup-program.js')];
/** Then it is ended as it is. */
const giveUpWithinMs = 1_000;

export async function makeBackupElsewhere({ from, to, signal }: BackupOrder): Promise<Backup> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, [...command, from, to], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let report: BackupReport | undefined;
  child.once('message', (told) => (report = told as BackupReport));
  const stop = () => {
    if (child.connected) child.disconnect();
    setTimeout(() => child.kill('SIGKILL'), giveUpWithinMs).unref();
  };
  signal.addEventListener('abort', stop);
  try {
    // Not 'close', which never comes to who disconnects; what was told may come after the end.
    await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
    if (report && 'made' in report) return report.made;
    signal.throwIfAborted();
    if (report && 'refused' in report) throw new StartError(report.refused);
    throw new Error(
      report?.failed ?? `The process that makes the backup ended with ${child.signalCode ?? child.exitCode}.`,
    );
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
