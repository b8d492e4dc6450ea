/** The server serves the documentation site with the right policy, content types and base path. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { StubApp } from '../live/stub-app.ts';

const inline = "document.documentElement.classList.add('dark')";
const page = `<script>${inline}</script><script type="module" src="/docs/assets/app.A1.js"></script><a href="/docs/operators/backup.html">/docs/</a>`;
const script = 'const base="/docs/";';

function buildSite(): string {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-docs-'));
  const files = {
    'index.html': page,
    'operators/backup.html': page,
    'decisions/index.html': page,
    'assets/app.A1.js': script,
    'files/deploy/nginx.conf': 'server {}',
    'files/Dockerfile': 'FROM node',
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

describe('the documentation', () => {
  const folder = buildSite();
  let app: StubApp;
  before(async () => void (app = await StubApp.start({ documentationFolder: folder })));
  after(async () => {
    await app.stop();
    rmSync(folder, { recursive: true });
  });

  test('allows only its own scripts in the policy of its pages', async () => {
    const digest = createHash('sha256').update(inline).digest('base64');
    for (const path of ['/docs', '/docs/', '/docs/operators/backup.html', '/docs/decisions/']) {
      const answer = await fetch(app.url + path);
      assert.equal(answer.status, 200, path);
      assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.equal(answer.headers.get('cache-control'), 'no-cache');
      const policy = answer.headers.get('content-security-policy')!;
      assert.ok(policy.includes(`default-src 'none'; script-src 'self' 'sha256-${digest}'; `), policy);
      assert.equal(await answer.text(), page);
    }
  });

  test('answers 304 if the client has cached the page', async () => {
    const first = await fetch(`${app.url}/docs/`);
    const again = await fetch(`${app.url}/docs/`, {
      headers: { 'if-none-match': first.headers.get('etag')! },
    });
    assert.deepEqual([again.status, await again.text()], [304, '']);
  });

  test('includes copies of files from the repository as text', async () => {
    for (const path of ['files/deploy/nginx.conf', 'files/Dockerfile']) {
      const answer = await fetch(`${app.url}/docs/${path}`);
      assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8', path);
    }
  });

  test('consists only of its own files', async () => {
    for (const path of [
      'operators/backup',
      'operators/',
      'operators',
      'no.html',
      'assets/no.js',
      '%2e%2e/x',
    ]) {
      const answer = await fetch(`${app.url}/docs/${path}`);
      assert.equal(answer.status, 404, path);
      assert.equal(answer.headers.get('content-type'), 'application/problem+json; charset=utf-8');
    }
    assert.equal((await fetch(`${app.url}/docs/`, { method: 'POST' })).status, 405);
  });

  test('is served below a base path, with links and scripts that contain it', async (context) => {
    const below = await StubApp.start({ documentationFolder: folder, settings: { basePath: '/tree' } });
    context.after(() => below.stop());
    const get = async (path: string) => {
      const answer = await fetch(`${below.url}/tree/docs${path}`);
      return { text: await answer.text(), caching: answer.headers.get('cache-control') };
    };
    const expectedPage = page.replaceAll('"/docs/', '"/tree/docs/');
    assert.deepEqual(await get('/operators/backup.html'), { text: expectedPage, caching: 'no-cache' });
    const caching = 'public, max-age=31536000, immutable';
    assert.deepEqual(await get('/assets/app.A1.js'), { text: 'const base="/tree/docs/";', caching });
  });

  test('does not exist if it was not built', async (context) => {
    const without = await StubApp.start();
    context.after(() => without.stop());
    for (const path of ['/docs', '/docs/', '/docs/index.html']) {
      const answer = await fetch(without.url + path);
      assert.equal(answer.status, 404);
      assert.match(await answer.text(), /This address does not exist/);
    }
  });
});
