/** What `npm install` prints at its end, on a Node that is older than the packages ask for and on one that is not. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

/** The script of package.json as npm runs it, on a Node of that version. */
const printedOn = (version: string) =>
  execFileSync('sh', ['-c', scripts['postinstall']!], {
    cwd: root,
    encoding: 'utf8',
    env: {
      ...process.env,
      npm_config_user_agent: `npm/11.19.1 node/v${version} linux x64 workspaces/false`,
    },
  });

test('explains the EBADENGINE warnings in one line on an older Node', () => {
  for (const version of ['18.20.8', '20.20.2', '22.14.0']) {
    const minor = version.replace(/\.\d+$/, '');
    assert.match(
      printedOn(version),
      new RegExp(`^You can ignore the EBADENGINE warnings above: npm runs on Node ${minor}, .*\\n$`),
    );
  }
});

test('prints nothing on a Node that every package accepts', () => {
  for (const version of ['22.15.0', '24.21.0', '26.0.0']) assert.equal(printedOn(version), '');
});
