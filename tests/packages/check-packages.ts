/**
 * `npm run check:packages`: builds the packages with all checks, installs them with npm into an empty folder, runs them
 * with npx, and compiles against them. Takes a minute and needs the registry.
 */

import assert from 'node:assert/strict';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { rolldown } from 'rolldown';
import { serveAndStop } from './installed-server.ts';
import { build, pack, readJson, root, run, type Manifest, type PackedPackage } from './packed.ts';

/** A PATH with Node 24 and without the programs of this repository. */
const path = [
  join(root, 'node_modules/node/bin'),
  ...process.env['PATH']!.split(delimiter).filter((entry) => !entry.includes('node_modules')),
].join(delimiter);

const consumer = `
import { refusals, type LoginResponse, type RefusalCode } from '@espalier/contract';
import { startServer, type RunningServer, type ServerOptions } from 'espalier';

const code: RefusalCode = 'NOT_FOUND';
export const reason: string = refusals[code];
export const tokens: LoginResponse = { authToken: 'a', expires_in: 600, refreshToken: 'r' };
// @ts-expect-error a number is not a token
export const wrong: LoginResponse = { authToken: 1, expires_in: 600, refreshToken: 'r' };
export const start: (options: ServerOptions) => Promise<RunningServer> = startServer;
`;

/** Code for a browser or Node. It must compile with the types of either. */
const clientConsumer = `
import { createClient, EspalierError, memoryStorage, tabStorage, apolloOptions, authorizedFetch, urqlOptions } from '@espalier/client';
import type { Client, ErrorCode, Folder, GraphDocument, TokenStorage, TreeChange, WatchedTree } from '@espalier/client';

const storage: TokenStorage = Math.random() > 1 ? tabStorage() : memoryStorage();
export const client: Client = createClient({ url: new URL('https://example.com'), storage, fetch, webSocket: WebSocket });
const named: GraphDocument<{ folder: { name: string } }, { id: string }> = 'query($id:ID){folder(id:$id){name}}';
export const name: Promise<string> = client.query(named, { id: '1' }).then(({ folder }) => folder.name);
// @ts-expect-error the document needs an id
export const wrong = client.query(named, { id: 1 });
export async function follow(tree: WatchedTree): Promise<TreeChange | undefined> {
  const inside: readonly Folder[] = tree.children(tree.root!.id);
  for await (const change of tree) if (inside.length > 0) return change;
  return undefined;
}
export const codeOf = (error: unknown): ErrorCode | undefined =>
  error instanceof EspalierError ? error.code : undefined;
export const answer: Promise<Response> = authorizedFetch(client)(apolloOptions(client).uri);
export const ended: { unsubscribe(): void } = urqlOptions(client)
  .forwardSubscription({ query: 'subscription{folderChanges{kind}}' })
  .subscribe({ next: () => undefined, error: () => undefined, complete: () => undefined });
`;

const clientProgram = `
import { createClient } from '@espalier/client';

const client = createClient({ url: process.env.URL });
await client.login({ username: 'admin', password: process.env.ESPALIER_PASSWORD });
const { id } = await client.folders.create({ name: 'Garden' });
const tree = await client.watch({ under: id });
const changes = tree[Symbol.asyncIterator]();
await client.folders.create({ name: 'Bed', parentId: id });
const { value: change } = await changes.next();
console.log(change.kind, change.by, tree.path(change.folderId), tree.size);
tree.close();
await client.logout();
client.close();
`;

describe('packages installed by npm in an empty folder', () => {
  let packs: string;
  let folder: string;
  let packages: PackedPackage[];
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

  test('run no install scripts, and neither do their dependencies', () => {
    const lock = readJson(join(folder, 'node_modules/.package-lock.json')) as { packages: object };
    const packagesWithScripts = Object.keys(lock.packages).filter((name) => {
      const { scripts = {}, gypfile } = readJson(join(folder, name, 'package.json')) as Manifest;
      // npm compiles every package with a binding.gyp, unless the package disables it.
      const isCompiled = gypfile !== false && existsSync(join(folder, name, 'binding.gyp'));
      return isCompiled || ['preinstall', 'install', 'postinstall'].some((script) => script in scripts);
    });
    assert.deepEqual(packagesWithScripts, []);
  });

  test('contain the graphql package only once', () => {
    const copies = globSync('**/node_modules/graphql/package.json', { cwd: folder });
    assert.deepEqual(copies, ['node_modules/graphql/package.json']);
  });

  test('start and stop a server with npx', async () => {
    const { version } = packages.find(({ manifest }) => manifest.name === 'espalier')!.manifest;
    assert.equal(await run('npx', ['espalier', 'version'], folder, path), `${version}\n`);
    const output = await serveAndStop(['npx', 'espalier', 'serve'], { folder, path });
    assert.match(output, /\nStopped\.\n$/);
  });

  test('start a server inside another program, as the README shows', async () => {
    const [, example] = /```js\n(.*?)```/s.exec(readFileSync(join(root, 'server/README.md'), 'utf8'))!;
    const target = join(folder, 'embedded');
    mkdirSync(target);
    writeFileSync(join(target, 'embedded.mjs'), example!.replace('process.env', "{ ESPALIER_PORT: '0' }"));
    assert.match(
      await run('node', ['embedded.mjs'], target, path),
      /^admin \S+\nhttp:\/\/127\.0\.0\.1:\d+\n$/,
    );
  });

  test('contain a client that works in another program', async () => {
    const target = join(folder, 'client');
    mkdirSync(target);
    writeFileSync(join(target, 'program.mjs'), clientProgram);
    const use = async ({ url, password }: { url: string; password: string }) => {
      const environment = { URL: url, ESPALIER_PASSWORD: password };
      const output = await run('node', ['program.mjs'], target, path, environment);
      assert.equal(output, 'CREATE admin /Bed 2\n');
    };
    await serveAndStop(['npx', 'espalier', 'serve'], { folder: target, path, use });
  });

  const nodeTypes = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
  for (const flags of [
    ['--module', 'nodenext'],
    ['--module', 'esnext', '--moduleResolution', 'bundler'],
  ]) {
    const compile = async (name: string, text: string, more: readonly string[]) => {
      writeFileSync(join(folder, name), text);
      const tsc = join(root, 'node_modules/typescript/bin/tsc');
      const strict = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--target', 'es2024'];
      await run('node', [tsc, ...strict, ...flags, ...more, name], folder, path);
    };

    test(`have types for tsc --strict ${flags.join(' ')}`, () =>
      compile('consumer.mts', consumer, nodeTypes));

    for (const [environment, more] of [
      ['Node', ['--lib', 'es2024', ...nodeTypes]],
      ['a browser', ['--lib', 'es2024,dom,dom.iterable', '--types', 'null']],
      ['both', ['--lib', 'es2024,dom,dom.iterable', ...nodeTypes]],
    ] as const) {
      test(`have client types for ${environment} with tsc --strict ${flags.join(' ')}`, () =>
        compile('client-consumer.mts', clientConsumer, more));
    }
  }

  test('leave unused parts of the client out of a bundle', async () => {
    const bundle = async (names: string) => {
      const input = join(folder, 'bundled.mjs');
      writeFileSync(input, `import { ${names} } from '@espalier/client';\nconsole.log(${names});\n`);
      const built = await rolldown({ input, platform: 'browser', logLevel: 'silent' });
      return (await built.generate({ minify: true })).output[0].code;
    };
    const marks = {
      apolloOptions: 'wsClient',
      authorizedFetch: 'token-expired',
      urqlOptions: 'preferGetMethod',
    };
    const minimal = await bundle('createClient');
    for (const [name, mark] of [...Object.entries(marks), ['tabStorage', 'BroadcastChannel']] as const) {
      assert.ok(!minimal.includes(mark), `the bundle of createClient contains ${name}`);
      assert.ok((await bundle(name)).includes(mark), name);
    }
  });
});
