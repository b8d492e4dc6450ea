/**
 * The programs that tests need and npm does not install, with their Debian packages. As root, the test
 * command installs the packages that the selected tests need. Otherwise, it prints the command to run.
 */

import { spawnSync } from 'node:child_process';
import { accessSync, constants, globSync } from 'node:fs';
import { delimiter, join, matchesGlob, relative, resolve } from 'node:path';

interface DebianPackage {
  /** Any one of these commands is sufficient. */
  readonly commands: readonly string[];
  /** An environment variable that names another program to use instead. */
  readonly variable?: string;
  /** A glob of the test files that need the program. */
  readonly neededBy: string;
}

const packages = {
  // Without the windows of a desktop browser, pages take about a fifth less CPU time.
  'chromium-headless-shell': {
    commands: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'],
    variable: 'CHROMIUM',
    neededBy: 'tests/{browser/*,console/*,docs/site,single-sign-on/*}.test.ts',
  },
  curl: {
    commands: ['curl'],
    neededBy: 'tests/{operation/start,examples/curl,docs/tutorial,docs/readme}.test.ts',
  },
  fish: { commands: ['fish'], neededBy: 'tests/cli/shell-completion.test.ts' },
  jq: { commands: ['jq'], neededBy: 'tests/examples/curl.test.ts' },
  nginx: { commands: ['nginx'], neededBy: 'tests/deploy/nginx.test.ts' },
  python3: { commands: ['python3'], neededBy: 'tests/examples/python.test.ts' },
  systemd: { commands: ['systemd-analyze'], neededBy: 'tests/deploy/systemd.test.ts' },
  zsh: { commands: ['zsh'], neededBy: 'tests/cli/shell-completion.test.ts' },
} as const satisfies Readonly<Record<string, DebianPackage>>;

export type PackageName = keyof typeof packages;

const entries = Object.entries(packages) as [PackageName, DebianPackage][];
const root = join(import.meta.dirname, '../..');

/** Returns the path of a package's program. Otherwise throws an error that explains how to install it. */
export function requireProgram(name: PackageName): string {
  const program = findProgram(packages[name]);
  if (program) return program;
  throw new Error(`There is no ${name} on this machine. ${formatAdvice([name])}`);
}

/** Installs missing packages for the tests that these files and globs of `node --test` select. */
export function providePackages(tests: readonly string[]): void {
  const files = globSync([...tests], { cwd: root }).map((file) => relative(root, resolve(root, file)));
  const missing = entries
    .filter(([, { neededBy }]) => files.some((file) => matchesGlob(file, neededBy)))
    .filter(([, each]) => !findProgram(each))
    .map(([name]) => name);
  if (missing.length === 0) return;
  const list = missing.join(', ');
  if (process.getuid?.() !== 0 || !onPath('apt-get')) {
    throw new Error(`Tests need ${list}, and this machine does not have it. ${formatAdvice(missing)}`);
  }
  console.log(`Installing ${list} with apt-get, because tests need it.`);
  install(missing);
}

function findProgram({ commands, variable }: DebianPackage): string | undefined {
  const override = variable && process.env[variable];
  if (!override) return commands.map(onPath).find((path) => path !== undefined);
  if (isProgram(override)) return override;
  throw new Error(`${variable} names ${override}, which is not an executable program.`);
}

function onPath(command: string): string | undefined {
  // Programs in /usr/sbin are not in every user's path.
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

/**
 * Runs without a prompt and waits up to 300 seconds if another installation holds the lock. The error contains the
 * output of apt-get.
 */
function install(missing: readonly PackageName[]): void {
  // A failed update is not fatal, because the existing package lists may be sufficient.
  const update = runApt(['update']);
  const flags = ['-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300'];
  const installation = runApt(['install', ...flags, ...missing]);
  if (installation.isDone) return;
  throw new Error(
    `apt-get failed:\n${update.isDone ? '' : update.output}${installation.output}${formatAdvice(missing)}`,
  );
}

function runApt(args: readonly string[]): { isDone: boolean; output: string } {
  const { status, stdout, stderr } = spawnSync('apt-get', ['-q', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    encoding: 'utf8',
    maxBuffer: Infinity,
  });
  return { isDone: status === 0, output: `${stdout}${stderr}`.slice(-2_000) };
}

function formatAdvice(missing: readonly PackageName[]): string {
  const names = missing.join(' ');
  const alternatives = entries
    .filter(([name, { variable }]) => variable && missing.includes(name))
    .map(([, { variable }]) => `, or set ${variable} to its path`);
  return `Install the missing packages: sudo apt-get update && sudo apt-get install -y --no-install-recommends ${names}${alternatives.join('')}`;
}
