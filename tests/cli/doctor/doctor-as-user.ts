/**
 * Prints the doctor's findings about the database file of the given settings. If root runs it, switches to another user
 * first, because root can access every file.
 * Loads all modules before the switch, because the other user may not be able to read them.
 */

import { checkBackups, checkFiles } from '../../../server/src/cli/doctor/file-checks.ts';
import { checkDatabase } from '../../../server/src/cli/doctor/database-checks.ts';
import { runDoctorCheck, type CheckInput } from './doctor-findings.ts';

const [inputJson = '', uid = '', gid = ''] = process.argv.slice(2);
if (process.getuid!() === 0) {
  process.setgroups!([]);
  process.setgid!(Number(gid));
  process.setuid!(Number(uid));
}
const lines: string[] = [];
for (const check of [checkDatabase, checkFiles, checkBackups]) {
  lines.push(...(await runDoctorCheck(check, JSON.parse(inputJson) as CheckInput)));
}
console.log(JSON.stringify(lines));
