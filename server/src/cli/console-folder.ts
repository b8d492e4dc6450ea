/** Where the built files of the web console are, which comes as a package of its own. */

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Null if it is not installed, or has not been built. */
export function consoleFolder(): string | null {
  try {
    const page = fileURLToPath(import.meta.resolve('@espalier/console/index.html'));
    return existsSync(page) ? dirname(page) : null;
  } catch {
    return null;
  }
}
