/** The program that `findDamage` starts: prints what is wrong with the file of its argument, as JSON. */

import BetterSqlite from 'better-sqlite3';

const busyTimeoutMs = 5_000;
const mostFindings = 20;

function findingsIn(file: string): string[] {
  const connection = new BetterSqlite(file, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
  const rows = connection.pragma(`integrity_check(${mostFindings})`) as { integrity_check: string }[];
  connection.close();
  return rows.map(({ integrity_check }) => integrity_check).filter((finding) => finding !== 'ok');
}

try {
  process.stdout.write(JSON.stringify(findingsIn(process.argv[2]!)));
} catch (error) {
  if (!(error instanceof BetterSqlite.SqliteError)) throw error;
  const isDamage = /^SQLITE_(CORRUPT|NOTADB)/.test(error.code);
  if (isDamage) process.stdout.write(JSON.stringify([error.message]));
  else {
    process.stderr.write(error.message);
    process.exitCode = 1;
  }
}
