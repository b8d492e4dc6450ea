/** The gzipped size of the files that a browser loads up to the first screen of the console. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';

export const consoleFolder = join(import.meta.dirname, '../../console/dist');

/** Up to the sign-in form, and up to the tree. */
export const loadBudgets = { signInBytes: 190_000, treeBytes: 250_000 };

/** Starts recording. The returned function returns the size of each loaded file. */
export function recordLoads(page: Page): () => ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  page.on('request', (request) => {
    const [, name] = /\/console\/([^?#]*)$/.exec(request.url()) ?? [];
    if (name === undefined) return;
    const file = /\.\w+$/.test(name) ? name : 'index.html';
    sizes.set(file, gzipSync(readFileSync(join(consoleFolder, file)), { level: 9 }).length);
  });
  return () => sizes;
}

export function totalOf(sizes: ReadonlyMap<string, number>): number {
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}
