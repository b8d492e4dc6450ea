/**
 * The test command: every test on every database, or what its arguments choose, which are those of `node --test`.
 * Brings a PostgreSQL and, on Debian, the programs that they run; ends with how many tests ran on which database, and
 * which files took longest.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { withDatabaseFolder } from './database-folder.ts';
import { providePackages } from './debian-packages.ts';
import { slowestFiles, timesVariable } from './file-times.ts';
import { withPostgres } from './postgres/provided-postgres.ts';
import { withPreparedTemplates } from './prepared-templates.ts';
import { folderVariable, leaveRecord } from './secrets/secret-record.ts';
import { searchSuite } from './secrets/suite-secrets.ts';
import { writeGroups } from './test-groups.ts';

const everything = ['contract', 'client', 'console', 'server']
  .map((workspace) => `${workspace}/src/**/*.test.ts`)
  .concat('tests/**/*.test.ts');
const root = join(import.meta.dirname, '..');
const compileCache = join(root, 'node_modules/.cache/espalier-tests');

const given = process.argv.slice(2);
const named = given.filter((argument) => !argument.startsWith('-'));
const files = named.length > 0 ? [] : everything;
const preloaded = files.length > 0 ? ['leave-times.ts', 'untracked-promises.ts'] : [];
try {
  providePackages([...named, ...files]);
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'espalier-tests-'));
const countsFile = join(folder, 'counts');
const secretsFolder = join(folder, 'secrets');
const timesFolder = join(folder, 'times');
try {
  process.exitCode = await withPostgres(
    () => withDatabaseFolder(() => withPreparedTemplates(() => runTests())),
    (log) => leaveRecord(secretsFolder, { file: 'PostgreSQL', secrets: [] }, log),
  );
  process.stdout.write(readFileSync(countsFile, 'utf8'));
  if (files.length > 0) process.stdout.write(slowestFiles(process.env[timesVariable] ?? timesFolder));
  const { isClean, report } = searchSuite(secretsFolder);
  process.stdout.write(report);
  if (!isClean) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}

/** Answers with the exit code. */
async function runTests(): Promise<number> {
  const reporters = { spec: 'stdout', [join(root, 'tests/count-reporter.ts')]: countsFile };
  const child = spawn(
    process.execPath,
    [
      '--conditions=espalier-source',
      ...preloaded.map((name) => `--import=${join(root, 'tests', name)}`),
      '--test',
      '--test-timeout=180000',
      // Part of a test is waiting: for a disk, a database, another process.
      `--test-concurrency=${availableParallelism() * 2}`,
      ...Object.entries(reporters).flatMap(([reporter, destination]) => [
        `--test-reporter=${reporter}`,
        `--test-reporter-destination=${destination}`,
      ]),
      ...given,
      ...(files.length > 0 ? [writeGroups(files, join(folder, 'groups'))] : []),
    ],
    // There are many processes: what one has compiled, the next need not.
    {
      cwd: root,
      stdio: 'inherit',
      env: {
        NODE_COMPILE_CACHE: compileCache,
        [folderVariable]: secretsFolder,
        [timesVariable]: timesFolder,
        ...process.env,
      },
    },
  );
  const ended = once(child, 'exit') as Promise<[code: number | null]>;
  // Whoever presses Ctrl-C stops the tests too; then there is still a server to stop.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.on('SIGHUP', () => child.kill('SIGHUP'));
  const [code] = await ended;
  return code ?? 1;
}
