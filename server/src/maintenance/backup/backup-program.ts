/** The program that `makeBackupElsewhere` starts: makes one backup, tells what became of it, and ends. */

import { setPriority } from 'node:os';
import { StartError } from '../../config/start-error.ts';
import type { BackupReport } from './backup-process.ts';
import { makeBackup } from './backup.ts';

/** Whoever answers requests goes first. */
const kindness = 10;
/** Told of each time so many are copied: some megabytes. */
const pagesBetween = 500;

const [from, to] = process.argv.slice(2);
const stopping = new AbortController();
process.once('disconnect', () => stopping.abort());
// A terminal sends them to every process: it is the server that says when to stop.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);
try {
  lowerPriority();
  const made = await makeBackup({
    from: from!,
    to: to!,
    isReplacing: false,
    signal: stopping.signal,
    onPages: tellOfCopying(),
    onCheck: () => tell({ doing: 'check' }),
  });
  tellAndEnd({ made });
} catch (error) {
  if (error instanceof StartError) tellAndEnd({ refused: error.message });
  else if (!stopping.signal.aborted) tellAndEnd({ failed: String(error) });
}

/** Where that is not allowed, others have to share with it. */
function lowerPriority(): void {
  try {
    setPriority(kindness);
  } catch {
    // As under a unit of systemd that keeps it from changing what it may use.
  }
}

/** Only when something was copied: what waits for a lock is asked again and again, too. */
function tellOfCopying(): (done: number) => void {
  let toldOf = 0;
  return (done) => {
    if (done < toldOf + pagesBetween) return;
    toldOf = done;
    tell({ doing: 'copy' });
  };
}

/** Whoever is not there any more has disconnected. */
function tell(report: BackupReport, onTold = () => {}): void {
  if (process.connected) process.send!(report, onTold);
}

function tellAndEnd(report: BackupReport): void {
  tell(report, () => {
    if (process.connected) process.disconnect();
  });
}
