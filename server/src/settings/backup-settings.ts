/** Backups that the server makes of its database file by itself. */

import { setting } from './setting.ts';
import { text, wholeNumber } from './setting-values.ts';

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
