/**
 * Each package is ready to be published, and the server starts from the packages alone. `npm run
 * check:packages` also installs the packages with npm.
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
import { findFaults } from './package-rules.ts';
import { build, pack, root, run, type PackedPackage } from './packed.ts';

/** The maximum compressed size of the client module, without dependencies. */
const maxClientBytes = 14_500;

describe('packages', () => {
  let folder: string;
  let packages: PackedPackage[];
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-packages-'));
    await build({ checksTypes: false });
    packages = await pack(folder);
  });
  after(() => rmSync(folder, { recursive: true }));

  test('contain exactly the expected files and run nothing at installation', () => {
    const versions = new Map(packages.map(({ manifest }) => [manifest.name, manifest.version]));
    assert.deepEqual(
      packages.flatMap((each) => findFaults(each, versions).map((fault) => `${each.manifest.name} ${fault}`)),
      [],
    );
  });

  test('have faults if a script, file or dependency is extra or missing', () => {
    const packed = packages.find(({ manifest }) => manifest.name === 'espalier')!;
    const dependencies = { ...packed.manifest.dependencies };
    delete dependencies['ws'];
    const faultyPackage: PackedPackage = {
      ...packed,
      manifest: { ...packed.manifest, dependencies, scripts: { postinstall: 'true' } },
      files: [
        ...packed.files.filter((name) => !/^(LICENSE|dist\/index\.d\.ts)$/.test(name)),
        'dist/old.js.map',
      ],
    };
    const faults = findFaults(faultyPackage, new Map([['@espalier/contract', '0.0.0']]));
    assert.deepEqual(faults.slice(0, 8), [
      'is not built when it is packed',
      'has the script postinstall',
      `requires @espalier/contract ${packed.manifest.version}, but its version is 0.0.0`,
      'lacks LICENSE',
      'lacks dist/index.d.ts',
      'contains the unexpected file dist/old.js.map',
      'exports the missing file ./dist/index.d.ts',
      'exports ./dist/index.js without types',
    ]);
    assert.match(faults.slice(8).join('\n'), /^(imports ws in \S+, but does not depend on it\n?)+$/);
  });

  test('have faults if they refer to sources or contain the build path', () => {
    const packed = packages.find(({ manifest }) => manifest.name === '@espalier/console')!;
    const file = join(packed.folder, 'dist/spoiled.js');
    writeFileSync(file, `// ${root}/console\n//# sourceMappingURL=spoiled.js.map\n`);
    const spoiled = { ...packed, files: [...packed.files, 'dist/spoiled.js', 'dist/spoiled.js.map'] };
    const faults = findFaults(spoiled, new Map([['@espalier/console', packed.manifest.version]]));
    rmSync(file);
    assert.deepEqual(faults, [
      'contains the unexpected file dist/spoiled.js.map',
      'names a source map in dist/spoiled.js',
      'contains the build path in dist/spoiled.js',
    ]);
  });

  test('have faults if a source map lacks a source or no file refers to the map', () => {
    const packed = packages.find(({ manifest }) => manifest.name === '@espalier/client')!;
    const versions = new Map([['@espalier/client', packed.manifest.version]]);
    const path = (name: string) => join(packed.folder, 'dist', name);
    const [code, map] = ['index.js', 'index.js.map'].map((name) => readFileSync(path(name), 'utf8'));
    const { sources, ...rest } = JSON.parse(map!) as { sources: string[]; sourcesContent: string[] };
    assert.ok(sources.includes('../src/client.ts'));
    try {
      writeFileSync(path('index.js'), code!.replace(/^\/\/# sourceMappingURL.*$/m, ''));
      writeFileSync(
        path('index.js.map'),
        JSON.stringify({
          ...rest,
          sources: ['/src/a.ts', ...sources.slice(1)],
          sourcesContent: [null, ...rest.sourcesContent.slice(1)],
        }),
      );
      assert.deepEqual(findFaults(packed, versions), [
        'lacks the source /src/a.ts in dist/index.js.map',
        'has the absolute path /src/a.ts in dist/index.js.map',
        'names no source map in dist/index.js',
      ]);
    } finally {
      writeFileSync(path('index.js'), code!);
      writeFileSync(path('index.js.map'), map!);
    }
  });

  test('contain a small client that depends on graphql-ws only', () => {
    const client = packages.find(({ manifest }) => manifest.name === '@espalier/client')!;
    assert.deepEqual(Object.keys(client.manifest.dependencies!), ['graphql-ws']);
    assert.equal(client.manifest.peerDependencies, undefined);
    const { length } = gzipSync(readFileSync(join(client.folder, 'dist/index.js')));
    assert.ok(length < maxClientBytes, `the compressed client has ${length} bytes`);
    assert.doesNotMatch(readFileSync(join(client.folder, 'dist/index.js'), 'utf8'), /UTF-16|properties\./);
  });

  test('are sufficient to serve on SQLite together with their dependencies', async () => {
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

/** Links a dependency that the repository has installed. Our own packages are already unpacked. */
function linkDependency(folder: string, workspace: string, name: string): void {
  const link = join(folder, 'node_modules', name);
  if (existsSync(link)) return;
  const candidates = [join(root, workspace, 'node_modules', name), join(root, 'node_modules', name)];
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(
    candidates.find((candidate) => existsSync(candidate))!,
    link,
  );
}
