/**
 * Runs `npm version` in a temporary repository with the real lifecycle scripts. Slow scripts are replaced with a line
 * in a log.
 */

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { listVersionFiles } from '../../release/release.ts';

const source = join(import.meta.dirname, '../..');
const workspaces = ['contract', 'client', 'console', 'server'];
const copiedFiles = [
  '.npmrc',
  'contract/schema.graphql',
  'contract/released-schema.graphql',
  ...listVersionFiles(source),
];
/** Scripts that a release runs. They are tested on their own and take long, so here they only record their names. */
const recordedScripts = [
  'check',
  'check:audit:required',
  'generate',
  'released-schema',
  'fixture',
  'licenses',
  'sbom',
];
/** Files that mention earlier versions, versions of other packages, or invented versions. */
const otherVersions =
  /^(CHANGELOG\.md|docs\/(decisions\/.*|reference\/(licenses|versions)\.md)|tests\/.*|.*\.test\.tsx?)$/;
/** Returns the lines that give Espalier this version. */
const findVersion = (text: string, version: string) =>
  text
    .split('\n')
    .filter((line) => /espalier|image\.version|"version":/i.test(line))
    .filter((line) => new RegExp(`(?<![\\d.])${version.replaceAll('.', '\\.')}(?!\\d|\\.\\d)`).test(line));
const currentVersion = (JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest).version;
/** npm scripts use the Node of this process, as they do in the repository. */
const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
const changelog = `# Changelog

## Unreleased

### Added

- A tree.
`;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly scripts: Record<string, string>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

describe('npm version', () => {
  /** A repository after its first release. Each test gets a copy. */
  let base: string;
  let root: string;
  before(() => {
    base = root = mkdtempSync(join(tmpdir(), 'espalier-release-'));
    for (const file of copiedFiles) cpSync(join(source, file), join(root, file), { recursive: true });
    write('CHANGELOG.md', changelog);
    write('.gitignore', 'scripts.log\n');
    const manifest = JSON.parse(read('package.json')) as Manifest;
    for (const name of recordedScripts) {
      manifest.scripts[name] = `test "$FAILING" != ${name} && echo ${name} >> scripts.log`;
    }
    for (const [name, script] of Object.entries(manifest.scripts)) {
      manifest.scripts[name] = script.replaceAll(' release/', ` ${join(source, 'release')}/`);
    }
    write('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
    git('init', '--quiet');
    git('config', 'user.name', 'Test');
    git('config', 'user.email', 'test@example.com');
    git('config', 'commit.gpgsign', 'false');
    git('config', 'tag.gpgsign', 'false');
    commit();
    const first = release(['0.1.0', '--allow-same-version']);
    assert.equal(first.status, 0, first.stderr);
    write('CHANGELOG.md', read('CHANGELOG.md').replace('## Unreleased\n', '## Unreleased\n\n- A leaf.\n'));
    commit();
    rmSync(join(root, 'scripts.log'));
  });
  after(() => rmSync(base, { recursive: true }));
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'espalier-release-'));
    cpSync(base, root, { recursive: true });
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const write = (file: string, text: string) => writeFileSync(join(root, file), text);
  const commit = () => {
    git('add', '--all');
    git('commit', '--quiet', '--message', 'test: something');
  };
  const release = (args: readonly string[], env: Record<string, string> = {}) =>
    spawnSync('npm', ['version', ...args], {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, PATH, ...env },
    });
  const readScriptLog = () =>
    existsSync(join(root, 'scripts.log')) ? read('scripts.log').trim().split('\n') : [];
  const assertRejected = (args: readonly string[], message: RegExp, env?: Record<string, string>) => {
    const [head, status] = [git('rev-parse', 'HEAD'), git('status', '--porcelain')];
    const result = release(args, env);
    assert.notEqual(result.status, 0);
    assert.match(result.stderr, message);
    assert.equal(git('rev-parse', 'HEAD'), head);
    assert.equal(git('status', '--porcelain'), status);
    assert.equal(git('tag', '--list'), 'v0.1.0');
  };

  const assertImages = () => {
    const images = listVersionFiles(source).filter((file) => !file.endsWith('.json'));
    assert.deepEqual(images, [
      'Dockerfile',
      'deploy/compose.yaml',
      'deploy/kubernetes.yaml',
      'docs/operators/docker.md',
      'docs/operators/kubernetes.md',
    ]);
    for (const file of images) {
      const before = findVersion(readFileSync(join(source, file), 'utf8'), currentVersion);
      assert.ok(before.length > 0, file);
      assert.deepEqual(findVersion(read(file), '0.1.0'), [], file);
      assert.equal(findVersion(read(file), '0.2.0').length, before.length, file);
    }
    assert.match(read('Dockerfile'), /^ {2}org\.opencontainers\.image\.version="0\.2\.0"$/m);
  };

  test('sets all versions, commits, tags, and prints how to publish', () => {
    const lockBefore = read('package-lock.json');
    const result = release(['minor']);
    assert.equal(result.status, 0, result.stderr);
    assert.match(
      result.stdout,
      /- A leaf\.[^]*git push --follow-tags\n {2}npm run docs:build\n {2}npm publish --workspaces/,
    );
    const manifests = ['.', ...workspaces].map(
      (workspace) => JSON.parse(read(`${workspace}/package.json`)) as Manifest,
    );
    const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, Manifest> };
    for (const each of [...manifests, ...['', ...workspaces].map((path) => lock.packages[path]!)]) {
      assert.equal(each.version, '0.2.0', each.name);
      for (const [name, range] of Object.entries({ ...each.dependencies, ...each.devDependencies })) {
        if (/^@?espalier/.test(name)) assert.equal(range, '0.2.0', `${each.name} requires ${name}`);
      }
    }
    assert.equal(git('log', '-1', '--format=%s'), 'chore(release): 0.2.0');
    assert.equal(git('rev-parse', 'v0.2.0^{commit}'), git('rev-parse', 'HEAD'));
    assert.equal(git('cat-file', '-t', 'v0.2.0'), 'tag');
    assert.equal(git('status', '--porcelain'), '');
    assert.deepEqual(readScriptLog(), recordedScripts);
    assert.match(
      read('CHANGELOG.md'),
      /^# Changelog\n\n## Unreleased\n\n## 0\.2\.0 - \d{4}-\d\d-\d\d\n\n- A leaf\.\n\n## 0\.1\.0 - /,
    );
    assert.equal(
      read('package-lock.json').replaceAll('"0.2.0"', '"0.1.0"'),
      lockBefore.replaceAll('"0.2.0"', '"0.1.0"'),
    );
    assertImages();
  });

  test('changes nothing if a check or the audit fails', () => {
    assertRejected(['minor'], /npm error/, { FAILING: 'check' });
    assertRejected(['minor'], /npm error/, { FAILING: 'check:audit:required' });
  });

  test('rejects uncommitted files, a released version and an older version', () => {
    assertRejected(['0.1.0', '--allow-same-version'], /There is a release v0\.1\.0 already\./);
    assertRejected(['0.0.9'], /0\.0\.9 is older than the current version 0\.1\.0/);
    write('new.txt', 'new');
    assertRejected(['minor'], /uncommitted changes/);
    assert.deepEqual(readScriptLog(), []);
  });

  test('rejects a release without changes, and a file without the version of the image', () => {
    write('CHANGELOG.md', read('CHANGELOG.md').replace('- A leaf.\n', ''));
    commit();
    assertRejected(['minor'], /CHANGELOG\.md has nothing under "## Unreleased"/);
    git('revert', '--no-edit', 'HEAD');
    write('deploy/compose.yaml', read('deploy/compose.yaml').replaceAll('espalier:0.1.0', 'espalier:latest'));
    commit();
    assertRejected(['minor'], /deploy\/compose\.yaml does not contain the version of the image/);
  });

  test('before 1.0.0, allows a minor release that breaks clients, but no such patch release', () => {
    const schema = read('contract/schema.graphql');
    write('contract/schema.graphql', schema.replace(/^( {2}""".*"""\n)? {2}icon: String$/m, ''));
    commit();
    assertRejected(['patch'], /0\.1\.1 must not break clients, but this change does: .*icon was removed/);
    assert.equal(release(['minor']).status, 0);
  });
});

test('only files that a release changes contain the version', () => {
  const versionFiles = new Set(listVersionFiles(source));
  const listing = ['-c', 'safe.directory=*', 'ls-files'];
  const allFiles = execFileSync('git', listing, { cwd: source, encoding: 'utf8' })
    .trim()
    .split('\n')
    .filter((file) => existsSync(join(source, file)));
  assert.ok(allFiles.length > 500, String(allFiles.length));
  const otherFiles = allFiles.filter((file) => !versionFiles.has(file) && !otherVersions.test(file));
  const filesWithVersion = otherFiles.filter(
    (file) => findVersion(readFileSync(join(source, file), 'utf8'), currentVersion).length > 0,
  );
  assert.deepEqual(filesWithVersion, []);
});
