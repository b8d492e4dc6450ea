/** The output at the end of `npm install` on an older Node and on a supported one. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

/** Runs the script of package.json like npm on this Node version. */
const runPostinstall = (version: string) =>
  execFileSync('sh', ['-c', scripts['postinstall']!], {
    cwd: root,
    encoding: 'utf8',
    env: {
      ...process.env,
      npm_config_user_agent: `npm/11.19.1 node/v${version} linux x64 workspaces/false`,
    },
  });

test('postinstall explains the EBADENGINE warnings in one line on an older Node', () => {
  for (const version of ['18.20.8', '20.20.2', '22.14.0']) {
    const minor = version.replace(/\.\d+$/, '');
    assert.match(
      runPostinstall(version),
      new RegExp(`^You can ignore the EBADENGINE warnings above: npm runs on Node ${minor}, .*\\n$`),
    );
  }
});

test('postinstall prints nothing on a Node that every package accepts', () => {
  for (const version of ['22.15.0', '24.21.0', '26.0.0']) assert.equal(runPostinstall(version), '');
});
