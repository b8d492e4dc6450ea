/**
 * Prevents writes to a file that is damaged, moved or replaced, and records why writes fail. The log gets each fault once;
 * clients get the reason.
 */

import type { Refusal } from '../../refusal.ts';
import type { Database, DatabaseFault } from '../database.ts';
import {
  toUnavailable,
  damagedRefusal,
  damageText,
  findErrno,
  isDamage,
  movedRefusal,
  movedText,
  writeFailureOf,
} from './errors.ts';
import { createMoveCheck } from './file.ts';
import { WriteState, type WriteStateOptions } from '../write-failure.ts';

export interface SqliteFaultState extends Pick<
  Database,
  'findFault' | 'writeFailure' | 'reportDamage' | 'reportOutdated' | 'confirmCurrent'
> {
  readonly toRefusal: (error: unknown) => unknown;
  /** The same for the error of a transaction. */
  readonly toWriteRefusal: (error: unknown) => unknown;
  /** The rows that a transaction writes from its begin to its commit, for `writeFailure`. */
  noteBegin(): void;
  noteRows(count: number): void;
  noteCommit(): void;
  /** Writes to a damaged file may be lost, or damage it further. */
  requireUndamaged(): void;
  /** SQLite continues on a file that was deleted or replaced. */
  requireSameFile(use: 'read' | 'written'): void;
}

/** How long the result of a probe is reused, so that not every request probes a failing disk. */
const probeValidMs = 1_000;

export function createFaultState(file: string, options: WriteStateOptions): SqliteFaultState {
  const { log } = options;
  const findMovedFile = createMoveCheck(file);
  const writes = new WriteState(options);
  let damage: DatabaseFault | undefined;
  let movedBefore: string | undefined;
  let rows = 0;
  let lastProbe: { readonly errno: string | undefined; readonly at: number } | undefined;

  const findMoved = (): DatabaseFault | undefined => {
    const moved = findMovedFile();
    const text = moved && movedText(moved);
    if (text !== undefined && movedBefore === undefined) log('error', text);
    if (moved === undefined && movedBefore !== undefined) {
      log('info', `The file ${movedBefore} is back in its place: changes are written again.`);
    }
    movedBefore = moved;
    return text === undefined ? undefined : { summary: movedSummary, detail: text };
  };

  const noteDamage = (finding: string): void => {
    if (damage) return;
    damage = { summary: damagedSummary, detail: damageText(file, finding) };
    log('error', damage.detail);
  };
  const reportDamage = (finding: string): Refusal => {
    noteDamage(finding);
    return damagedRefusal();
  };
  const findRecentErrno = (): string | undefined => {
    const at = performance.now();
    if (!lastProbe || at - lastProbe.at > probeValidMs) lastProbe = { errno: findErrno(file), at };
    return lastProbe.errno;
  };
  const toRefusal = (error: unknown): unknown => {
    if (isDamage(error)) noteDamage((error as Error).message);
    return toUnavailable(error);
  };

  return {
    findFault: () => findMoved() ?? damage,
    writeFailure: () => writes.failure,
    reportDamage,
    reportOutdated: () => reportDamage(overwritten),
    // Connections still cache pages of the overwritten file: only a restart ends that.
    confirmCurrent: () => undefined,
    toRefusal,
    toWriteRefusal: (error) => {
      const failure = writeFailureOf(error, findRecentErrno);
      if (!failure) return toRefusal(error);
      writes.failed(failure.reason, failure.report, rows);
      return failure.refusal;
    },
    noteBegin: () => void (rows = 0),
    noteRows: (count) => void (rows += count),
    noteCommit: () => writes.succeeded(rows),
    requireUndamaged: () => {
      if (damage) throw damagedRefusal();
    },
    requireSameFile: (use) => {
      if (findMoved()) throw movedRefusal(use);
    },
  };
}

const movedSummary =
  'The database file was moved, deleted or replaced. Put it back, and do not restart the server meanwhile.';
const damagedSummary = 'The database is damaged. Stop every server on it, restore a backup, and start again.';
const overwritten = 'it was overwritten with an older copy while it was used';
