/**
 * Which test files of a whole run share a process, and in which order they begin. To load the server and to become quick
 * takes each process a second or two: what many small files do, they do in half the time together. Nothing is left out.
 */

import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..');

/** Files that share a process when nothing speaks against it, by folder. */
const sharing = [
  'contract/src/**/*.test.ts',
  'client/src/**/*.test.ts',
  'console/src/**/*.test.ts',
  'server/src/**/*.test.ts',
  ...['cli', 'client', 'live', 'tree'].map((folder) => `tests/${folder}/*.test.ts`),
  'tests/{journal,keys,once,people}/*.test.ts',
  'tests/*.test.ts',
  'tests/{metrics,postgres,stopping,traces,workers}/*.test.ts',
  'tests/{contract,hostile-input,large-tree,plan,rights,slow-clients,token-model,upgrade}/*.test.ts',
  'tests/{backup,copy,deploy,examples,published-clients}/*.test.ts',
  'tests/{docs,packages,release,secrets}/*.test.ts',
  'tests/{browser,console}/*.test.ts',
];

/** These take longest: they begin first, so that no processor waits for one of them at the end. */
const first = [
  'tests/console/axe.test.ts',
  'tests/many-nodes/chaos.test.ts',
  'tests/login-throttle.test.ts',
  'tests/tree/hostile-requests.test.ts',
  'tests/model/tree-model.test.ts',
  'tests/copy/interrupted-copy.test.ts',
  'tests/tree/tree-races.test.ts',
  'tests/start.test.ts',
  'tests/copy/copy.test.ts',
  'tests/many-nodes/crashes.test.ts',
  'tests/packages/packages.test.ts',
  'tests/live/mirror.test.ts',
  'tests/live/crowd.test.ts',
];

/** Those of units are many and short; of the others, each starts servers. */
const mostUnits = 40;
const mostOthers = 14;
/** Browser tests are long, so they form two groups that run at the same time. */
const mostBrowserFiles = 5;

/**
 * Hooks of a file's own, or changes of what belongs to a whole process: these would be felt by the next file. To read of
 * the process, to start others and to send them signals is felt by none.
 */
const ofItsProcess = new RegExp(
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

/** Each is what one process runs; together they are these files, each once. */
export function groupsOf(files: readonly string[], textOf: (file: string) => string): string[][] {
  const alone = new Set(files.filter((file) => first.includes(file) || ofItsProcess.test(textOf(file))));
  const left = new Set(files.filter((file) => !alone.has(file)));
  const groups = first.filter((file) => alone.delete(file)).map((file) => [file]);
  for (const pattern of sharing) {
    const together = globSync(pattern, { cwd: root }).filter((file) => left.delete(file));
    const most = maxFilesOf(pattern);
    const count = Math.ceil(together.length / most);
    // In turn, since neighbours are often of the same length.
    for (let place = 0; place < count; place++)
      groups.push(together.sort().filter((_, index) => index % count === place));
  }
  return [...groups, ...[...alone, ...left].sort().map((file) => [file])];
}

function maxFilesOf(pattern: string): number {
  if (pattern.includes('/src/')) return mostUnits;
  return pattern.includes('browser') ? mostBrowserFiles : mostOthers;
}

/** Writes a file for each group that loads its files; `node --test` begins them by their names. */
export function writeGroups(patterns: readonly string[], folder: string): string {
  const files = globSync([...patterns], { cwd: root });
  const groups = groupsOf(files, (file) => readFileSync(join(root, file), 'utf8'));
  mkdirSync(folder);
  for (const [place, group] of groups.entries()) {
    const name = `${String(place).padStart(3, '0')}~${nameOf(group).replaceAll('/', '~')}`;
    const loaded = group.map(
      (file) => `await import(${JSON.stringify(pathToFileURL(join(root, file)).href)});`,
    );
    writeFileSync(join(folder, `${name}.test.ts`), `${loaded.join('\n')}\n`);
  }
  return join(folder, '*.test.ts');
}

/** The files of a process by the name of what it was started with. */
export function filesOf(started: string): string {
  const name = basename(started, '.test.ts');
  return /^\d{3}~/.test(name) ? name.slice(4).replaceAll('~', '/') : started;
}

function nameOf([only, ...others]: readonly string[]): string {
  const name = only!.replace(/\.test\.ts$/, '');
  return others.length === 0 ? name : `${name} and ${others.length} others`;
}
