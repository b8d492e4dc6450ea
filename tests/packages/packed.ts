/** The packages as they would be published: each workspace built, packed by npm, and read back from its tarball. */

import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const root = join(import.meta.dirname, '../..');

/** The used fields of a package.json. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly license?: string;
  readonly private?: boolean;
  readonly type?: string;
  readonly engines?: { readonly node?: string };
  readonly files?: readonly string[];
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Exports;
  readonly publishConfig?: { readonly access?: string };
  readonly gypfile?: boolean;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

export type Exports = string | { readonly [condition: string]: Exports };

export interface PackedPackage {
  /** Its folder in the repository, for example `server`. */
  readonly workspace: string;
  readonly tarball: string;
  /** The manifest as published. */
  readonly manifest: Manifest;
  /** Sorted, relative to the package. */
  readonly files: readonly string[];
  /** The folder of the unpacked package. */
  readonly folder: string;
}

/** Returns the workspaces in the order of package.json, which lists dependencies first. */
export function workspaces(): readonly string[] {
  return (readJson(join(root, 'package.json')) as { workspaces: string[] }).workspaces;
}

export function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/**
 * Runs `npm run build`. Without the type check, the build takes half the time. Rebuilds the console only if
 * it has changed, because other tests serve it at the same time.
 */
export async function build({ checksTypes }: { checksTypes: boolean }): Promise<void> {
  await run(process.execPath, [join(root, 'console/build-when-stale.ts')], root);
  const others = workspaces().filter((workspace) => workspace !== 'console');
  const forTsc = checksTypes ? [] : ['--', '--noCheck'];
  await run(
    'npm',
    ['run', '--silent', ...others.map((name) => `--workspace=${name}`), 'build', ...forTsc],
    root,
  );
}

/** Packs the build and unpacks it into `node_modules` of the folder. */
export async function pack(destination: string): Promise<PackedPackage[]> {
  return Promise.all(workspaces().map((workspace) => packOne(workspace, destination)));
}

async function packOne(workspace: string, destination: string): Promise<PackedPackage> {
  const args = ['pack', '--json', '--ignore-scripts', `--pack-destination=${destination}`];
  const report = JSON.parse(await run('npm', args, join(root, workspace))) as object;
  const [{ filename }] = Object.values(report) as [{ filename: string }];
  const tarball = join(destination, filename);
  const manifest = JSON.parse(await run('tar', ['-xOzf', tarball, 'package/package.json'])) as Manifest;
  const folder = join(destination, 'node_modules', manifest.name);
  mkdirSync(folder, { recursive: true });
  const listed = await run('tar', ['-xvzf', tarball, '-C', folder, '--strip-components=1']);
  const files = listed
    .split('\n')
    .filter((name) => name && !name.endsWith('/'))
    .map((name) => name.replace(/^package\//, ''));
  return { workspace, tarball, manifest, files: files.sort(), folder };
}

/** Returns the standard output. An error contains it as well, because tsc prints its errors there. */
export async function run(
  command: string,
  args: readonly string[],
  cwd = root,
  path = process.env['PATH'],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const quiet = { npm_config_loglevel: 'error', npm_config_audit: 'false', npm_config_fund: 'false' };
  const options = { cwd, env: { ...process.env, PATH: path, ...quiet, ...environment }, maxBuffer: Infinity };
  try {
    return (await promisify(execFile)(command, args, options)).stdout;
  } catch (error) {
    const { message, stdout } = error as Error & { stdout?: string };
    throw new Error(`${message}\n${stdout ?? ''}`, { cause: error });
  }
}
