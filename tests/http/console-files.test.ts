/** The server serves the files of the web console with the right headers, and no other files. */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { ServiceLinks } from '@espalier/contract';
import { StubApp } from '../live/stub-app.ts';
import { RawConnection, type RawResponse } from '../support/raw-connection.ts';

const script = `console.log(${JSON.stringify('x'.repeat(5_000))});`;
const page = '<!doctype html><script type="module" src="./assets/index-AbC123.js"></script>';
const consolePolicy =
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
  let app: StubApp;
  before(async () => void (app = await StubApp.start({ consoleFolder: folder })));
  after(async () => {
    await app.stop();
    rmSync(folder, { recursive: true });
  });

  /** Requests the exact path. `fetch` would normalize it and decompress the response. */
  const get = async (path: string, headers: readonly string[] = [], method = 'GET'): Promise<RawResponse> => {
    const connection = await RawConnection.open(app.url);
    const lines = [`${method} ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''];
    const answer = await connection.exchange(lines.join('\r\n'));
    connection.close();
    return answer!;
  };

  test('serves one page at every path that does not name a file', async () => {
    for (const path of ['/console/', '/console/folders/0190', '/console/people/a/b', '/console//folders/1']) {
      const { status, head, body } = await get(path);
      assert.equal(status, 200, path);
      assert.match(head, /content-type: text\/html; charset=utf-8/);
      assert.match(head, /cache-control: no-cache/);
      assert.ok(head.includes(`content-security-policy: ${consolePolicy}\r\n`), head);
      assert.match(head, /x-content-type-options: nosniff/);
      assert.equal(body, page.replace('./', '/console/'));
    }
  });

  test('redirects to the path of its page', async () => {
    const { status, head } = await get('/console');
    assert.equal(status, 308);
    assert.match(head, /location: \/console\/\r\n/);
  });

  test('answers 304 if the client has cached the page', async () => {
    const { head } = await get('/console/');
    const tag = /etag: ("[^"]+")/.exec(head)![1]!;
    const cachedResponse = await get('/console/folders/1', [`If-None-Match: ${tag}`]);
    assert.deepEqual([cachedResponse.status, cachedResponse.body], [304, '']);
    const compressedResponse = await get('/console/', [`If-None-Match: ${tag}`, 'Accept-Encoding: br']);
    assert.equal(compressedResponse.status, 200, 'another form has another tag');
  });

  test('allows inline styles only in the explorer', async () => {
    for (const path of ['/console/explorer', '/console/explorer/saved']) {
      const { head } = await get(path);
      assert.match(head, /style-src 'self' 'unsafe-inline'; .*worker-src 'self';/);
      assert.match(head, /script-src 'self';/);
    }
    assert.ok((await get('/console/explorers')).head.includes(consolePolicy));
  });

  test('serves immutable files in the smallest encoding that the client accepts', async () => {
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
    assert.deepEqual(
      [plain.status, plain.body],
      [200, 'body{}'],
      'a file without compressed variants is sent uncompressed',
    );
    assert.equal((await get('/console/favicon.svg')).status, 200);
  });

  test('consists only of its own files', async () => {
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

  test('loads its files below the base path', async () => {
    const settings = { basePath: '/tree', corsOrigins: ['https://app.example.com'] };
    const below = await StubApp.start({ consoleFolder: folder, settings });
    const answer = await fetch(`${below.url}/tree/console`, {
      headers: { origin: settings.corsOrigins[0]! },
    });
    assert.equal(answer.url, `${below.url}/tree/console/`);
    assert.equal(await answer.text(), page.replace('./', '/tree/console/'));
    assert.match(answer.headers.get('vary')!, /origin, accept-encoding/i);
    await below.stop();
  });

  test('receives browsers by a redirect from the root, where other clients get the links', async (context) => {
    const settings = { basePath: '/tree', corsOrigins: ['https://app.example.com'] };
    const below = await StubApp.start({ consoleFolder: folder, settings });
    context.after(() => below.stop());
    const get = (path: string, accept: string) =>
      fetch(below.url + path, {
        headers: { accept, origin: settings.corsOrigins[0]! },
        redirect: 'manual',
      });
    for (const path of ['/tree', '/tree/', '/Tree/']) {
      const browser = await get(path, 'text/html,application/xhtml+xml,*/*;q=0.8');
      assert.deepEqual([browser.status, browser.headers.get('location')], [302, '/tree/console/'], path);
      const program = await get(path, '*/*');
      assert.equal(program.status, 200);
      const { links } = (await program.json()) as ServiceLinks;
      assert.equal(links.console, '/tree/console/');
      for (const { headers } of [browser, program]) assert.match(headers.get('vary')!, /origin, accept/i);
    }
    assert.equal((await get('/', 'text/html')).status, 404, 'nothing exists outside the base path');
  });

  test('redirects other spellings of the base path to the configured one', async (context) => {
    const below = await StubApp.start({ consoleFolder: folder, settings: { basePath: '/tree' } });
    context.after(() => below.stop());
    const get = async (target: string) => {
      const connection = await RawConnection.open(below.url);
      const answer = await connection.exchange(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
      connection.close();
      return [answer!.status, /location: (.*)\r\n/.exec(answer!.head)?.[1]];
    };
    assert.deepEqual(await get('/TREE/console/folders/1?q=a'), [308, '/tree/console/folders/1?q=a']);
    assert.deepEqual(await get('http://x/TREE/console/'), [308, '/tree/console/']);
    assert.deepEqual(await get('http://x/tree/console/'), [200, undefined]);
    assert.deepEqual(await get('//tree//console/'), [200, undefined]);
  });

  test('returns build instructions if it was not built, and 404 if it is off', async () => {
    const unbuilt = await StubApp.start({ consoleFolder: null });
    const explained = await fetch(`${unbuilt.url}/console`);
    assert.equal(explained.status, 404);
    assert.match(await explained.text(), /has not been built.*npm run build --workspace console/);
    await unbuilt.stop();
    const off = await StubApp.start();
    for (const path of ['/console', '/console/']) {
      const answer = await fetch(off.url + path);
      assert.equal(answer.status, 404);
      assert.match(await answer.text(), /This address does not exist/);
    }
    await off.stop();
  });
});
