/** `espalier version`, and the version of this program, from its package. */

import { readFileSync } from 'node:fs';
import { command, json } from './command.ts';
import { print, printJson } from './terminal/output.ts';

export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

export const printVersion = command({
  options: { json },
  run: ({ options }) => (options.json ? printJson({ version: version() }) : print(version())),
});
