/**
 * Each package is as it should be when it is published, and the server starts from nothing else. The short form of
 * `npm run check:packages`, which installs them from a registry as a stranger would.
 */

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { serveAndStop } from './installed-server.ts';
import { faultsOf } from './package-rules.ts';
import { build, pack, root, run, type Packed } from './packed.ts';

/** Of its module without what it depends on, compressed. */
const mostClientBytes = 12_000;

describe('packages', () => {
  let folder: string;
  let packages: Packed[];
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-packages-'));
    await build({ checksTypes: false });
    packages = await pack(folder);
  });
  after(() => rmSync(folder, { recursive: true }));

  test('hold what they should and nothing else, and nothing runs when they are installed', () => {
    const versions = new Map(packages.map(({ manifest }) => [manifest.name, manifest.version]));
    assert.deepEqual(
      packages.flatMap((each) => faultsOf(each, versions).map((fault) => `${each.manifest.name} ${fault}`)),
      [],
    );
  });

  test('would be refused with a script, a file or an import too many, or with one too few', () => {
    const packed = packages.find(({ manifest }) => manifest.name === 'espalier')!;
    const dependencies = { ...packed.manifest.dependencies };
    delete dependencies['ws'];
    const spoilt: Packed = {
      ...packed,
      manifest: { ...packed.manifest, dependencies, scripts: { postinstall: 'true' } },
      files: [
        ...packed.files.filter((name) => !/^(LICENSE|dist\/index\.d\.ts)$/.test(name)),
        'dist/old.js.map',
      ],
    };
    const faults = faultsOf(spoilt, new Map([['@espalier/contract', '0.0.0']]));
    assert.deepEqual(faults.slice(0, 8), [
      'is not built when it is packed',
      'has the script postinstall',
      `wants @espalier/contract ${packed.manifest.version}, which is at 0.0.0`,
      'lacks LICENSE',
      'lacks dist/index.d.ts',
      'holds dist/old.js.map',
      'exports ./dist/index.d.ts, which it lacks',
      'exports ./dist/index.js without types',
    ]);
    assert.match(faults.slice(8).join('\n'), /^(imports ws in \S+, and does not depend on it\n?)+$/);
  });

  test('would be refused if they led to sources, or told where they were built', () => {
    const packed = packages.find(({ manifest }) => manifest.name === '@espalier/console')!;
    const file = join(packed.folder, 'dist/spoilt.js');
    writeFileSync(file, `// ${root}/console\n//# sourceMappingURL=spoilt.js.map\n`);
    const spoilt = { ...packed, files: [...packed.files, 'dist/spoilt.js', 'dist/spoilt.js.map'] };
    const faults = faultsOf(spoilt, new Map([['@espalier/console', packed.manifest.version]]));
    rmSync(file);
    assert.deepEqual(faults, [
      'holds dist/spoilt.js.map',
      'names a source map in dist/spoilt.js',
      'tells in dist/spoilt.js where it was built',
    ]);
  });

  test('have a client that is small, and depends on graphql-ws alone', () => {
    const client = packages.find(({ manifest }) => manifest.name === '@espalier/client')!;
    assert.deepEqual(Object.keys(client.manifest.dependencies!), ['graphql-ws']);
    assert.equal(client.manifest.peerDependencies, undefined);
    const { length } = gzipSync(readFileSync(join(client.folder, 'dist/index.js')));
    assert.ok(length < mostClientBytes, `${length} bytes`);
  });

  test('are enough to serve on SQLite, with what they depend on', async () => {
    for (const { workspace, manifest } of packages) {
      const { dependencies, peerDependencies } = manifest;
      for (const name of Object.keys({ ...dependencies, ...peerDependencies }))
        linkDependency(folder, workspace, name);
    }
    const program = join(folder, 'node_modules/espalier/bin/espalier.js');
    const { version } = packages.find(({ manifest }) => manifest.name === 'espalier')!.manifest;
    assert.equal(await run(process.execPath, [program, 'version'], folder), `${version}\n`);
    const output = await serveAndStop([process.execPath, program, 'serve'], {
      folder,
      path: process.env['PATH']!,
    });
    assert.match(output, /\nStopped\.\n$/);
  });
});

/** The one that the repository has installed; our own packages are unpacked already. */
function linkDependency(folder: string, workspace: string, name: string): void {
  const link = join(folder, 'node_modules', name);
  if (existsSync(link)) return;
  const places = [join(root, workspace, 'node_modules', name), join(root, 'node_modules', name)];
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(
    places.find((place) => existsSync(place))!,
    link,
  );
}
