/**
 * `npm run release -- minor`: makes a release of all packages as one commit with a tag. It publishes and pushes nothing; at
 * the end it says how. With --dry-run it looks at everything and changes nothing.
 */

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unreleased, withRelease } from './changelog.ts';
import { schemaBreaks } from './schema-breaks.ts';
import { currentVersion, nextVersion, requireImageVersion, writeVersion } from './versions.ts';

export interface Release {
  readonly root: string;
  /** `major`, `minor`, `patch`, or a version. */
  readonly wanted: string;
  /** Of the day: `2027-01-31`. */
  readonly date: string;
  readonly isDry: boolean;
  /** Runs a script of package.json, and throws if it fails. */
  readonly script: (name: string) => void;
  readonly say: (line: string) => void;
}

export function release({ root, wanted, date, isDry, script, say }: Release): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const current = currentVersion(root);
  const version = nextVersion(current, wanted);
  const tag = `v${version}`;

  if (git('status', '--porcelain') !== '') throw new Error('There is something that is not committed.');
  if (git('tag', '--list', tag) !== '') throw new Error(`There is a release ${tag} already.`);
  const hasCurrent = git('tag', '--list', `v${current}`) !== '';
  const released = withRelease(changelog, version, date);
  requireImageVersion(root);
  refuseHiddenBreaks({ root, current, version, hasCurrent });
  say(`Release ${version}, after ${hasCurrent ? current : 'none'}:\n\n${unreleased(changelog)}\n`);
  if (isDry) return version;

  script('check');
  // `check` passes when the audit service cannot be reached. A release does not.
  script('check:audit:required');
  const changed = writeVersion(root, version);
  writeFileSync(join(root, 'CHANGELOG.md'), released);
  // In this order: the schema is written first, the fixture is of the new version, and the list is made of what is committed.
  for (const name of ['generate', 'released-schema', 'fixture', 'licences', 'sbom']) script(name);
  git('add', '--all');
  git('commit', '--quiet', '--message', `chore(release): ${version}`);
  git('tag', '--annotate', tag, '--message', `Espalier ${version}`);
  say(`${changed.length} files with the version, CHANGELOG.md and what is made of them are committed as ${tag}. Publish it with:

  git push --follow-tags
  npm publish --workspaces --provenance

Add dist/sbom.cdx.json to the page of the release.`);
  return version;
}

/** Semantic versioning: what breaks clients is a major release, and before 1.0.0 a minor one. */
function refuseHiddenBreaks(of: {
  root: string;
  current: string;
  version: string;
  hasCurrent: boolean;
}): void {
  const [before, after] = [of.current, of.version].map((each) => each.split('.').map(Number));
  const mayBreak =
    !of.hasCurrent || after![0] !== before![0] || (after![0] === 0 && after![1] !== before![1]);
  if (mayBreak) return;
  const read = (name: string) => readFileSync(join(of.root, 'contract', name), 'utf8');
  const [broken] = schemaBreaks(read('released-schema.graphql'), read('schema.graphql'));
  if (broken) throw new Error(`${of.version} may break no client, and this does: ${broken}`);
}

if (import.meta.main) {
  const [wanted, ...others] = process.argv.slice(2).filter((argument) => argument !== '--dry-run');
  const root = join(import.meta.dirname, '..');
  const script = (name: string) =>
    void execFileSync('npm', ['run', '--silent', '--if-present', name], { cwd: root, stdio: 'inherit' });
  try {
    if (!wanted || others.length > 0)
      throw new Error('Use: npm run release -- major|minor|patch|<version> [--dry-run]');
    const date = new Date().toISOString().slice(0, 10);
    release({ root, wanted, date, isDry: process.argv.includes('--dry-run'), script, say: console.log });
  } catch (error) {
    console.error(`No release was made. ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
