/** Finds files that are installed with the program: its version, the documentation, and the built sites. */

import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** In a clone, the folder of the repository. A build copies its pages into the package. */
export function docsFolder(): string {
  const path = import.meta.url.endsWith('.ts') ? '../../../docs' : '../docs';
  return fileURLToPath(new URL(path, import.meta.url));
}

/** The site of `npm run docs:build`. A build of the package copies it. Returns undefined if it has not been built. */
export function documentationFolder(): string | undefined {
  const path = import.meta.url.endsWith('.ts') ? '../../../docs/.vitepress/dist' : '../site';
  const folder = fileURLToPath(new URL(path, import.meta.url));
  return existsSync(`${folder}/index.html`) ? folder : undefined;
}

/** The console is a separate package. Returns null if the console is not installed or not built. */
export function consoleFolder(): string | null {
  try {
    const page = fileURLToPath(import.meta.resolve('@espalier/console/index.html'));
    return existsSync(page) ? dirname(page) : null;
  } catch {
    return null;
  }
}
