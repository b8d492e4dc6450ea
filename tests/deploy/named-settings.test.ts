/**
 * Checks that every setting that a manifest, the image or a page names exists, so that no old name remains after a
 * change.
 */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { environmentName } from '../../server/src/config/read-setting.ts';
import { settingsTable } from '../../server/src/config/settings-table.ts';
import { commandLineSettings } from '../../server/src/config/command-line.ts';
import type { Setting } from '../../server/src/config/setting.ts';

const root = join(import.meta.dirname, '../..');
const allSettings: Setting<unknown>[] = [
  ...Object.values(settingsTable),
  ...Object.values(commandLineSettings),
];
const settingNames = new Set(
  allSettings.flatMap((each) => {
    const name = environmentName(each);
    return each.mayBeFile ? [name, `${name}_FILE`] : [name];
  }),
);

/** Variables of examples and tests, not of the server. */
const otherVariables = new Set(['ESPALIER_PASSWORD', 'ESPALIER_TEST_POSTGRES_URL']);

describe('setting names', () => {
  const files = globSync(['Dockerfile', 'README.md', '*/README.md', 'deploy/*', 'docs/*.md'], { cwd: root });
  for (const file of files.sort()) {
    const namesInFile = readFileSync(join(root, file), 'utf8').match(/\bESPALIER_[A-Z0-9]\w*/g) ?? [];
    if (namesInFile.length === 0) continue;
    test(`in ${file} exist in the server`, () => {
      const unknown = namesInFile.filter((name) => !settingNames.has(name) && !otherVariables.has(name));
      assert.deepEqual(unknown, []);
    });
  }
});
