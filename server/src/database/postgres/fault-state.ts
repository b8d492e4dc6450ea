/** Records the faults of PostgreSQL that this process has met: damage, connections to servers of different age, and failed writes. */

import { Refusal } from '../../refusal.ts';
import type { Database, DatabaseFault } from '../database.ts';
import { toUnavailable, damagedMessage, PostgresFault, unavailable, writeFailureReason } from './errors.ts';
import { WriteState, type WriteStateOptions } from '../write-failure.ts';

interface PostgresFaultState extends Pick<
  Database,
  'findFault' | 'writeFailure' | 'reportDamage' | 'reportOutdated' | 'confirmCurrent'
> {
  readonly toRefusal: (error: unknown) => unknown;
  /** The same for the error of a transaction that had changed this number of rows. */
  readonly toWriteRefusal: (error: unknown, rows: number) => unknown;
  noteCommit(rows: number): void;
}

interface FaultStateOptions extends WriteStateOptions {
  /** The URL without its password. */
  readonly safeUrl: string;
  /** Called when connections lead to servers of different age. */
  readonly onOutdated: () => void;
}

export function createFaultState(options: FaultStateOptions): PostgresFaultState {
  const { log, safeUrl, onOutdated } = options;
  const writes = new WriteState(options);
  let damage: DatabaseFault | undefined;
  let outdated: DatabaseFault | undefined;

  const noteDamage = (finding: string): void => {
    if (damage) return;
    damage = { summary: damagedSummary, detail: damageText(safeUrl, finding) };
    log('error', damage.detail);
  };
  const toRefusal = (error: unknown): unknown => {
    if (error instanceof PostgresFault && error.isDamage) noteDamage(error.message);
    return toUnavailable(error);
  };

  return {
    findFault: () => damage ?? outdated,
    writeFailure: () => writes.failure,
    reportDamage(finding) {
      noteDamage(finding);
      return unavailable(undefined, damagedMessage);
    },
    reportOutdated() {
      if (!outdated) {
        outdated = { summary: outdatedSummary, detail: outdatedText(safeUrl) };
        log('error', outdated.detail);
      }
      onOutdated();
      return unavailable(undefined);
    },
    confirmCurrent() {
      if (outdated) log('info', 'All connections to the database lead to the same state again.');
      outdated = undefined;
    },
    toRefusal,
    toWriteRefusal(error, rows) {
      const fault = error instanceof Refusal ? error.cause : error;
      const reason = fault instanceof PostgresFault ? writeFailureReason(fault) : undefined;
      if (reason)
        writes.failed(reason, `${(fault as PostgresFault).code}: ${(fault as Error).message}.`, rows);
      return toRefusal(error);
    },
    noteCommit: (rows) => writes.succeeded(rows),
  };
}

const damagedSummary = 'The database is damaged. Restore a backup or repair it, and restart every node.';
const outdatedSummary =
  'Connections to the database lead to copies of different age. Make sure that all of them lead to the same primary server.';

function damageText(safeUrl: string, finding: string): string {
  return `The database ${safeUrl} is damaged: ${finding.replace(/\.$/, '')}. Restore a backup or repair it, and restart every node; docs/durability.md tells more.`;
}

function outdatedText(safeUrl: string): string {
  return `The database ${safeUrl} answers with an older state than before: connections lead to copies of different age, for example after a failover during which the former primary went on. Stop the former primary, and make sure that every connection leads to the current one. This node connects anew, and is ready again when its connections agree.`;
}
