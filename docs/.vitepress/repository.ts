/** The repository, whose files the site contains. */

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const root = join(import.meta.dirname, '../..');

/** Node loads the file itself, because the bundler of VitePress does not support our `espalier-source` condition. */
export function loadSource<Module>(path: string): Promise<Module> {
  return import(pathToFileURL(join(root, path)).href) as Promise<Module>;
}
