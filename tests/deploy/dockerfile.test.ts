/* * Checks that the files and commands in the Dockerfile exist and that .dockerignore does not exclude the files. Runs the
 * health check.
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
const all = (name: string) => instructions.flatMap(([each, rest]) => (each === name ? [rest] : []));

describe('the Dockerfile', () => {
  test('copies files that exist and that .dockerignore does not exclude', () => {
    const included = read('.dockerignore').match(/(?<=^!).*$/gm)!;
    const sources = all('COPY')
      .filter((rest) => !rest.startsWith('--from='))
      .flatMap((rest) => rest.split(' ').slice(0, -1));
    assert.ok(sources.length > 0);
    for (const source of sources) {
      assert.ok(existsSync(join(root, source)), `${source} does not exist`);
      assert.ok(
        included.some((each) => source === each || source.startsWith(`${each}/`)),
        `${source} is ignored`,
      );
    }
  });

  test('ignores build results, data and secrets', () => {
    const hidden = read('.dockerignore').match(/^\*\*.*$/gm)!;
    for (const file of [
      'server/node_modules/x',
      'client/dist/index.js',
      'server/espalier-data/espalier.db',
    ]) {
      assert.ok(
        hidden.some((each) => matchesGlob(file, each) || matchesGlob(file, `${each}/**`)),
        file,
      );
    }
  });

  test('contains every workspace with its manifest and its build', () => {
    const { workspaces } = JSON.parse(read('package.json')) as { workspaces: string[] };
    const copied = all('COPY');
    for (const name of workspaces) {
      assert.ok(copied.includes(`${name} ${name}`));
      assert.ok(copied.includes(`${name}/package.json ${name}/package.json`));
      assert.ok(copied.includes(`--from=build /src/${name}/dist ${name}/dist`));
    }
  });

  test('uses commands that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const ran = all('RUN').flatMap((rest) => /^npm run (\S+)$/.exec(rest)?.[1] ?? []);
    assert.deepEqual(ran, ['build']);
    for (const name of ran) assert.ok(name in scripts, name);
    assert.ok(existsSync(join(root, 'server/bin/espalier.js')));
    assert.deepEqual(all('ENTRYPOINT'), ['["node", "/opt/espalier/server/bin/espalier.js"]']);
  });

  test('contains the script that npm ci runs at the end', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const [, file] = /^node (\S+)/.exec(scripts['postinstall']!)!;
    assert.ok(existsSync(join(root, file!)));
    const start = instructions.findIndex(([name, rest]) => name === 'FROM' && rest.endsWith(' AS build'));
    const installed = instructions.findIndex(([, rest]) => rest.startsWith('npm ci'));
    assert.ok(
      instructions
        .slice(start, installed)
        .some(([name, rest]) => name === 'COPY' && rest === 'server server'),
    );
  });

  test('installs exactly the lock file, because npm install could change it', () => {
    const installs = all('RUN').filter((rest) => /^npm (ci|i|install)\b/.test(rest));
    assert.equal(installs.length, 2);
    for (const each of installs) assert.match(each, /^npm ci /);
    for (const stage of ['build', 'production']) {
      const start = instructions.findIndex(
        ([name, rest]) => name === 'FROM' && rest.endsWith(` AS ${stage}`),
      );
      const [, copied] = instructions.slice(start).find(([name]) => name === 'COPY')!;
      assert.match(copied, /\bpackage-lock\.json\b/, stage);
    }
  });

  test('uses one image in every stage, pinned by digest, with the version of the server', () => {
    const images = all('FROM').map((rest) => rest.split(' ')[0]);
    assert.deepEqual(new Set(images), new Set(['${NODE_IMAGE}']));
    const [pinned] = all('ARG').filter((rest) => rest.startsWith('NODE_IMAGE='));
    const [, major] = /^NODE_IMAGE=node:(\d+)\.\d+\.\d+-bookworm-slim@sha256:[0-9a-f]{64}$/.exec(pinned!)!;
    const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: { node: string } };
    assert.equal(
      major,
      /\d+/.exec(devDependencies.node)![0],
      'the image has the Node version that runs the tests',
    );
    const { version } = JSON.parse(read('server/package.json')) as { version: string };
    assert.match(all('LABEL')[0]!, new RegExp(`image\\.version="${version}"`));
    for (const file of ['deploy/compose.yaml', 'deploy/kubernetes.yaml']) {
      assert.match(read(file), new RegExp(`image: espalier:${version}$`, 'm'));
    }
  });

  describe('the health check', () => {
    const [, command] = /CMD (\[.*\])$/.exec(all('HEALTHCHECK')[0]!)!;
    const [program, ...args] = JSON.parse(command!) as string[];
    const folder = mkdtempSync(join(tmpdir(), 'espalier-health-'));
    after(() => rmSync(folder, { recursive: true }));

    /** Runs the exact command with the variables of the image and these settings. Returns its exit code. */
    const runHealthCheck = (url: string, settings: Record<string, string> = {}) => {
      assert.equal(program, 'node');
      const [, imageHost] = /ESPALIER_HOST=(\S+)/.exec(all('ENV').join(' '))!;
      const env = { ESPALIER_HOST: imageHost, ESPALIER_PORT: new URL(url).port, ...settings };
      return new Promise<unknown>((resolve) =>
        execFile(process.execPath, args, { env, cwd: folder }, (error) => resolve(error ? error.code : 0)),
      );
    };

    test('exits with 0 for a node that responds under its base path, and with 1 otherwise', async () => {
      const testbed = await Testbed.start(sqlite, { settings: { BASE_PATH: '/tree', HOST: '0.0.0.0' } });
      assert.equal(await runHealthCheck(testbed.url, { ESPALIER_BASE_PATH: '/tree' }), 0);
      assert.equal(
        await runHealthCheck(testbed.url, { ESPALIER_HOST: '127.0.0.1', ESPALIER_BASE_PATH: '/tree/' }),
        0,
      );
      await testbed.stop();
      assert.equal(await runHealthCheck(testbed.url, { ESPALIER_BASE_PATH: '/tree' }), 1);
    });

    test('exits with 0 for a node with any certificate, and with 1 without the setting', async () => {
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

    test('exits with 1 for an unhealthy node', async () => {
      const sick = createServer((_, response) => response.writeHead(503).end()).listen(0, '127.0.0.1');
      await once(sick, 'listening');
      const { port } = sick.address() as AddressInfo;
      assert.equal(await runHealthCheck(`http://127.0.0.1:${port}`), 1);
      sick.close();
    });
  });
});
