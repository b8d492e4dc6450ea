/**
 * Decides which test files of a full run share a process and in which order they start. Each process takes
 * one or two seconds to load and warm up the server, so a shared process halves the time of small files.
 */

import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '../..');

/** Files that may share a process, by folder: long groups first, so that no core is idle at the end. */
const sharedPatterns = [
  'tests/{browser,console}/*.test.ts',
  'tests/{docs,packages,release,secrets}/*.test.ts',
  ...['tree/**', '{cli,cli/doctor}', 'client', 'live/**'].map((folder) => `tests/${folder}/*.test.ts`),
  'tests/{idempotency,journal,keys,people}/*.test.ts',
  'tests/{api-keys,second-factors,single-sign-on}/*.test.ts',
  'tests/{database,http,login,operation,query-cost,runner,sessions}/*.test.ts',
  'tests/{metrics,postgres,stopping,traces,workers}/*.test.ts',
  'tests/{contract,hostile-input,large-tree,plan,rights,slow-clients,token-model,upgrade}/*.test.ts',
  'tests/{backup,copy,deploy,examples,published-clients}/*.test.ts',
  'server/src/**/*.test.ts',
  'console/src/**/*.test.ts',
  'client/src/**/*.test.ts',
  'contract/src/**/*.test.ts',
];

/** The slowest files. They start first, so that no core is idle at the end. */
const slowFiles = [
  'tests/console/axe.test.ts',
  'tests/many-nodes/chaos.test.ts',
  'tests/console/screens.test.ts',
  'tests/console/import-export.test.ts',
  'tests/workers/processes.test.ts',
  'tests/login/login-throttle.test.ts',
  'tests/tree/hostile-requests.test.ts',
  'tests/model/tree-model.test.ts',
  'tests/copy/interrupted-copy.test.ts',
  'tests/tree/tree-races.test.ts',
  'tests/operation/start.test.ts',
  'tests/copy/copy.test.ts',
  'tests/many-nodes/crashes.test.ts',
  'tests/packages/packages.test.ts',
  'tests/live/mirror/mirror.test.ts',
  'tests/live/crowd.test.ts',
];

/** Unit tests are many and short. The other tests start servers. */
const maxUnitFiles = 40;
const maxOtherFiles = 14;
/** Browser tests are long, so they form two groups that run at the same time. */
const maxBrowserFiles = 5;

/**
 * Matches files with hooks outside a suite and files that change the state of their process, because both
 * affect the next file. Reading process state, starting processes and sending them signals is harmless.
 */
const processChangePattern = new RegExp(
  [
    /^(before|after)(Each)?\(/,
    /(?<![#\w])process\.(?!\s|'|execPath|hrtime|kill\(|gete?[ug]id\b|umask\(\)|env\b)/,
    /\bprocess\.env(\[[^\]]*\]|\.\w+)?\s*=[^=]|\b(delete |assign\()process\.env/,
    /\bglobalThis\b|\bmock\.|\.prototype\.\w+ = |'node:(module|v8|inspector|async_hooks)'/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'm',
);

/** Returns the files of each process. Each file is in exactly one group. */
export function groupFiles(files: readonly string[], textOf: (file: string) => string): string[][] {
  const isolatedFiles = new Set(
    files.filter((file) => slowFiles.includes(file) || processChangePattern.test(textOf(file))),
  );
  const sharedFiles = new Set(files.filter((file) => !isolatedFiles.has(file)));
  const groups = slowFiles.filter((file) => isolatedFiles.delete(file)).map((file) => [file]);
  for (const pattern of sharedPatterns) {
    const matchingFiles = globSync(pattern, { cwd: root }).filter((file) => sharedFiles.delete(file));
    const maxFiles = maxFilesOf(pattern);
    const count = Math.ceil(matchingFiles.length / maxFiles);
    // Distributes the files in turn, because files next to each other often take the same time.
    for (let offset = 0; offset < count; offset++)
      groups.push(matchingFiles.sort().filter((_, index) => index % count === offset));
  }
  return [...groups, ...[...isolatedFiles, ...sharedFiles].sort().map((file) => [file])];
}

function maxFilesOf(pattern: string): number {
  if (pattern.includes('/src/')) return maxUnitFiles;
  return pattern.includes('browser') ? maxBrowserFiles : maxOtherFiles;
}

/**
 * Writes one file per group that imports the files of the group. `node --test` starts the group files in the order of
 * their names.
 */
export function writeGroups(patterns: readonly string[], folder: string): string {
  const files = globSync([...patterns], { cwd: root });
  const groups = groupFiles(files, (file) => readFileSync(join(root, file), 'utf8'));
  mkdirSync(folder);
  for (const [number, group] of groups.entries()) {
    const name = `${String(number).padStart(3, '0')}~${formatGroupName(group).replaceAll('/', '~')}`;
    const loaded = group.map(
      (file) => `await import(${JSON.stringify(pathToFileURL(join(root, file)).href)});`,
    );
    writeFileSync(join(folder, `${name}.test.ts`), `${loaded.join('\n')}\n`);
  }
  return join(folder, '*.test.ts');
}

/** Returns the names of the test files of a process from the path that started it. */
export function describeStartedFiles(startedPath: string): string {
  const name = basename(startedPath, '.test.ts');
  return /^\d{3}~/.test(name) ? name.slice(4).replaceAll('~', '/') : startedPath;
}

function formatGroupName([firstFile, ...otherFiles]: readonly string[]): string {
  const name = firstFile!.replace(/\.test\.ts$/, '');
  return otherFiles.length === 0 ? name : `${name} and ${otherFiles.length} others`;
}
