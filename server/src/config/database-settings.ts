/** Settings of the database, of retention and of scheduled backups. */

import { setting } from './setting.ts';
import { databaseUrl, oneOf, text, wholeNumber } from './setting-values.ts';

export const databaseSettings = {
  databaseUrl: setting({
    name: 'DATABASE_URL',
    about:
      'Where the data is kept: a file, which is created with its folder if missing, or an empty database of a PostgreSQL server.',
    accepts:
      'sqlite: followed by the path of a file, or postgres://user:password@host:port/database with special characters of the password percent-encoded',
    default: 'sqlite:./espalier-data/espalier.db',
    mayBeFile: true,
    mayHoldPassword: true,
    parse: databaseUrl,
  }),
  databaseConnections: setting({
    name: 'DATABASE_CONNECTIONS',
    about:
      'How many connections to PostgreSQL this node opens, at most; each of its workers, if it has several.',
    accepts: 'a whole number from 6 to 1000',
    default: '16',
    parse: wholeNumber(6, 1_000),
  }),
  databasePoolMode: setting({
    name: 'DATABASE_POOL_MODE',
    about:
      'Transaction if a proxy in between pools transactions, as PgBouncer does: then no statements are prepared, and other nodes’ changes are looked for every 500 ms instead of listened to.',
    accepts: 'session or transaction',
    default: 'session',
    parse: oneOf(['session', 'transaction'] as const),
  }),
  databaseTimeoutSeconds: setting({
    name: 'DATABASE_TIMEOUT_SECONDS',
    about: 'How long PostgreSQL may work on one statement.',
    accepts: 'a whole number from 1 to 3600',
    default: '30',
    parse: wholeNumber(1, 3_600),
  }),
  trashDays: setting({
    name: 'TRASH_DAYS',
    about: 'How many days a deleted folder can be restored before it is purged.',
    accepts: 'a whole number from 0 to 3650',
    default: '30',
    parse: wholeNumber(0, 3650),
  }),
  journalDays: setting({
    name: 'JOURNAL_DAYS',
    about: 'How many days the journal keeps its entries.',
    accepts: 'a whole number from 1 to 36500',
    default: '90',
    parse: wholeNumber(1, 36_500),
  }),
  journalEntries: setting({
    name: 'JOURNAL_ENTRIES',
    about: 'How many entries the journal keeps, the latest.',
    accepts: 'a whole number from 1000 to 1000000000',
    default: '1000000',
    parse: wholeNumber(1_000, 1_000_000_000),
  }),
};

/** Scheduled backups of the database file. */
export const backupSettings = {
  backupFolder: setting({
    name: 'BACKUP_FOLDER',
    about:
      'Where backups of the database file are put by themselves, best on another disk; created if missing. Without it, none are made. PostgreSQL has tools of its own.',
    accepts: 'the path of a folder that no other installation puts backups into',
    parse: text,
  }),
  backupEveryHours: setting({
    name: 'BACKUP_EVERY_HOURS',
    about: 'How many hours after the last backup the next one is made, also when the server was restarted.',
    accepts: 'a whole number from 1 to 8760',
    default: '24',
    onlyWith: 'BACKUP_FOLDER',
    parse: wholeNumber(1, 8_760),
  }),
  backupKeep: setting({
    name: 'BACKUP_KEEP',
    about: 'How many of these backups are kept, the newest; other files in the folder are never touched.',
    accepts: 'a whole number from 1 to 10000',
    default: '7',
    onlyWith: 'BACKUP_FOLDER',
    parse: wholeNumber(1, 10_000),
  }),
};
