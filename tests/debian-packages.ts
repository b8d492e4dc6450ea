/**
 * Programs that tests run and npm does not bring, with the Debian package that has them. The test command installs what
 * is missing for the tests that are asked for, where it may; otherwise it says what to run.
 */

import { spawnSync } from 'node:child_process';
import { accessSync, constants, globSync } from 'node:fs';
import { delimiter, join, matchesGlob, relative, resolve } from 'node:path';

interface DebianPackage {
  /** Any of them will do. */
  readonly commands: readonly string[];
  /** Names one in their place. */
  readonly variable?: string;
  /** The files of the tests that cannot do without it. */
  readonly neededBy: string;
}

const packages = {
  chromium: {
    commands: ['chromium', 'chromium-browser', 'google-chrome'],
    variable: 'CHROMIUM',
    neededBy: 'tests/{browser,console}/**',
  },
  curl: { commands: ['curl'], neededBy: 'tests/{start,examples/curl,docs/tutorial,docs/readme}.test.ts' },
  jq: { commands: ['jq'], neededBy: 'tests/examples/curl.test.ts' },
  nginx: { commands: ['nginx'], neededBy: 'tests/deploy/nginx.test.ts' },
  python3: { commands: ['python3'], neededBy: 'tests/examples/python.test.ts' },
  systemd: { commands: ['systemd-analyze'], neededBy: 'tests/deploy/systemd.test.ts' },
} as const satisfies Readonly<Record<string, DebianPackage>>;

export type PackageName = keyof typeof packages;

const entries = Object.entries(packages) as [PackageName, DebianPackage][];
const root = join(import.meta.dirname, '..');

/** The program of a package; an error says how to get it. */
export function programOf(name: PackageName): string {
  const program = findProgram(packages[name]);
  if (program) return program;
  throw new Error(`There is no ${name} on this machine. ${howToGet([name])}`);
}

/** For the tests that these arguments of `node --test` name: files and globs. */
export function providePackages(tests: readonly string[]): void {
  const files = globSync([...tests], { cwd: root }).map((file) => relative(root, resolve(root, file)));
  const missing = entries
    .filter(([, { neededBy }]) => files.some((file) => matchesGlob(file, neededBy)))
    .filter(([, each]) => !findProgram(each))
    .map(([name]) => name);
  if (missing.length === 0) return;
  const list = missing.join(', ');
  if (process.getuid?.() !== 0 || !onPath('apt-get')) {
    throw new Error(`Tests need ${list}, not on this machine. ${howToGet(missing)}`);
  }
  console.log(`Installing ${list} with apt-get: tests need it, and it is not on this machine.`);
  install(missing);
}

function findProgram({ commands, variable }: DebianPackage): string | undefined {
  const given = variable && process.env[variable];
  if (!given) return commands.map(onPath).find((path) => path !== undefined);
  if (isProgram(given)) return given;
  throw new Error(`${variable} names ${given}, which is no program that can be run.`);
}

function onPath(command: string): string | undefined {
  // Services are not in everybody's path.
  const folders = [...(process.env['PATH'] ?? '').split(delimiter).filter(Boolean), '/usr/sbin'];
  return folders.map((folder) => join(folder, command)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Without a question, and patiently: somebody else may be installing. What apt-get says is shown if it fails. */
function install(missing: readonly PackageName[]): void {
  // Its lists may be good enough although one of its sources is not.
  const update = runApt(['update']);
  const flags = ['-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300'];
  const installed = runApt(['install', ...flags, ...missing]);
  if (installed.isDone) return;
  throw new Error(
    `apt-get failed:\n${update.isDone ? '' : update.said}${installed.said}${howToGet(missing)}`,
  );
}

function runApt(args: readonly string[]): { isDone: boolean; said: string } {
  const { status, stdout, stderr } = spawnSync('apt-get', ['-q', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    encoding: 'utf8',
    maxBuffer: Infinity,
  });
  return { isDone: status === 0, said: `${stdout}${stderr}`.slice(-2_000) };
}

function howToGet(missing: readonly PackageName[]): string {
  const names = missing.join(' ');
  const otherwise = entries
    .filter(([name, { variable }]) => variable && missing.includes(name))
    .map(([, { variable }]) => `, or name one: ${variable}=/path/to/it`);
  return `Install what is missing: sudo apt-get update && sudo apt-get install -y --no-install-recommends ${names}${otherwise.join('')}`;
}
