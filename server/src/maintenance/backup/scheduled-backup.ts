/**
 * Scheduled backups of the database file. The server makes a backup when the newest backup in the folder is old enough, and keeps
 * only the newest backups. A failure is logged, counted and retried, and never thrown.
 */

import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import type { Settings } from '../../config/settings-table.ts';
import { StartError } from '../../config/start-error.ts';
import { BackupFolder, listBackups, type StoredBackup } from './backup-folder.ts';
import { makeBackupInProcess } from './backup-process.ts';

interface ScheduledBackupOptions {
  readonly databaseFile: string;
  /** The folder of the backups. */
  readonly folder: string;
  readonly settings: Pick<Settings, 'backupEveryHours' | 'backupKeep'>;
  /** The name of the installation in the database. */
  readonly installation: string;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** One of several workers makes the backups; the others only read the folder. */
  readonly isMaker: boolean;
  readonly make?: typeof makeBackupInProcess;
}

const hourMs = 60 * 60 * 1_000;
/** The pause after a failed backup. */
const retryMinutes = 15;
/** The health check fails when a backup is overdue by this time. A backup of many gigabytes takes a while. */
export const overdueAfterMs = hourMs;

export class ScheduledBackup {
  /** The number of failed backups since the start. */
  failedCount = 0;

  readonly #options: ScheduledBackupOptions;
  readonly #folder: BackupFolder;
  readonly #startedAt: number;
  readonly #stopping = new AbortController();
  #lastFailure: { readonly at: number; readonly why: string } | undefined;
  #runningBackup: Promise<void> | undefined;
  /** The newest complete backup. */
  #newestBackup: StoredBackup | undefined;
  /** The last file that was checked to be a backup of this installation. */
  #checkedFile: string | undefined;

  /** Throws a StartError if backups cannot be made in the folder. */
  static async open(options: ScheduledBackupOptions): Promise<ScheduledBackup> {
    const scheduledBackup = new ScheduledBackup(options);
    await scheduledBackup.#folder.requireInstallation(options.installation, options.clock.now());
    await scheduledBackup.#readFolder();
    return scheduledBackup;
  }

  private constructor(options: ScheduledBackupOptions) {
    this.#options = options;
    this.#folder = new BackupFolder(options.folder);
    this.#startedAt = options.clock.now();
  }

  /** The start of the newest complete backup, in milliseconds since 1970. */
  get lastBackupAt(): number | undefined {
    return this.#newestBackup?.startedAt;
  }

  /** Called every few seconds. Resolves when a running backup is done. */
  async makeIfDue(): Promise<void> {
    if (!this.#options.isMaker || this.#stopping.signal.aborted) return;
    await (this.#runningBackup ??= this.#makeIfDue().finally(() => (this.#runningBackup = undefined)));
  }

  /** The result of the health check. */
  async state(): Promise<{ readonly isOk: boolean; readonly detail: string }> {
    if (!this.#options.isMaker) await this.#readFolder().catch(() => undefined);
    const last = this.lastBackupAt;
    const lastText =
      last === undefined ? 'There is no backup yet.' : `The last backup is from ${formatTime(last)}.`;
    if (this.#lastFailure)
      return { isOk: false, detail: `The backup failed: ${this.#lastFailure.why} ${lastText}` };
    const dueAt = last === undefined ? this.#startedAt : last + this.#everyMs;
    if (this.#options.clock.now() - dueAt > overdueAfterMs) {
      return { isOk: false, detail: `The backup is overdue. ${lastText}` };
    }
    return { isOk: true, detail: last === undefined ? 'The first backup starts soon.' : lastText };
  }

  /** Stops a running backup and removes its files. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#runningBackup;
  }

  get #everyMs(): number {
    return this.#options.settings.backupEveryHours * hourMs;
  }

  async #makeIfDue(): Promise<void> {
    const begunAt = this.#options.clock.now();
    // The absolute value also covers a clock that was set back.
    if (this.#lastFailure && Math.abs(begunAt - this.#lastFailure.at) < retryMinutes * 60_000) return;
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

  /** Throws if the newest backup is of another installation: the two installations would delete each other's backups. */
  async #hasRecentBackup(now: number): Promise<boolean> {
    await this.#readFolder();
    if (this.#newestBackup?.file !== this.#checkedFile)
      await this.#folder.requireInstallation(this.#options.installation, now);
    this.#checkedFile = this.#newestBackup?.file;
    return this.lastBackupAt !== undefined && now - this.lastBackupAt < this.#everyMs;
  }

  async #make(to: string, begunAt: number): Promise<void> {
    const { databaseFile, clock, log, settings, make = makeBackupInProcess } = this.#options;
    const made = await make({ from: databaseFile, to, signal: this.#stopping.signal });
    this.#lastFailure = undefined;
    // The name contains the time in whole seconds.
    this.#newestBackup = { file: to, startedAt: begunAt - (begunAt % 1_000) };
    this.#checkedFile = to;
    log.info({ file: made.file, bytes: made.bytes, durationMs: clock.now() - begunAt }, 'backup complete');
    try {
      await this.#folder.prune(clock.now(), settings.backupKeep);
    } catch (err) {
      log.warn(
        { err, folder: this.#folder.path },
        'Old backups cannot be deleted. Check the permissions of the folder.',
      );
    }
  }

  #noteFailure(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.failedCount++;
    this.#lastFailure = { at: this.#options.clock.now(), why: why.endsWith('.') ? why : `${why}.` };
    this.#options.log.warn(
      { folder: this.#folder.path, why, ...(!(error instanceof StartError) && { err: error }) },
      `The scheduled backup failed. The server retries in ${retryMinutes} minutes. Check the free space and the permissions of the folder, or set another folder in ESPALIER_BACKUP_FOLDER.`,
    );
  }

  async #readFolder(): Promise<void> {
    [this.#newestBackup] = await listBackups(this.#folder.path, this.#options.clock.now());
  }
}

function formatTime(at: number): string {
  return new Date(at).toISOString();
}
