/**
 * Backups that a server makes of its database file by itself: one whenever the newest in their folder is old enough, and
 * the newest few are kept. It never throws for one that failed: that is logged, counted and shown, and tried again.
 */

import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import { sqliteFilePath } from '../../database/open-database.ts';
import { sizeOf } from '../../database/sqlite/file.ts';
import { StartError } from '../../config/start-error.ts';
import { BackupFolder } from './backup-folder.ts';
import { makeBackupInProcess } from './backup-process.ts';

export interface ScheduledBackupOptions {
  readonly settings: {
    readonly databaseUrl: string;
    readonly backupFolder: string | undefined;
    readonly backupEveryHours: number;
    readonly backupKeep: number;
  };
  /** The name of the installation in the database. */
  readonly installation: string;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** One of several workers makes the backups; the others only read the folder. */
  readonly isMaker: boolean;
  readonly make?: typeof makeBackupInProcess;
}

/** The result of the health check. */
export interface BackupState {
  readonly isOk: boolean;
  readonly detail: string;
}

const hourMs = 60 * 60 * 1_000;
/** The pause after a failed backup. */
const retryMinutes = 15;
/** A backup of many gigabytes takes a while. After this time, the health check fails. */
export const overdueAfterMs = hourMs;

export class ScheduledBackup {
  /** The start of the newest complete backup, in milliseconds since 1970. */
  lastBackupAt: number | undefined;
  lastBackupBytes: number | undefined;
  /** Since the start. */
  failedCount = 0;

  readonly #options: ScheduledBackupOptions;
  readonly #from: string;
  readonly #folder: BackupFolder;
  readonly #startedAt: number;
  readonly #stopping = new AbortController();
  #failed: { readonly at: number; readonly why: string } | undefined;
  #current: Promise<void> | undefined;
  /** The newest file in the folder, and the last that was found to be of this installation. */
  #newest: string | undefined;
  #own: string | undefined;

  /** Undefined if no folder is configured. Throws a StartError if backups cannot be made there. */
  static async open(options: ScheduledBackupOptions): Promise<ScheduledBackup | undefined> {
    const { databaseUrl, backupFolder } = options.settings;
    const from = sqliteFilePath(databaseUrl);
    // The settings refuse a folder for PostgreSQL.
    if (backupFolder === undefined || from === undefined) return undefined;
    const opened = new ScheduledBackup(options, from, new BackupFolder(backupFolder));
    await opened.#folder.requireInstallation(options.installation, options.clock.now());
    await opened.#readFolder();
    return opened;
  }

  private constructor(options: ScheduledBackupOptions, from: string, folder: BackupFolder) {
    this.#options = options;
    this.#from = from;
    this.#folder = folder;
    this.#startedAt = options.clock.now();
  }

  /** Called every few seconds. Resolves when a running backup is done. */
  async makeIfDue(): Promise<void> {
    if (!this.#options.isMaker || this.#stopping.signal.aborted) return;
    await (this.#current ??= this.#makeIfDue().finally(() => (this.#current = undefined)));
  }

  async state(): Promise<BackupState> {
    if (!this.#options.isMaker) await this.#readFolder().catch(() => undefined);
    const last = this.lastBackupAt;
    const lastGood =
      last === undefined ? 'There is none yet.' : `The last good one is of ${formatTime(last)}.`;
    if (this.#failed) return { isOk: false, detail: `The backup failed: ${this.#failed.why} ${lastGood}` };
    const dueAt = last === undefined ? this.#startedAt : last + this.#everyMs;
    const isOk = this.#options.clock.now() - dueAt <= overdueAfterMs;
    if (!isOk) return { isOk, detail: `A backup should have been made. ${lastGood}` };
    const detail =
      last === undefined
        ? 'The first backup is about to be made.'
        : `The last backup is of ${formatTime(last)}.`;
    return { isOk, detail };
  }

  /** Stops a running backup and removes its files. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#current;
  }

  get #everyMs(): number {
    return this.#options.settings.backupEveryHours * hourMs;
  }

  async #makeIfDue(): Promise<void> {
    const begunAt = this.#options.clock.now();
    // The absolute value also covers a clock that was set back.
    if (this.#failed && Math.abs(begunAt - this.#failed.at) < retryMinutes * 60_000) return;
    const to = this.#folder.fileFor(begunAt);
    try {
      if (!(await this.#hasRecentBackup(begunAt))) await this.#make(to, begunAt);
    } catch (error) {
      await this.#folder.removeUnfinished(to).catch(() => undefined);
      if (this.#stopping.signal.aborted) return;
      // Another node on the same file may have made a backup meanwhile.
      const isThere = await this.#hasRecentBackup(begunAt).catch(() => false);
      if (!isThere) this.#noteFailure(error);
    }
  }

  /** Throws if the newest backup is of another installation: both would delete the backups of each other. */
  async #hasRecentBackup(now: number): Promise<boolean> {
    await this.#readFolder();
    if (this.#newest !== this.#own) await this.#folder.requireInstallation(this.#options.installation, now);
    this.#own = this.#newest;
    return this.lastBackupAt !== undefined && now - this.lastBackupAt < this.#everyMs;
  }

  async #make(to: string, begunAt: number): Promise<void> {
    const { clock, log, settings, make = makeBackupInProcess } = this.#options;
    const made = await make({ from: this.#from, to, signal: this.#stopping.signal });
    this.#failed = undefined;
    // The name has the time in seconds.
    this.lastBackupAt = begunAt - (begunAt % 1_000);
    this.lastBackupBytes = made.bytes;
    this.#newest = to;
    this.#own = to;
    log.info(
      { file: made.file, bytes: made.bytes, durationMs: clock.now() - begunAt },
      'a backup has been made',
    );
    try {
      await this.#folder.prune(clock.now(), settings.backupKeep);
    } catch (err) {
      log.warn({ err, folder: this.#folder.path }, 'old backups cannot be deleted: look after the folder');
    }
  }

  #noteFailure(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.failedCount++;
    this.#failed = { at: this.#options.clock.now(), why: why.endsWith('.') ? why : `${why}.` };
    this.#options.log.warn(
      { folder: this.#folder.path, why, ...(!(error instanceof StartError) && { err: error }) },
      `the scheduled backup failed, and is tried again in ${retryMinutes} minutes: see that there is room in the folder and that it can be written, or name another in ESPALIER_BACKUP_FOLDER`,
    );
  }

  async #readFolder(): Promise<void> {
    const [newest] = await this.#folder.list(this.#options.clock.now());
    this.#newest = newest?.file;
    this.lastBackupAt = newest?.startedAt;
    this.lastBackupBytes = newest && sizeOf(newest.file);
  }
}

function formatTime(at: number): string {
  return new Date(at).toISOString();
}
