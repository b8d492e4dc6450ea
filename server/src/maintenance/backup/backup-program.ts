/** The program that `makeBackupInProcess` starts: makes one backup, sends its result, and exits. */

import { setPriority } from 'node:os';
import { StartError } from '../../config/start-error.ts';
import type { BackupReport } from './backup-process.ts';
import { makeBackup } from './backup.ts';

/** Gives the backup a lower priority than the server, which responds to requests. */
const niceness = 10;
/** A message is sent after each batch of some megabytes. */
const pagesPerMessage = 500;

const [from, to] = process.argv.slice(2);
const stopping = new AbortController();
process.once('disconnect', () => stopping.abort());
// A terminal sends signals to every process of the group. The server decides when this one stops.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);
try {
  lowerPriority();
  const backup = await makeBackup({
    from: from!,
    to: to!,
    isReplacing: false,
    signal: stopping.signal,
    onPages: reportPages(),
    onCheck: () => sendReport({ progress: 'check' }),
  });
  sendAndExit({ backup });
} catch (error) {
  if (error instanceof StartError) sendAndExit({ refusal: error.message });
  else if (!stopping.signal.aborted) sendAndExit({ failure: String(error) });
}

/** Where this is not allowed, the backup runs with normal priority. */
function lowerPriority(): void {
  try {
    setPriority(niceness);
  } catch {
    // For example under a systemd unit that forbids it.
  }
}

/** Reports only copied pages: the callback also runs while the copy waits for a lock. */
function reportPages(): (done: number) => void {
  let reported = 0;
  return (done) => {
    if (done < reported + pagesPerMessage) return;
    reported = done;
    sendReport({ progress: 'copy' });
  };
}

/** Sends nothing after the parent has exited, because its exit closes the channel. */
function sendReport(report: BackupReport, onSent = () => {}): void {
  if (process.connected) process.send!(report, onSent);
}

function sendAndExit(report: BackupReport): void {
  sendReport(report, () => {
    if (process.connected) process.disconnect();
  });
}
