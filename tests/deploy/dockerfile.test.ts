/**
 * Checks that the files and commands in the Dockerfile exist, and that .dockerignore does not exclude these files. Runs
 * the health check.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, matchesGlob } from 'node:path';
import { after, describe, test } from 'node:test';
import { generate } from 'selfsigned';
import { sqlite } from '../support/databases.ts';
import { Testbed } from '../support/testbed.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** Instructions with their arguments; continuation lines are joined. */
const instructions = read('Dockerfile')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => /^([A-Z]+) (.*)$/.exec(line)!.slice(1) as [string, string]);
const argumentsOf = (name: string) => instructions.flatMap(([each, rest]) => (each === name ? [rest] : []));

describe('the Dockerfile', () => {
  test('copies files that exist and that .dockerignore does not exclude', () => {
    const includedPaths = read('.dockerignore').match(/(?<=^!).*$/gm)!;
    const sources = argumentsOf('COPY')
      .filter((rest) => !rest.startsWith('--from='))
      .flatMap((rest) => rest.split(' ').slice(0, -1));
    assert.ok(sources.length > 0);
    for (const source of sources) {
      assert.ok(existsSync(join(root, source)), `${source} does not exist`);
      assert.ok(
        includedPaths.some((each) => source === each || source.startsWith(`${each}/`)),
        `${source} is ignored`,
      );
    }
  });

  test('leaves out installed packages, build results and database files', () => {
    const ignoredPatterns = read('.dockerignore').match(/^\*\*.*$/gm)!;
    for (const file of [
      'server/node_modules/x',
      'client/dist/index.js',
      'server/espalier-data/espalier.db',
    ]) {
      assert.ok(
        ignoredPatterns.some((each) => matchesGlob(file, each) || matchesGlob(file, `${each}/**`)),
        file,
      );
    }
  });

  test('copies every workspace with its manifest and its build', () => {
    const { workspaces } = JSON.parse(read('package.json')) as { workspaces: string[] };
    const copies = argumentsOf('COPY');
    for (const name of workspaces) {
      assert.ok(copies.includes(`${name} ${name}`));
      assert.ok(copies.includes(`${name}/package.json ${name}/package.json`));
      assert.ok(copies.includes(`--from=build /src/${name}/dist ${name}/dist`));
    }
  });

  test('runs only commands that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const scriptNames = argumentsOf('RUN').flatMap((rest) => /^npm run (\S+)$/.exec(rest)?.[1] ?? []);
    assert.deepEqual(scriptNames, ['build']);
    for (const name of scriptNames) assert.ok(name in scripts, name);
    assert.ok(existsSync(join(root, 'server/bin/espalier.js')));
    assert.deepEqual(argumentsOf('ENTRYPOINT'), ['["node", "/opt/espalier/server/bin/espalier.js"]']);
  });

  test('copies the postinstall script before it runs npm ci', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const [, file] = /^node (\S+)/.exec(scripts['postinstall']!)!;
    assert.ok(existsSync(join(root, file!)));
    const stageIndex = instructions.findIndex(
      ([name, rest]) => name === 'FROM' && rest.endsWith(' AS build'),
    );
    const installIndex = instructions.findIndex(([, rest]) => rest.startsWith('npm ci'));
    assert.ok(
      instructions
        .slice(stageIndex, installIndex)
        .some(([name, rest]) => name === 'COPY' && rest === 'server server'),
    );
  });

  test('installs exactly the packages of the lock file', () => {
    // `npm install` could change the lock file.
    const installs = argumentsOf('RUN').filter((rest) => /^npm (ci|i|install)\b/.test(rest));
    assert.equal(installs.length, 2);
    for (const each of installs) assert.match(each, /^npm ci /);
    for (const stage of ['build', 'production']) {
      const stageIndex = instructions.findIndex(
        ([name, rest]) => name === 'FROM' && rest.endsWith(` AS ${stage}`),
      );
      const [, firstCopy] = instructions.slice(stageIndex).find(([name]) => name === 'COPY')!;
      assert.match(firstCopy, /\bpackage-lock\.json\b/, stage);
    }
  });

  test('uses one base image in every stage, pinned by digest', () => {
    const images = argumentsOf('FROM').map((rest) => rest.split(' ')[0]);
    assert.deepEqual(new Set(images), new Set(['${NODE_IMAGE}']));
    const [pinnedImage] = argumentsOf('ARG').filter((rest) => rest.startsWith('NODE_IMAGE='));
    const [, major] = /^NODE_IMAGE=node:(\d+)\.\d+\.\d+-bookworm-slim@sha256:[0-9a-f]{64}$/.exec(
      pinnedImage!,
    )!;
    const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: { node: string } };
    assert.equal(
      major,
      /\d+/.exec(devDependencies.node)![0],
      'the image has the Node version that runs the tests',
    );
  });

  test('names the version of the server, like the manifests', () => {
    const { version } = JSON.parse(read('server/package.json')) as { version: string };
    assert.match(argumentsOf('LABEL')[0]!, new RegExp(`image\\.version="${version}"`));
    for (const file of ['deploy/compose.yaml', 'deploy/kubernetes.yaml']) {
      assert.match(read(file), new RegExp(`image: espalier:${version}$`, 'm'));
    }
  });

  describe('the health check', () => {
    const [, command] = /CMD (\[.*\])$/.exec(argumentsOf('HEALTHCHECK')[0]!)!;
    const [program, ...args] = JSON.parse(command!) as string[];
    const folder = mkdtempSync(join(tmpdir(), 'espalier-health-'));
    after(() => rmSync(folder, { recursive: true }));

    /** Runs the exact command with the variables of the image and the given settings. Returns the exit code. */
    const runHealthCheck = (url: string, settings: Record<string, string> = {}) => {
      assert.equal(program, 'node');
      const [, imageHost] = /ESPALIER_HOST=(\S+)/.exec(argumentsOf('ENV').join(' '))!;
      const env = { ESPALIER_HOST: imageHost, ESPALIER_PORT: new URL(url).port, ...settings };
      return new Promise<unknown>((resolve) =>
        execFile(process.execPath, args, { env, cwd: folder }, (error) => resolve(error ? error.code : 0)),
      );
    };

    test('exits with 0 while a node responds under its base path, and later with 1', async () => {
      const testbed = await Testbed.start(sqlite, { settings: { BASE_PATH: '/tree', HOST: '0.0.0.0' } });
      assert.equal(await runHealthCheck(testbed.url, { ESPALIER_BASE_PATH: '/tree' }), 0);
      assert.equal(
        await runHealthCheck(testbed.url, { ESPALIER_HOST: '127.0.0.1', ESPALIER_BASE_PATH: '/tree/' }),
        0,
      );
      await testbed.stop();
      assert.equal(await runHealthCheck(testbed.url, { ESPALIER_BASE_PATH: '/tree' }), 1);
    });

    test('accepts any certificate of a node if ESPALIER_TLS_CERT_FILE is set', async () => {
      const { cert, private: key } = await generate([{ name: 'commonName', value: 'tree.example.com' }]);
      const files = { TLS_CERT_FILE: join(folder, 'cert.pem'), TLS_KEY_FILE: join(folder, 'key.pem') };
      writeFileSync(files.TLS_CERT_FILE, cert);
      writeFileSync(files.TLS_KEY_FILE, key, { mode: 0o600 });
      const testbed = await Testbed.start(sqlite, { settings: files });
      assert.match(testbed.url, /^https:/);
      assert.equal(await runHealthCheck(testbed.url, { ESPALIER_TLS_CERT_FILE: files.TLS_CERT_FILE }), 0);
      assert.equal(await runHealthCheck(testbed.url), 1);
      await testbed.stop();
    });

    test('exits with 1 if the node responds with 503', async () => {
      const unhealthyServer = createServer((_, response) => response.writeHead(503).end()).listen(
        0,
        '127.0.0.1',
      );
      await once(unhealthyServer, 'listening');
      const { port } = unhealthyServer.address() as AddressInfo;
      assert.equal(await runHealthCheck(`http://127.0.0.1:${port}`), 1);
      unhealthyServer.close();
    });
  });
});
