/**
 * `npm run check:packages`: the packages, built with all checks, installed by npm into an empty folder as a stranger would,
 * run there with npx, and compiled against. Takes a minute, and needs the registry.
 */

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { serveAndStop } from './installed-server.ts';
import { build, pack, readJson, root, run, type Manifest, type Packed } from './packed.ts';

/** Node 24, and no program of the repository. */
const path = [
  join(root, 'node_modules/node/bin'),
  ...process.env['PATH']!.split(delimiter).filter((place) => !place.includes('node_modules')),
].join(delimiter);

const consumer = `
import { refusals, type LoginResponse, type RefusalCode } from '@espalier/contract';
import { startServer, type RunningServer, type ServerOptions } from 'espalier';

const code: RefusalCode = 'NOT_FOUND';
export const reason: string = refusals[code];
export const pair: LoginResponse = { authToken: 'a', expires_in: 600, refreshToken: 'r' };
// @ts-expect-error a number is no token
export const wrong: LoginResponse = { authToken: 1, expires_in: 600, refreshToken: 'r' };
export const start: (options: ServerOptions) => Promise<RunningServer> = startServer;
`;

describe('packages that npm has installed in an empty folder', () => {
  let packs: string;
  let folder: string;
  let packages: Packed[];
  before(async () => {
    packs = mkdtempSync(join(tmpdir(), 'espalier-packs-'));
    folder = mkdtempSync(join(tmpdir(), 'espalier-installed-'));
    await build({ checksTypes: true });
    packages = await pack(packs);
    const tarballs = packages.map(({ tarball }) => tarball);
    await run('npm', ['install', '--prefer-offline', ...tarballs], folder, path);
  });
  after(() => {
    rmSync(packs, { recursive: true });
    rmSync(folder, { recursive: true });
  });

  test('have none among them, and among what they depend on, that runs something when it is installed', () => {
    const lock = readJson(join(folder, 'node_modules/.package-lock.json')) as { packages: object };
    const scripted = Object.keys(lock.packages).filter((name) => {
      const { scripts = {}, gypfile } = readJson(join(folder, name, 'package.json')) as Manifest;
      // npm compiles whatever has such a file, unless the package says otherwise.
      const isCompiled = gypfile !== false && existsSync(join(folder, name, 'binding.gyp'));
      return isCompiled || ['preinstall', 'install', 'postinstall'].some((script) => script in scripts);
    });
    assert.deepEqual(scripted, []);
  });

  test('serve with npx, and stop', async () => {
    const { version } = packages.find(({ manifest }) => manifest.name === 'espalier')!.manifest;
    assert.equal(await run('npx', ['espalier', 'version'], folder, path), `${version}\n`);
    const output = await serveAndStop(['npx', 'espalier', 'serve'], { folder, path });
    assert.match(output, /\nStopped\.\n$/);
  });

  test('serve within another program, as the README shows', async () => {
    const [, example] = /```js\n(.*?)```/s.exec(readFileSync(join(root, 'server/README.md'), 'utf8'))!;
    const place = join(folder, 'embedded');
    mkdirSync(place);
    writeFileSync(join(place, 'embedded.mjs'), example!.replace('process.env', "{ ESPALIER_PORT: '0' }"));
    assert.match(
      await run('node', ['embedded.mjs'], place, path),
      /^admin \S+\nhttp:\/\/127\.0\.0\.1:\d+\n$/,
    );
  });

  for (const flags of [
    ['--module', 'nodenext'],
    ['--module', 'esnext', '--moduleResolution', 'bundler'],
  ]) {
    test(`have types for tsc --strict ${flags.join(' ')}`, async () => {
      writeFileSync(join(folder, 'consumer.mts'), consumer);
      const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
      const tsc = join(root, 'node_modules/typescript/bin/tsc');
      const args = ['--strict', '--noEmit', '--target', 'es2024', ...flags, ...types, 'consumer.mts'];
      await run('node', [tsc, ...args], folder, path);
    });
  }
});
