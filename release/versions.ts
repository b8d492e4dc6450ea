/** The one version of all packages: the next one, and where it is written. Knows nothing of git. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const levels = ['major', 'minor', 'patch'] as const;
/** What makes, runs or shows the image. */
const imageFiles = [
  'Dockerfile',
  'deploy/compose.yaml',
  'deploy/kubernetes.yaml',
  'docs/docker.md',
  'docs/kubernetes.md',
];
/** After its name, and in its label. */
const imageVersion = /(?<=\bespalier:|image\.version=")\d+\.\d+\.\d+/g;

interface Manifest {
  readonly name: string;
  version: string;
  workspaces?: string[];
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/** `minor`, or a version in full, which may be the one that is there if it has not been released. */
export function nextVersion(current: string, wanted: string): string {
  if (isVersion(wanted)) {
    if (compare(wanted, current) < 0) throw new Error(`${wanted} is older than ${current}, which is there.`);
    return wanted;
  }
  const place = levels.findIndex((level) => level === wanted);
  if (place < 0) throw new Error(`"${wanted}" is none of ${levels.join(', ')}, nor a version such as 1.2.3.`);
  return numbers(current)
    .map((number, index) => (index < place ? number : index === place ? number + 1 : 0))
    .join('.');
}

export function currentVersion(root: string): string {
  return readManifest(join(root, 'server/package.json')).version;
}

/** All that name the version, from the root. A test finds one that is not here. */
export function filesWithVersion(root: string): string[] {
  return [...manifestsOf(root), 'package-lock.json', ...imageFiles];
}

/**
 * In every workspace, in what they ask of each other, in the lock file, which npm would change in the same way, and in the
 * name of the image.
 */
export function writeVersion(root: string, version: string): string[] {
  const { workspaces = [] } = readManifest(join(root, 'package.json'));
  const files = manifestsOf(root);
  const names = new Set(files.map((file) => readManifest(join(root, file)).name));
  for (const file of files)
    rewrite(join(root, file), (manifest: Manifest) => setVersion(manifest, names, version));
  rewrite(join(root, 'package-lock.json'), ({ packages }: { packages: Record<string, Manifest> }) => {
    for (const workspace of workspaces) setVersion(packages[workspace]!, names, version);
  });
  for (const file of imageFiles) {
    const path = join(root, file);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(imageVersion, version));
  }
  return filesWithVersion(root);
}

/** One that names no version any more is a mistake here, or there. */
export function requireImageVersion(root: string): void {
  const file = imageFiles.find((each) => readFileSync(join(root, each), 'utf8').search(imageVersion) < 0);
  if (file !== undefined) throw new Error(`${file} does not name the version of the image.`);
}

function manifestsOf(root: string): string[] {
  const { workspaces = [] } = readManifest(join(root, 'package.json'));
  return workspaces.map((workspace) => `${workspace}/package.json`);
}

function setVersion(manifest: Manifest, names: ReadonlySet<string>, version: string): void {
  manifest.version = version;
  for (const ranges of [manifest.dependencies, manifest.devDependencies, manifest.peerDependencies])
    for (const name of Object.keys(ranges ?? {})) if (names.has(name)) ranges![name] = version;
}

function rewrite<T>(file: string, change: (value: T) => void): void {
  const value = JSON.parse(readFileSync(file, 'utf8')) as T;
  change(value);
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8')) as Manifest;
}

function isVersion(text: string): boolean {
  return /^\d+\.\d+\.\d+$/.test(text);
}

function numbers(version: string): number[] {
  return version.split('.').map(Number);
}

function compare(one: string, other: string): number {
  const [a, b] = [numbers(one), numbers(other)];
  const place = a.findIndex((number, index) => number !== b[index]);
  return place < 0 ? 0 : a[place]! - b[place]!;
}
