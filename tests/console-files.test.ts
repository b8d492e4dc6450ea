/** The files of the web console: who gets which, under which policy, and that nothing else is served. */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { ServiceLinks } from '@espalier/contract';
import { StagedApp } from './live/staged-app.ts';
import { RawConnection, type RawAnswer } from './raw-connection.ts';

const script = `console.log(${JSON.stringify('x'.repeat(5_000))});`;
const page = '<!doctype html><script type="module" src="./assets/index-AbC123.js"></script>';
const strict =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function buildConsole(): string {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-console-'));
  mkdirSync(join(folder, 'assets'));
  const write = (name: string, content: string | Buffer) => writeFileSync(join(folder, name), content);
  write('index.html', page);
  write('favicon.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>');
  write('assets/index-AbC123.js', script);
  write('assets/index-AbC123.js.br', brotliCompressSync(script));
  write('assets/index-AbC123.js.gz', gzipSync(script));
  write('assets/plain-AbC123.css', 'body{}');
  write('assets/index-AbC123.js.map', '{}');
  return folder;
}

describe('the console', () => {
  const folder = buildConsole();
  let app: StagedApp;
  before(async () => void (app = await StagedApp.start({ consoleFolder: folder })));
  after(async () => {
    await app.stop();
    rmSync(folder, { recursive: true });
  });

  /** Exactly this path: `fetch` would tidy it, and unpack what comes. */
  const get = async (path: string, headers: readonly string[] = [], method = 'GET'): Promise<RawAnswer> => {
    const connection = await RawConnection.open(app.url);
    const lines = [`${method} ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''];
    const answer = await connection.exchange(lines.join('\r\n'));
    connection.close();
    return answer!;
  };

  test('is one page at every address that is not that of a file', async () => {
    for (const path of ['/console/', '/console/folders/0190', '/console/people/a/b', '/console//folders/1']) {
      const { status, head, body } = await get(path);
      assert.equal(status, 200, path);
      assert.match(head, /content-type: text\/html; charset=utf-8/);
      assert.match(head, /cache-control: no-cache/);
      assert.ok(head.includes(`content-security-policy: ${strict}\r\n`), head);
      assert.match(head, /x-content-type-options: nosniff/);
      assert.equal(body, page.replace('./', '/console/'));
    }
  });

  test('redirects to where its page is', async () => {
    const { status, head } = await get('/console');
    assert.equal(status, 308);
    assert.match(head, /location: \/console\/\r\n/);
  });

  test('is not sent again to who has it', async () => {
    const { head } = await get('/console/');
    const tag = /etag: ("[^"]+")/.exec(head)![1]!;
    const again = await get('/console/folders/1', [`If-None-Match: ${tag}`]);
    assert.deepEqual([again.status, again.body], [304, '']);
    const packed = await get('/console/', [`If-None-Match: ${tag}`, 'Accept-Encoding: br']);
    assert.equal(packed.status, 200, 'another form has another tag');
  });

  test('lets only the explorer write styles', async () => {
    for (const path of ['/console/explorer', '/console/explorer/saved']) {
      const { head } = await get(path);
      assert.match(head, /style-src 'self' 'unsafe-inline'; .*worker-src 'self';/);
      assert.match(head, /script-src 'self';/);
    }
    assert.ok((await get('/console/explorers')).head.includes(strict));
  });

  test('has files that never change, in the smallest form that the client takes', async () => {
    const path = '/console/assets/index-AbC123.js';
    const sizes = { br: brotliCompressSync(script).length, gzip: gzipSync(script).length };
    const cases: [string, keyof typeof sizes | undefined][] = [
      ['br, gzip', 'br'],
      ['gzip, deflate', 'gzip'],
      ['gzip;q=1.0, br;q=0', 'gzip'],
      ['identity', undefined],
    ];
    for (const [accepted, encoding] of cases) {
      const request = { method: 'HEAD', headers: { 'accept-encoding': accepted } };
      const { status, headers } = await fetch(app.url + path, request);
      assert.equal(status, 200);
      assert.deepEqual(
        ['content-encoding', 'content-length', 'vary', 'cache-control', 'content-type'].map((name) =>
          headers.get(name),
        ),
        [
          encoding ?? null,
          String(encoding ? sizes[encoding] : script.length),
          'accept-encoding',
          'public, max-age=31536000, immutable',
          'text/javascript; charset=utf-8',
        ],
        accepted,
      );
    }
    assert.equal(await (await fetch(app.url + path)).text(), script);
    const plain = await get('/console/assets/plain-AbC123.css', ['Accept-Encoding: br']);
    assert.deepEqual([plain.status, plain.body], [200, 'body{}'], 'what has no other form is sent as it is');
    assert.equal((await get('/console/favicon.svg')).status, 200);
  });

  test('has nothing that is not one of its files', async () => {
    const paths = [
      '/console/assets/other-AbC123.js',
      '/console/assets/index-AbC123.js.br',
      '/console/assets/index-AbC123.js.map',
      '/console/assets/nothing',
      '/console/other.txt',
      '/console/../server/package.json',
      '/console/..%2f..%2fpackage.json',
      '/console/assets/..%2findex.html.br',
      '/console/%2e%2e/%2e%2e/etc/passwd.txt',
      '/console/assets/%00.js',
      '/consoles',
    ];
    for (const path of paths) {
      const { status, head } = await get(path);
      assert.equal(status, 404, path);
      assert.match(head, /content-type: application\/problem\+json/);
      assert.match(head, /content-security-policy: default-src 'none'; frame-ancestors 'none'/);
    }
    const posted = await get('/console/', ['Content-Length: 0'], 'POST');
    assert.deepEqual([posted.status, /allow: (.*)\r\n/.exec(posted.head)?.[1]], [405, 'GET, HEAD']);
  });

  test('names what it loads below the base path, and tells caches apart by origin, too', async () => {
    const settings = { basePath: '/tree', corsOrigins: ['https://app.example.com'] };
    const below = await StagedApp.start({ consoleFolder: folder, settings });
    const answer = await fetch(`${below.url}/tree/console`, {
      headers: { origin: settings.corsOrigins[0]! },
    });
    assert.equal(answer.url, `${below.url}/tree/console/`);
    assert.equal(await answer.text(), page.replace('./', '/tree/console/'));
    assert.match(answer.headers.get('vary')!, /origin, accept-encoding/i);
    await below.stop();
  });

  test('gets browsers from the root of the service; programs get its links', async (context) => {
    const settings = { basePath: '/tree', corsOrigins: ['https://app.example.com'] };
    const below = await StagedApp.start({ consoleFolder: folder, settings });
    context.after(() => below.stop());
    const ask = (path: string, accept: string) =>
      fetch(below.url + path, {
        headers: { accept, origin: settings.corsOrigins[0]! },
        redirect: 'manual',
      });
    for (const path of ['/tree', '/tree/', '/Tree/']) {
      const browser = await ask(path, 'text/html,application/xhtml+xml,*/*;q=0.8');
      assert.deepEqual([browser.status, browser.headers.get('location')], [302, '/tree/console/'], path);
      const program = await ask(path, '*/*');
      assert.equal(program.status, 200);
      const { links } = (await program.json()) as ServiceLinks;
      assert.equal(links.console, '/tree/console/');
      for (const { headers } of [browser, program]) assert.match(headers.get('vary')!, /origin, accept/i);
    }
    assert.equal((await ask('/', 'text/html')).status, 404, 'outside the base path there is nothing');
  });

  test('is served under one spelling of the base path: others are redirected to it', async (context) => {
    const below = await StagedApp.start({ consoleFolder: folder, settings: { basePath: '/tree' } });
    context.after(() => below.stop());
    const ask = async (target: string) => {
      const connection = await RawConnection.open(below.url);
      const answer = await connection.exchange(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
      connection.close();
      return [answer!.status, /location: (.*)\r\n/.exec(answer!.head)?.[1]];
    };
    assert.deepEqual(await ask('/TREE/console/folders/1?q=a'), [308, '/tree/console/folders/1?q=a']);
    assert.deepEqual(await ask('http://x/TREE/console/'), [308, '/tree/console/']);
    assert.deepEqual(await ask('http://x/tree/console/'), [200, undefined]);
    assert.deepEqual(await ask('//tree//console/'), [200, undefined]);
  });

  test('says so if it has not been built, and is not there at all if it is off', async () => {
    const unbuilt = await StagedApp.start({ consoleFolder: null });
    const said = await fetch(`${unbuilt.url}/console`);
    assert.equal(said.status, 404);
    assert.match(await said.text(), /has not been built.*npm run build --workspace console/);
    await unbuilt.stop();
    const off = await StagedApp.start();
    for (const path of ['/console', '/console/']) {
      const answer = await fetch(off.url + path);
      assert.equal(answer.status, 404);
      assert.match(await answer.text(), /nothing at this address/);
    }
    await off.stop();
  });
});
