/** `npm run release` in a repository of its own, with real git; the scripts that it runs are noted, and not run. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { release } from '../../release/release.ts';
import { currentVersion, filesWithVersion } from '../../release/versions.ts';

const source = join(import.meta.dirname, '../..');
const workspaces = ['contract', 'client', 'console', 'server'];
const copied = [
  'package.json',
  'package-lock.json',
  'contract/schema.graphql',
  'contract/released-schema.graphql',
  ...filesWithVersion(source),
];
/** They tell of earlier versions, or of those of others; what is made up in a test is no version of ours. */
const tellsOfOthers =
  /^(CHANGELOG\.md|docs\/(decisions\/.*|licences\.md|versioning\.md)|tests\/.*|.*\.test\.tsx?)$/;
/** Lines in which Espalier has that version. */
const namings = (text: string, version: string) =>
  text
    .split('\n')
    .filter((line) => /espalier|image\.version|"version":/i.test(line))
    .filter((line) => new RegExp(`(?<![\\d.])${version.replaceAll('.', '\\.')}(?!\\d|\\.\\d)`).test(line));
const changelog = `# Changelog

## Unreleased

### Added

- A tree.
`;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

describe('a release', () => {
  let root: string;
  let scripts: string[];
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'espalier-release-'));
    scripts = [];
    for (const file of copied) cpSync(join(source, file), join(root, file), { recursive: true });
    write('CHANGELOG.md', changelog);
    git('init', '--quiet');
    git('config', 'user.name', 'Somebody');
    git('config', 'user.email', 'somebody@example.com');
    git('config', 'commit.gpgsign', 'false');
    git('config', 'tag.gpgsign', 'false');
    commit();
    make('0.1.0');
    write('CHANGELOG.md', read('CHANGELOG.md').replace('## Unreleased\n', '## Unreleased\n\n- A leaf.\n'));
    commit();
    scripts = [];
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const write = (file: string, text: string) => writeFileSync(join(root, file), text);
  const commit = () => {
    git('add', '--all');
    git('commit', '--quiet', '--message', 'test: something');
  };
  const make = (wanted: string, isDry = false) =>
    release({
      root,
      wanted,
      date: '2027-01-31',
      isDry,
      script: (name) => scripts.push(name),
      say: () => undefined,
    });
  const removeIcon = () =>
    write(
      'contract/schema.graphql',
      // With what is said of it.
      read('contract/schema.graphql').replace(/^( {2}""".*"""\n)? {2}icon: String$/m, ''),
    );

  test('is one commit with a tag, and one version in all packages and in what they ask of each other', () => {
    assert.equal(make('minor'), '0.2.0');
    const manifests = workspaces.map(
      (workspace) => JSON.parse(read(`${workspace}/package.json`)) as Manifest,
    );
    const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, Manifest> };
    for (const each of [...manifests, ...workspaces.map((workspace) => lock.packages[workspace]!)]) {
      assert.equal(each.version, '0.2.0', each.name);
      for (const [name, range] of Object.entries({ ...each.dependencies, ...each.devDependencies }))
        if (/^@?espalier/.test(name)) assert.equal(range, '0.2.0', `${each.name} wants ${name}`);
    }
    assert.equal(git('log', '-1', '--format=%s'), 'chore(release): 0.2.0');
    assert.equal(git('rev-parse', 'v0.2.0^{commit}'), git('rev-parse', 'HEAD'));
    assert.equal(git('status', '--porcelain'), '');
    const checks = ['check', 'check:audit:required'];
    assert.deepEqual(scripts, [...checks, 'generate', 'released-schema', 'fixture', 'licences', 'sbom']);
  });

  test('is refused, and nothing is written, if the packages could not be audited', () => {
    const script = (name: string) => {
      if (name === 'check:audit:required') throw new Error('NOT AUDITED');
    };
    const before = git('rev-parse', 'HEAD');
    assert.throws(
      () =>
        release({ root, wanted: 'minor', date: '2027-01-31', isDry: false, script, say: () => undefined }),
      /NOT AUDITED/,
    );
    assert.equal(git('status', '--porcelain'), '');
    assert.equal(git('rev-parse', 'HEAD'), before);
    assert.equal(git('tag', '--list', 'v0.2.0'), '');
  });

  test('names the new version wherever the image is made, run or shown, and nowhere the old one', () => {
    make('minor');
    const images = filesWithVersion(source).filter((file) => !file.endsWith('.json'));
    assert.deepEqual(images, [
      'Dockerfile',
      'deploy/compose.yaml',
      'deploy/kubernetes.yaml',
      'docs/docker.md',
      'docs/kubernetes.md',
    ]);
    for (const file of images) {
      const before = namings(readFileSync(join(source, file), 'utf8'), currentVersion(source));
      assert.ok(before.length > 0, file);
      assert.deepEqual(namings(read(file), '0.1.0'), [], file);
      assert.equal(namings(read(file), '0.2.0').length, before.length, file);
    }
    assert.match(read('Dockerfile'), /^ {2}org\.opencontainers\.image\.version="0\.2\.0"$/m);
  });

  test('is refused when a file that should name the version of the image does not', () => {
    write('deploy/compose.yaml', read('deploy/compose.yaml').replaceAll('espalier:0.1.0', 'espalier:latest'));
    commit();
    assert.throws(() => make('minor'), /deploy\/compose\.yaml does not name the version of the image/);
    assert.equal(git('status', '--porcelain'), '');
    assert.deepEqual(scripts, []);
  });

  test('moves what was not released under the version and the day', () => {
    make('patch');
    assert.equal(
      read('CHANGELOG.md'),
      '# Changelog\n\n## Unreleased\n\n## 0.1.1 - 2027-01-31\n\n- A leaf.\n\n## 0.1.0 - 2027-01-31\n\n### Added\n\n- A tree.\n',
    );
  });

  test('changes nothing and runs nothing when it is dry', () => {
    const before = git('rev-parse', 'HEAD');
    assert.equal(make('major', true), '1.0.0');
    assert.equal(git('rev-parse', 'HEAD'), before);
    assert.equal(git('status', '--porcelain'), '');
    assert.equal(git('tag', '--list'), 'v0.1.0');
    assert.deepEqual(scripts, []);
  });

  test('is refused when something is not committed, is released already, is older, or is no version', () => {
    assert.throws(() => make('0.1.0'), /There is a release v0\.1\.0 already\./);
    assert.throws(() => make('0.0.9'), /0\.0\.9 is older than 0\.1\.0/);
    assert.throws(() => make('huge'), /"huge" is none of major, minor, patch/);
    write('new.txt', 'new');
    assert.throws(() => make('minor'), /something that is not committed/);
  });

  test('is refused when there is nothing to tell of it', () => {
    make('minor');
    assert.throws(() => make('minor'), /CHANGELOG\.md has nothing under "## Unreleased"/);
  });

  test('may break clients of the schema only with a number that says so', () => {
    removeIcon();
    commit();
    assert.throws(() => make('patch'), /0\.1\.1 may break no client, and this does: .*icon was removed/);
    assert.equal(make('minor', true), '0.2.0');
  });

  test('leaves everything as it was when the check fails', () => {
    const failing = () =>
      release({
        root,
        wanted: 'minor',
        date: '2027-01-31',
        isDry: false,
        script: () => assert.fail('lint'),
        say: () => undefined,
      });
    assert.throws(failing, /lint/);
    assert.equal(git('status', '--porcelain'), '');
    assert.equal(git('tag', '--list'), 'v0.1.0');
  });
});

test('no file of the repository names the version but those that a release changes', () => {
  const known = new Set(filesWithVersion(source));
  const version = currentVersion(source);
  const listing = ['-c', 'safe.directory=*', 'ls-files'];
  const all = execFileSync('git', listing, { cwd: source, encoding: 'utf8' })
    .trim()
    .split('\n')
    .filter((file) => existsSync(join(source, file)));
  assert.ok(all.length > 500, String(all.length));
  const others = all.filter((file) => !known.has(file) && !tellsOfOthers.test(file));
  const found = others.filter(
    (file) => namings(readFileSync(join(source, file), 'utf8'), version).length > 0,
  );
  assert.deepEqual(found, []);
});
