/** The program that `makeBackupElsewhere` starts: makes one backup, tells what became of it, and ends. */

import { setPriority } from 'node:os';
import { StartError } from '../start-error.ts';
import type { BackupReport } from './backup-process.ts';
import { makeBackup } from './backup.ts';

/** Whoever answers requests goes first. */
const kindness = 10;

const [from, to] = process.argv.slice(2);
const stopping = new AbortController();
process.once('disconnect', () => stopping.abort());
// A terminal sends them to every process: it is the server that says when to stop.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);
try {
  lowerPriority();
  tell({ made: await makeBackup({ from: from!, to: to!, isReplacing: false, signal: stopping.signal }) });
} catch (error) {
  if (error instanceof StartError) tell({ refused: error.message });
  else if (!stopping.signal.aborted) tell({ failed: String(error) });
}

/** Where that is not allowed, others have to share with it. */
function lowerPriority(): void {
  try {
    setPriority(kindness);
  } catch {
    // As under a unit of systemd that keeps it from changing what it may use.
  }
}

function tell(report: BackupReport): void {
  if (process.connected) process.send!(report, () => process.connected && process.disconnect());
}
