/** What the Dockerfile takes from here is here and is not ignored, and its commands are those of this repository. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { describe, test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** Each with its arguments, lines that go on joined. */
const instructions = read('Dockerfile')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => /^([A-Z]+) (.*)$/.exec(line)!.slice(1) as [string, string]);
const all = (name: string) => instructions.flatMap(([each, rest]) => (each === name ? [rest] : []));

describe('the Dockerfile', () => {
  test('what it copies from here is here, and .dockerignore lets it through', () => {
    const shown = read('.dockerignore').match(/(?<=^!).*$/gm)!;
    const sources = all('COPY')
      .filter((rest) => !rest.startsWith('--from='))
      .flatMap((rest) => rest.split(' ').slice(0, -1));
    assert.ok(sources.length > 0);
    for (const source of sources) {
      assert.ok(existsSync(join(root, source)), `${source} is not there`);
      assert.ok(
        shown.some((each) => source === each || source.startsWith(`${each}/`)),
        `${source} is ignored`,
      );
    }
  });

  test('what is built, kept or secret elsewhere is ignored', () => {
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

  test('every workspace is there with its manifest and what was built of it', () => {
    const { workspaces } = JSON.parse(read('package.json')) as { workspaces: string[] };
    const copied = all('COPY');
    for (const name of workspaces) {
      assert.ok(copied.includes(`${name} ${name}`));
      assert.ok(copied.includes(`${name}/package.json ${name}/package.json`));
      assert.ok(copied.includes(`--from=build /src/${name}/dist ${name}/dist`));
    }
  });

  test('its commands exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const ran = all('RUN').flatMap((rest) => /^npm run (\S+)$/.exec(rest)?.[1] ?? []);
    assert.deepEqual(ran, ['build']);
    for (const name of ran) assert.ok(name in scripts, name);
    assert.ok(existsSync(join(root, 'server/bin/espalier.js')));
    assert.deepEqual(all('ENTRYPOINT'), ['["node", "/opt/espalier/server/bin/espalier.js"]']);
  });

  test('every stage is of the same image, and the version is that of the server', () => {
    const images = all('FROM').map((rest) => rest.split(' ')[0]);
    assert.deepEqual(new Set(images), new Set(['node:24-bookworm-slim']));
    const { version } = JSON.parse(read('server/package.json')) as { version: string };
    assert.match(all('LABEL')[0]!, new RegExp(`image\\.version="${version}"`));
    for (const file of ['deploy/compose.yaml', 'deploy/kubernetes.yaml']) {
      assert.match(read(file), new RegExp(`image: espalier:${version}$`, 'm'));
    }
  });

  test('who asks how it is gets 0 or 1, as the node answers', async () => {
    const [, command] = /CMD (\[.*\])$/.exec(all('HEALTHCHECK')[0]!)!;
    const [program, flag, script] = JSON.parse(command!) as string[];
    assert.deepEqual([program, flag], ['node', '-e']);
    assert.equal(await exitOf(script!, 200), 0);
    assert.equal(await exitOf(script!, 503), 1);
    assert.equal(await exitOf(script!, undefined), 1);
  });
});

/** What the script would end with, if a node at /tree gave that answer, or none. */
async function exitOf(script: string, status: number | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    const fetched = (url: string) => {
      assert.equal(url, 'http://127.0.0.1:8080/tree/livez');
      return status === undefined
        ? Promise.reject(new Error('refused'))
        : Promise.resolve({ ok: status < 300 });
    };
    const environment = { ESPALIER_PORT: '8080', ESPALIER_BASE_PATH: '/tree' };
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- it is the text that the image runs
    const run = new Function('fetch', 'process', `return ${script}`) as (
      ...given: unknown[]
    ) => Promise<void>;
    run(fetched, { env: environment, exit: resolve }).catch(reject);
  });
}
