/**
 * The program that `findDamage` starts: prints the findings of an integrity check as JSON. It imports no other file of the
 * server, because it runs without the options that resolve packages to their sources.
 */

import BetterSqlite from 'better-sqlite3';

const busyTimeoutMs = 5_000;
const maxFindings = 20;

function checkFile(file: string): string[] {
  const connection = new BetterSqlite(file, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
  const rows = connection.pragma(`integrity_check(${maxFindings})`) as { integrity_check: string }[];
  connection.close();
  return rows.map(({ integrity_check }) => integrity_check).filter((finding) => finding !== 'ok');
}

try {
  process.stdout.write(JSON.stringify(checkFile(process.argv[2]!)));
} catch (error) {
  if (!(error instanceof BetterSqlite.SqliteError)) throw error;
  const isDamage = /^SQLITE_(CORRUPT|NOTADB)/.test(error.code);
  if (isDamage) process.stdout.write(JSON.stringify([error.message]));
  else {
    process.stderr.write(error.message);
    process.exitCode = 1;
  }
}
