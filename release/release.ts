/**
 * The lifecycle scripts of `npm version`, which makes a release: `check` runs before npm changes anything, `write` before
 * npm commits, and `published` at the end. See docs/decisions/19-packages-and-releases.md.
 */

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addRelease, readUnreleased } from './changelog.ts';
import { listSchemaBreaks } from './schema-breaks.ts';

interface Manifest {
  readonly name: string;
  version: string;
  readonly workspaces?: readonly string[];
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
}

/** Files that name the version of the image. */
const imageFiles = [
  'Dockerfile',
  'deploy/compose.yaml',
  'deploy/kubernetes.yaml',
  'docs/operators/docker.md',
  'docs/operators/kubernetes.md',
];
/** The version after the image's name, and in its label. */
const imageVersion = /(?<=\bespalier:|image\.version=")\d+\.\d+\.\d+/g;

/** Fails if the release cannot be made. Without a version it only checks the repository. */
export function checkRelease(root: string, version?: string): void {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const current = readManifest(join(root, 'package.json')).version;
  // npm ignores untracked files, and the release would commit them.
  if (git('status', '--porcelain') !== '')
    throw new Error('There are uncommitted changes. Commit or remove them first.');
  if (readUnreleased(read(root, 'CHANGELOG.md')) === '') {
    throw new Error('CHANGELOG.md has nothing under "## Unreleased".');
  }
  const fileWithoutVersion = imageFiles.find((file) => read(root, file).search(imageVersion) < 0);
  if (fileWithoutVersion) throw new Error(`${fileWithoutVersion} does not contain the version of the image.`);
  if (version === undefined) return;
  if (git('tag', '--list', `v${version}`) !== '') throw new Error(`There is a release v${version} already.`);
  if (compareVersions(version, current) < 0) {
    throw new Error(`${version} is older than the current version ${current}.`);
  }
  const isFirst = git('tag', '--list', `v${current}`) === '';
  if (!isFirst && !mayBreak(current, version)) rejectBreaks(root, version);
}

/** Writes the version into all files that contain it, except the package.json of the root, which npm has changed. */
export function writeRelease(root: string, version: string, date: string): void {
  const { workspaces = [] } = readManifest(join(root, 'package.json'));
  const files = workspaces.map((workspace) => join(root, workspace, 'package.json'));
  const names = new Set(files.map((file) => readManifest(file).name));
  for (const file of files) {
    const manifest = readManifest(file);
    manifest.version = version;
    for (const ranges of [manifest.dependencies, manifest.devDependencies, manifest.peerDependencies]) {
      for (const name of Object.keys(ranges ?? {})) if (names.has(name)) ranges![name] = version;
    }
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  }
  const options = ['--package-lock-only', '--ignore-scripts', '--offline', '--no-audit', '--no-fund'];
  execFileSync('npm', ['install', ...options], { cwd: root, stdio: 'ignore' });
  for (const file of imageFiles) {
    writeFileSync(join(root, file), read(root, file).replaceAll(imageVersion, version));
  }
  writeFileSync(join(root, 'CHANGELOG.md'), addRelease(read(root, 'CHANGELOG.md'), version, date));
}

/** Returns all files that contain the version. A test checks that no other file contains it. */
export function listVersionFiles(root: string): string[] {
  const { workspaces = [] } = readManifest(join(root, 'package.json'));
  const manifests = workspaces.map((workspace) => `${workspace}/package.json`);
  return ['package.json', ...manifests, 'package-lock.json', ...imageFiles];
}

/** Semantic versioning: a break needs a new major version, and before 1.0.0 a new minor version. */
function mayBreak(current: string, version: string): boolean {
  const [before, after] = [current.split('.'), version.split('.')];
  return after[0] !== before[0] || (after[0] === '0' && after[1] !== before[1]);
}

function rejectBreaks(root: string, version: string): void {
  const releasedSchema = read(root, 'contract/released-schema.graphql');
  const [firstBreak] = listSchemaBreaks(releasedSchema, read(root, 'contract/schema.graphql'));
  if (firstBreak) throw new Error(`${version} must not break clients, but this change does: ${firstBreak}`);
}

function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

function read(root: string, file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8')) as Manifest;
}

const publishSteps = `Publish the release with:

  git push --follow-tags
  npm run docs:build
  npm publish --workspaces --provenance

Then add dist/sbom.cdx.json to the release page.`;

if (import.meta.main) {
  const root = process.cwd();
  const [step, version] = process.argv.slice(2);
  try {
    if (step === 'check') {
      checkRelease(root, version);
      console.log(`Release ${version ?? 'candidate'}:\n\n${readUnreleased(read(root, 'CHANGELOG.md'))}\n`);
    } else if (step === 'write') writeRelease(root, version!, new Date().toISOString().slice(0, 10));
    else console.log(publishSteps);
  } catch (error) {
    console.error(`No release was made. ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
