/** Finds the built files of the web console, which is a separate package. */

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Returns null if the console is not installed or not built. */
export function consoleFolder(): string | null {
  try {
    const page = fileURLToPath(import.meta.resolve('@espalier/console/index.html'));
    return existsSync(page) ? dirname(page) : null;
  } catch {
    return null;
  }
}
