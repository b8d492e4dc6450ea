/**
 * Runs the test suite on both databases. Takes the arguments of `node --test`.
 * Starts a PostgreSQL server and, on Debian, installs the programs that tests need. Prints the test counts for each
 * database and the slowest files.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { withDatabaseFolder } from './runner/database-folder.ts';
import { providePackages } from './runner/debian-packages.ts';
import { formatSlowestFiles, timesVariable } from './runner/file-times.ts';
import { withPostgres } from './postgres/provided-postgres.ts';
import { withPreparedTemplates } from './runner/prepared-templates.ts';
import { folderVariable, storeRecord } from './secrets/secret-record.ts';
import { searchSuite } from './secrets/suite-secrets.ts';
import { writeGroups } from './runner/test-groups.ts';

const everything = ['contract', 'client', 'console', 'server']
  .map((workspace) => `${workspace}/src/**/*.test.ts`)
  .concat('tests/**/*.test.ts');
const root = join(import.meta.dirname, '..');
const compileCache = join(root, 'node_modules/.cache/espalier-tests');

const cliArguments = process.argv.slice(2);
const namedFiles = cliArguments.filter((argument) => !argument.startsWith('-'));
const files = namedFiles.length > 0 ? [] : everything;
const preloaded =
  files.length > 0
    ? ['record-file-times.ts', 'untracked-promises.ts', 'end-stuck-files.ts']
    : ['end-stuck-files.ts'];
try {
  providePackages([...namedFiles, ...files]);
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
    (log) => storeRecord(secretsFolder, { file: 'PostgreSQL', secrets: [] }, log),
  );
  process.stdout.write(readFileSync(countsFile, 'utf8'));
  if (files.length > 0) process.stdout.write(formatSlowestFiles(process.env[timesVariable] ?? timesFolder));
  const { isClean, report } = searchSuite(secretsFolder);
  process.stdout.write(report);
  if (!isClean) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}

async function runTests(): Promise<number> {
  const reporters = { spec: 'stdout', [join(root, 'tests/runner/count-reporter.ts')]: countsFile };
  const child = spawn(
    process.execPath,
    [
      '--conditions=espalier-source',
      ...preloaded.map((name) => `--import=${join(root, 'tests/runner', name)}`),
      '--test',
      '--test-timeout=180000',
      // Tests often wait for a disk, a database or another process, so run twice as many as there are cores.
      `--test-concurrency=${availableParallelism() * 2}`,
      ...Object.entries(reporters).flatMap(([reporter, destination]) => [
        `--test-reporter=${reporter}`,
        `--test-reporter-destination=${destination}`,
      ]),
      ...cliArguments,
      ...(files.length > 0 ? [writeGroups(files, join(folder, 'groups'))] : []),
    ],
    // The processes share a compile cache.
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
  // Ctrl-C reaches the child process as well. This process stays alive because it still has to stop PostgreSQL.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.on('SIGHUP', () => child.kill('SIGHUP'));
  const [code] = await ended;
  return code ?? 1;
}
