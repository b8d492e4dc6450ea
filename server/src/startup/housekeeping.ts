/** Periodic tasks of a server: deleting expired data, rotating keys, probing the database and making backups. */

import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Settings } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { retryFailedWrite } from '../database/installation-values.ts';
import { purgeTrash } from '../folders/trash.ts';
import { pruneIdempotencyKeys } from '../journal/idempotency.ts';
import { pruneJournal } from '../journal/journal.ts';
import type { ScheduledBackup } from '../maintenance/backup/scheduled-backup.ts';
import type { KeyEncryption } from '../sessions/key-encryption.ts';
import { createKeyRotation } from '../sessions/key-rotation.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { rereadKeysEveryMs, type SigningKeys } from '../sessions/signing-keys.ts';

export interface HousekeepingOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly settings: Settings;
  readonly sessions: Sessions;
  readonly keys: SigningKeys;
  readonly encryption: KeyEncryption;
  readonly isReady: () => Promise<boolean>;
  readonly backups: ScheduledBackup | undefined;
  readonly onKeysError: (error: unknown) => void;
  /** One of several workers maintains the stored data. Each worker maintains its own memory. */
  readonly maintainsStoredData: boolean;
}

export interface Housekeeping {
  /** Starts the timers. */
  start(): void;
  /** Runs every task once. */
  run(): Promise<void>;
  /** Stops the timers and waits for running tasks. */
  stop(): Promise<void>;
}

const pruneEveryMs = 10_000;
const probeDatabaseEveryMs = 5_000;
/** After a failed write, a small write is retried, so that the outage ends even if no client changes data. */
const retryWriteEveryMs = 60_000;

export function createHousekeeping(options: HousekeepingOptions): Housekeeping {
  const { database, log, keys, isReady, backups } = options;
  const tasks = pruneTasks(options);
  const prune = () => runAll(tasks);
  const probe = async () => void (await isReady());
  const backUp = async () => backups?.makeIfDue();
  let timers: readonly Timer[] = [];
  return {
    start() {
      timers = [
        repeat(prune, pruneEveryMs, (err) => log.warn({ err }, 'sweeping failed')),
        repeat(() => keys.reread(), rereadKeysEveryMs, options.onKeysError),
        // Logs an outage of the database even if no program requests the health of the node.
        repeat(probe, probeDatabaseEveryMs, (err) => log.error({ err }, 'a look failed')),
        repeat(
          () => retryFailedWrite(database),
          retryWriteEveryMs,
          (err) => log.debug({ err }, 'writing to the database still fails'),
        ),
        repeat(backUp, pruneEveryMs, (err) => log.warn({ err }, 'backups cannot be looked after')),
      ];
    },
    async run() {
      await probe();
      await keys.reread();
      await prune();
      await backUp();
    },
    async stop() {
      await Promise.all(timers.map((timer) => timer.stop()));
    },
  };
}

function pruneTasks(options: HousekeepingOptions): (() => Promise<unknown>)[] {
  const { database, clock, settings, sessions } = options;
  const storedData = [
    createKeyRotation(options),
    () => purgeTrash(database, clock.now(), settings.trashDays),
    () => pruneJournal(database, clock.now(), settings),
    () => pruneIdempotencyKeys(database, clock.now()),
  ];
  return [() => sessions.prune(), ...(options.maintainsStoredData ? storedData : [])];
}

/** Runs all tasks, even if one fails. Rejects with the first failure. */
async function runAll(tasks: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const task of tasks) await task().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

interface Timer {
  stop(): Promise<void>;
}

/** Runs the task periodically, never twice at the same time. Reports the first of consecutive failures. */
function repeat(task: () => Promise<void>, everyMs: number, onError: (error: unknown) => void): Timer {
  let running: Promise<void> | undefined;
  let hasFailed = false;
  const timer = setInterval(() => {
    running ??= task()
      .then(
        () => void (hasFailed = false),
        (error: unknown) => {
          if (!hasFailed) onError(error);
          hasFailed = true;
        },
      )
      .finally(() => (running = undefined));
  }, everyMs);
  timer.unref();
  return {
    async stop(): Promise<void> {
      clearInterval(timer);
      await running;
    },
  };
}
