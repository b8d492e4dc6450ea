/** Periodic tasks of a server: deleting expired data, rotating keys, probing the database and making backups. */

import { pruneApiKeys } from '../accounts/api-keys.ts';
import { retryFailedWrite } from '../database/installation-values.ts';
import { purgeTrash } from '../folders/purge.ts';
import { pruneIdempotencyKeys } from '../journal/idempotency.ts';
import { pruneJournal } from '../journal/prune.ts';
import { createKeyRotation } from '../sessions/manage-signing-keys.ts';
import { pruneSecondFactors } from '../sessions/second-factors/second-factor-services.ts';
import { pruneSignIns } from '../sessions/sign-in-reads.ts';
import { rereadKeysEveryMs } from '../sessions/signing-keys.ts';
import type { Services } from './services.ts';

const housekeepingEveryMs = 10_000;
const storeSignInsEveryMs = 1_000;
const probeDatabaseEveryMs = 5_000;
/**
 * After a failed write, a small write is retried, so that the server detects the end of the outage even if no client changes
 * data.
 */
const retryWriteEveryMs = 60_000;
/** Often enough that a node never refuses to sign because its list of keys is too old. */
const rereadKeysOnlyEveryMs = 60_000;

export class Housekeeping {
  readonly #services: Services;
  readonly #tasks: readonly (() => Promise<unknown>)[];
  /** Each function stops one timer. */
  #stopTimers: readonly (() => Promise<void>)[] = [];

  constructor(services: Services) {
    const { database, clock, settings, sessions, singleSignOn } = services;
    const storedData = [
      createKeyRotation(services),
      () => purgeTrash(database, clock.now(), settings.trashDays),
      () => pruneJournal(database, clock.now(), settings),
      () => pruneIdempotencyKeys(database, clock.now()),
      async () => singleSignOn?.prune(),
      () => pruneSecondFactors(database, clock.now()),
      () => pruneSignIns(database, clock.now(), settings),
      () => pruneApiKeys(database, clock.now()),
    ];
    this.#services = services;
    // Only the first worker runs the tasks for stored data. `sessions.prune` runs in each worker, because it also saves and
    // clears data in the memory of the worker.
    this.#tasks = [() => sessions.prune(), ...(services.isFirstWorker ? storedData : [])];
  }

  /** Reads only the signing keys periodically, for tests that call `run` themselves. */
  startManual(): void {
    const { keys, onKeysError } = this.#services;
    this.#stopTimers = [repeat(() => keys.reread(), rereadKeysOnlyEveryMs, onKeysError)];
  }

  /** Starts the timers. */
  start(): void {
    const { database, log, keys, signIns, isReady, backups, onKeysError } = this.#services;
    this.#stopTimers = [
      repeat(
        () => runAll(this.#tasks),
        housekeepingEveryMs,
        (err) =>
          log.warn(
            { err },
            'A periodic task failed, for example deleting expired data or rotating keys. The server retries in 10 seconds.',
          ),
      ),
      repeat(() => keys.reread(), rereadKeysEveryMs, onKeysError),
      repeat(
        () => signIns.store(),
        storeSignInsEveryMs,
        (err) =>
          log.warn(
            { err },
            'Failed sign-ins cannot be stored. The server keeps them and retries every second.',
          ),
      ),
      // Logs an outage of the database even if no program requests the health of the node.
      repeat(isReady, probeDatabaseEveryMs, (err) =>
        log.error({ err }, 'The check of the database failed unexpectedly. This is a bug.'),
      ),
      repeat(
        () => retryFailedWrite(database),
        retryWriteEveryMs,
        (err) => log.debug({ err }, 'writing to the database still fails'),
      ),
      repeat(
        async () => backups?.makeIfDue(),
        housekeepingEveryMs,
        (err) =>
          log.warn(
            { err },
            'The scheduled backup failed unexpectedly. This is a bug. The server retries in 10 seconds.',
          ),
      ),
    ];
  }

  /** Runs every task once. */
  async run(): Promise<void> {
    const { keys, signIns, isReady, backups } = this.#services;
    await isReady();
    await keys.reread();
    await signIns.store();
    await runAll(this.#tasks);
    await backups?.makeIfDue();
  }

  /** Stops the timers and waits for running tasks. */
  async stop(): Promise<void> {
    await Promise.all(this.#stopTimers.map((stop) => stop()));
  }
}

/** Runs all tasks, even if one fails. Rejects with the first failure. */
async function runAll(tasks: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const task of tasks) await task().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Runs the task periodically, never twice at the same time. Reports the first of consecutive failures. */
function repeat(task: () => Promise<unknown>, everyMs: number, onError: (error: unknown) => void) {
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
  return async () => {
    clearInterval(timer);
    await running;
  };
}
