/** Doctor checks of a database file that the server cannot use: wrong owner, wrong mode, or missing. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { checkDatabase } from '../../../server/src/cli/doctor/database-checks.ts';
import { checkFiles } from '../../../server/src/cli/doctor/file-checks.ts';
import { sqlite } from '../../support/databases.ts';
import { Testbed } from '../../support/testbed.ts';
import { runDoctorCheck } from './doctor-findings.ts';

const program = join(import.meta.dirname, 'doctor-as-user.ts');
const [uid, gid] = process.getuid!() === 0 ? [64_321, 64_322] : [process.getuid!(), process.getgid!()];

describe("the doctor's file check", () => {
  let home: string;
  let data: string;
  let file: string;
  let testbed: Testbed;
  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'espalier-doctor-files-'));
    data = join(home, 'data');
    file = join(data, 'espalier.db');
    const database = { url: `sqlite:${file}`, remove: () => Promise.resolve() };
    testbed = await Testbed.start(sqlite, { database });
  });
  afterEach(async () => {
    await testbed.stop();
    chmodSync(data, 0o700);
    rmSync(home, { recursive: true });
  });

  const settings = () => ({ DATABASE_URL: `sqlite:${file}`, BACKUP_FOLDER: join(home, 'backups') });
  /** Gives all files to the user who runs the checks. */
  const changeOwner = () => {
    for (const each of [home, data, file]) chownSync(each, uid, gid);
  };
  const checkAsUser = async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--conditions=espalier-source',
      program,
      JSON.stringify({ settings: settings() }),
      String(uid),
      String(gid),
    ]);
    return (JSON.parse(stdout) as string[]).filter(
      (line) => !/^(ok: |warning: There is no backup)/.test(line),
    );
  };

  test('reports a file that cannot be written, and leaves no files next to it', async () => {
    await testbed.stop();
    changeOwner();
    chmodSync(file, 0o400);
    assert.deepEqual(await checkAsUser(), [
      `problem: The current system user cannot write ${file}: its mode does not allow it. The server does not start. Fix: chmod 600 ${file}`,
    ]);
    assert.deepEqual(readdirSync(data), ['espalier.db']);
  });

  test('reports a folder without write permission', async () => {
    await testbed.stop();
    changeOwner();
    chmodSync(data, 0o555);
    assert.deepEqual(await checkAsUser(), [
      `problem: The current system user cannot create files in ${data}: its mode does not allow it. The server does not start, because it creates its write-ahead log there. Fix: chmod u+rwx ${data}`,
    ]);
  });

  test('reports a folder that cannot be entered as one problem', async () => {
    await testbed.stop();
    changeOwner();
    chmodSync(data, 0o600);
    assert.deepEqual(await checkAsUser(), [
      `problem: The current system user cannot access ${file}: no permission to enter ${data}. Fix: chmod u+rwx ${data}`,
    ]);
  });

  test('asks the operator to restore a missing file before restarting the server', async () => {
    const { port } = new URL(testbed.url);
    const runChecks = async (more: Record<string, string> = {}) => [
      ...(await runDoctorCheck(checkDatabase, { settings: { ...settings(), ...more } })),
      ...(await runDoctorCheck(checkFiles, { settings: { ...settings(), ...more } })),
    ];
    renameSync(file, `${file}.away`);
    const lines = await runChecks({ PORT: port });
    assert.match(lines[0]!, /^problem: The database file .* is missing, but a server runs at /);
    assert.match(lines[0]!, /Fix: Put the file back, .* before you restart the server\. /);
    assert.ok(!lines.join().includes('ENOENT'));
    assert.match(
      (await runChecks())[0]!,
      /^problem: The database file .* is missing, but its write-ahead log exists\. .* does not/,
    );
    renameSync(`${file}.away`, file);
  });

  test('expects the first start to create a missing file, unless a file blocks its folder', async () => {
    const other = join(home, 'other');
    mkdirSync(other);
    const runCheck = (name: string) =>
      runDoctorCheck(checkDatabase, { settings: { DATABASE_URL: `sqlite:${join(other, name)}` } });
    assert.deepEqual(await runCheck('new.db'), [
      `warning: The database file ${other}/new.db does not exist yet. Fix: The first start of the server creates it.`,
    ]);
    assert.match(
      (await runDoctorCheck(checkDatabase, { settings: { DATABASE_URL: `sqlite:${file}/new.db` } }))[0]!,
      /^problem: The .*new\.db does not exist yet, and the current system user cannot create it: .*espalier\.db is not a folder\. Fix: Set/,
    );
  });
});
