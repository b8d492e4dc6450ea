/**
 * Prints what the doctor finds about the database file of the given settings, as another user if root runs it: root may do everything. All
 * is loaded before, for that user may not be able to read it.
 */

import { checkBackups } from '../../server/src/cli/doctor/backups-check.ts';
import { checkDatabase } from '../../server/src/cli/doctor/database-check.ts';
import { checkFiles } from '../../server/src/cli/doctor/files-check.ts';
import { found, type Looked } from './doctor-findings.ts';

const [looked = '', uid = '', gid = ''] = process.argv.slice(2);
if (process.getuid!() === 0) {
  process.setgroups!([]);
  process.setgid!(Number(gid));
  process.setuid!(Number(uid));
}
const lines: string[] = [];
for (const check of [checkDatabase, checkFiles, checkBackups]) {
  lines.push(...(await found(check, JSON.parse(looked) as Looked)));
}
console.log(JSON.stringify(lines));
