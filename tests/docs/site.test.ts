/** Builds the documentation site, follows its links, and reads it in Chromium from a server as a user does. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { launchChromium, newContext } from '../browser/chromium.ts';
import { sqlite } from '../support/databases.ts';
import { Testbed } from '../support/testbed.ts';
import { root } from './follow-page.ts';

const base = '/docs/';
const vitepress = join(root, 'node_modules/vitepress/bin/vitepress.js');
/** Long enough for a busy machine. */
const timeoutMs = 20_000;

describe('the documentation site', () => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-site-'));
  let output: string;
  let pages: Map<string, string>;
  before(async () => {
    const args = ['--conditions=espalier-source', vitepress, 'build', 'docs', '--outDir', folder];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: root });
    output = stdout + stderr;
    pages = new Map(
      globSync('**/*.html', { cwd: folder }).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
    );
  });
  after(() => rmSync(folder, { recursive: true }));

  test('is built without a warning', () => {
    assert.doesNotMatch(output, /warn|error|\(!\)/i);
    assert.ok(pages.size > 50, `${pages.size} pages`);
  });

  test('contains no broken links', () => {
    const anchors = new Map([...pages].map(([name, html]) => [name, anchorsOf(html)]));
    const broken = new Set<string>();
    for (const [name, html] of pages) {
      for (const [, link] of html.matchAll(/<(?:a|img|link|script)\b[^>]*?\s(?:href|src)="([^"]*)"/g)) {
        const url = new URL(link!.replaceAll('&amp;', '&'), `http://site${base}${name}`);
        if (url.host !== 'site') continue;
        const path = decodeURIComponent(url.pathname).replace(/\/$/, '/index.html');
        const target = path.startsWith(base) ? path.slice(base.length) : undefined;
        const anchor = decodeURIComponent(url.hash.slice(1));
        const isFound = target !== undefined && existsSync(join(folder, target));
        if (!isFound || (anchor && !anchors.get(target)?.has(anchor))) broken.add(`${name}: ${link}`);
      }
    }
    assert.deepEqual([...broken], []);
  });

  test('contains the schema and the OpenAPI document', () => {
    assert.match(readFileSync(join(folder, 'files/contract/schema.graphql'), 'utf8'), /^type Query/m);
    const document = JSON.parse(readFileSync(join(folder, 'files/openapi.json'), 'utf8')) as {
      paths: object;
    };
    assert.ok('/login' in document.paths);
  });

  describe('on a server in Chromium', () => {
    let browser: Browser;
    let testbed: Testbed;
    let page: Page;
    const faults: string[] = [];
    const { promise: faultPromise, reject: rejectFault } = Promise.withResolvers<never>();
    // Only one test awaits this promise. In all other tests, a rejection would end the process.
    faultPromise.catch(() => undefined);
    const onFault = (fault: string) => {
      faults.push(fault);
      rejectFault(new Error(fault));
    };
    before(async () => {
      [browser, testbed] = await Promise.all([
        launchChromium(),
        Testbed.start(sqlite, { documentationFolder: folder }),
      ]);
      const context = await newContext(browser, { colorScheme: 'dark', reducedMotion: 'reduce' });
      context.setDefaultTimeout(timeoutMs);
      page = await context.newPage();
      page.on('pageerror', (error) => onFault(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error') onFault(`${message.text()} ${message.location().url}`);
      });
      page.on('request', (request) => {
        const url = request.url();
        if (!url.startsWith(testbed.url) && !url.startsWith('data:')) onFault(`Requests ${url}`);
      });
    });
    after(async () => {
      await browser.close();
      await testbed.stop();
      assert.deepEqual(faults, []);
    });

    test('draws every diagram', async () => {
      const pagesWithDiagrams: string[] = [];
      for (const [name, html] of pages) {
        const count = html.split('class="mermaid-diagram"').length - 1;
        if (count === 0) continue;
        await page.goto(`${testbed.url}${base}${name}`);
        const last = page.locator('div.mermaid-diagram').nth(count - 1);
        await Promise.race([last.waitFor(), faultPromise]);
        pagesWithDiagrams.push(name);
      }
      assert.ok(pagesWithDiagrams.length > 3, pagesWithDiagrams.join());
    });

    test('shows dark screenshots in the dark theme', async () => {
      await page.goto(`${testbed.url}${base}administrators/console.html`);
      await page.locator('img[src*="-dark"]').first().waitFor({ state: 'visible' });
      assert.equal(await page.locator('img[src*="-light"]').first().isVisible(), false);
    });

    for (const term of ['413', 'nginx', 'API key', 'refresh token']) {
      test(`finds a page for the search term "${term}"`, async () => {
        await page.goto(`${testbed.url}${base}`);
        await page.locator('.DocSearch-Button').first().click();
        await page.locator('#localsearch-input').fill(term);
        await page.locator('#localsearch-list a').first().waitFor();
        await page.locator('#localsearch-list a').first().click();
        await page.waitForURL((url) => url.pathname !== base);
      });
    }
  });
});

function anchorsOf(html: string): Set<string> {
  return new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id!.replaceAll('&amp;', '&')));
}
