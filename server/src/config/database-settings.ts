/** Settings of the database, of retention and of scheduled backups. */

import { databaseUrl, oneOf, optionalSetting, setting, text, wholeNumber } from './setting.ts';

export const databaseSettings = {
  databaseUrl: setting('DATABASE_URL', databaseUrl, 'sqlite:./espalier-data/espalier.db', {
    about:
      'The database: a file, which the server creates with its folder if it is missing, or a PostgreSQL database, which is empty before the first start.',
    mayBeFile: true,
    mayHoldPassword: true,
  }),
  databaseConnections: setting('DATABASE_CONNECTIONS', wholeNumber(6, 1_000), '16', {
    about: 'The maximum number of connections to PostgreSQL that each worker process of this node opens.',
  }),
  databasePoolMode: setting('DATABASE_POOL_MODE', oneOf('session', 'transaction'), 'session', {
    about:
      'Set it to transaction if a proxy such as PgBouncer pools transactions. The server then prepares no statements, and polls for changes of other nodes every 500 ms instead of using LISTEN.',
  }),
  databaseTimeoutSeconds: setting('DATABASE_TIMEOUT_SECONDS', wholeNumber(1, 3_600), '30', {
    about: 'The maximum duration of one statement on PostgreSQL.',
  }),
  trashDays: setting('TRASH_DAYS', wholeNumber(0, 3650), '30', {
    about: 'The number of days for which a deleted folder can be restored before it is purged.',
  }),
  journalDays: setting('JOURNAL_DAYS', wholeNumber(1, 36_500), '90', {
    about: 'The number of days for which the journal keeps its entries.',
  }),
  journalEntries: setting('JOURNAL_ENTRIES', wholeNumber(1_000, 1_000_000_000), '1000000', {
    about: 'The maximum number of entries that the journal keeps. The oldest entries are deleted first.',
  }),
};

/** Scheduled backups of the database file. */
export const backupSettings = {
  backupFolder: optionalSetting('BACKUP_FOLDER', text('the path of a folder for this installation only'), {
    about:
      'The folder for scheduled backups of the database file, best on another disk. The server creates it if it is missing. Without it, the server makes no backups. For PostgreSQL, use the tools of PostgreSQL.',
  }),
  backupEveryHours: setting('BACKUP_EVERY_HOURS', wholeNumber(1, 8_760), '24', {
    about: 'The number of hours from one backup to the next, also across restarts of the server.',
    onlyWith: 'BACKUP_FOLDER',
  }),
  backupKeep: setting('BACKUP_KEEP', wholeNumber(1, 10_000), '7', {
    about:
      'The number of scheduled backups to keep. Older ones are deleted; other files in the folder are never touched.',
    onlyWith: 'BACKUP_FOLDER',
  }),
};
