/** Builds the console if it has not been built or its sources have changed since. */

import { spawnSync } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const sources = [
  'console/{src,public}/**/*',
  'console/*.{html,ts,json}',
  'client/src/**/*.ts',
  'package-lock.json',
];
const builtPage = join(root, 'console/dist/index.html');

function isStale(): boolean {
  if (!existsSync(builtPage)) return true;
  const { mtimeMs } = statSync(builtPage);
  return globSync(sources, { cwd: root }).some((path) => statSync(join(root, path)).mtimeMs > mtimeMs);
}

if (isStale()) {
  console.log('Building the console…');
  const { status } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'warn'],
    { cwd: import.meta.dirname, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  process.exitCode = status ?? 1;
}
