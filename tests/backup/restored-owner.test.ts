/**
 * The owner of a restored database. If root runs this test, the expected owner is another user. Otherwise it is the
 * current user.
 */

import assert from 'node:assert/strict';
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { makeBackup } from '../../server/src/maintenance/backup/backup.ts';
import { restoreBackup } from '../../server/src/maintenance/backup/restore.ts';
import { sqlite } from '../support/databases.ts';
import { runEspalier } from '../support/espalier-command.ts';
import { Testbed } from '../support/testbed.ts';

const isRoot = process.geteuid!() === 0;
/** As root, ids that belong to no user or group of this machine. The two ids differ. */
const [uid, gid] = isRoot ? [64_321, 64_322] : [process.geteuid!(), process.getegid!()];
const now = Date.parse('2026-03-01T12:00:00Z');

describe('a restored database', () => {
  let folder: string;
  let backup: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-owner-'));
    backup = join(folder, 'backup.db');
    const testbed = await Testbed.start(sqlite);
    const source = testbed.database.url.slice('sqlite:'.length);
    await makeBackup({ from: source, to: backup, isReplacing: false });
    await testbed.stop();
  });
  after(() => rmSync(folder, { recursive: true }));

  const makeFolder = (name: string) => {
    mkdirSync(join(folder, name));
    chownSync(join(folder, name), uid, gid);
    return join(folder, name);
  };
  const ownerOf = (file: string) => {
    const { uid: user, gid: group, mode } = statSync(file);
    return { user, group, mode: mode & 0o777 };
  };

  test('belongs to the owner of its folder, like the folders created for it', async () => {
    const newFolder = makeFolder('new');
    const destination = join(newFolder, 'deep', 'er', 'espalier.db');
    const { newOwner } = await restoreBackup({ backup, to: destination, isReplacing: false, now });
    assert.deepEqual(newOwner, isRoot ? { uid, gid } : null);
    assert.deepEqual(ownerOf(destination), { user: uid, group: gid, mode: 0o600 });
    for (const path of ['deep', 'deep/er']) {
      assert.deepEqual(ownerOf(join(newFolder, path)), { user: uid, group: gid, mode: 0o700 });
    }
  });

  test('belongs to the owner of the replaced file, and the replaced file keeps its owner', async () => {
    const to = join(folder, 'espalier.db');
    await restoreBackup({ backup, to, isReplacing: false, now });
    assert.equal(ownerOf(to).user, statSync(folder).uid);
    chownSync(to, uid, gid);
    const { output, code } = await runEspalier(['restore', backup, '--replace'], {
      environment: { ESPALIER_DATABASE_URL: `sqlite:${to}` },
    });
    assert.equal(code, 0);
    assert.equal(
      /\nThe restored file belongs to the user 64321, like the previous database\.\n/.test(output),
      isRoot,
      output,
    );
    assert.deepEqual(ownerOf(to), { user: uid, group: gid, mode: 0o600 });
    const [earlierFile] = readdirSync(folder).filter((name) => name.includes('.before-restore-'));
    assert.deepEqual(ownerOf(join(folder, earlierFile!)), { user: uid, group: gid, mode: 0o600 });
  });
});
