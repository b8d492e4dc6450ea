/** An interrupted import changes either nothing or everything, and the command reports the result. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { databaseKinds, sqlite, type DatabaseKind } from '../support/databases.ts';
import { CliTestbed } from './cli-testbed.ts';
import { LargeImport } from './large-import.ts';
import { hasPseudoTerminal } from './pseudo-terminal.ts';

const folders = 8_000;
const areas = 40;
const finishedMessage =
  "espalier: The import was completed before it could be stopped. To undo it, run 'espalier folder delete -r'.\n";

/** Starts an import, and sends the signal after the server has written some folders. */
async function interrupt(kind: DatabaseKind, signal: NodeJS.Signals) {
  const importStart = Promise.withResolvers<void>();
  const importEnd = Promise.withResolvers<void>();
  let inserts = -Infinity;
  const testbed = await CliTestbed.start(kind, {
    onStatement: (text) => {
      if (/insert into folders/.test(text) && ++inserts === 3) importStart.resolve();
      // The server deletes the staging folder at the end, whether the import succeeded or not.
      if (inserts > 0 && /delete from folders/.test(text)) importEnd.resolve();
    },
  });
  try {
    const list = Array.from({ length: folders }, (_, number) => ({
      path: `Area ${number % areas}/Room ${number}`,
    }));
    const file = join(testbed.folder, 'large.json');
    writeFileSync(file, JSON.stringify(list));
    const before = await testbed.tree.snapshot();
    inserts = 0;
    const command = testbed.start('folder', 'import', file);
    await importStart.promise;
    command.signal(signal);
    const result = await command.waitUntilEnded();
    await importEnd.promise;
    // This change waits for the import in the writer queue.
    await testbed.tree.outcome('deleteFolder', { id: randomUUID() });
    const isUnchanged = isDeepStrictEqual(await testbed.tree.snapshot(), before);
    return { ended: result, isUnchanged, count: (await testbed.tree.paths()).length };
  } finally {
    await testbed.stop();
  }
}

for (const kind of databaseKinds) {
  describe(`an interrupted import on ${kind.name}`, () => {
    test('changes nothing after Ctrl-C, neither immediately nor later', async () => {
      const { ended, isUnchanged, count } = await interrupt(kind, 'SIGINT');
      assert.deepEqual([ended.code, ended.output], [130, '']);
      // On a slow machine, the import may finish before Ctrl-C. Then the command reports that.
      if (ended.errors === finishedMessage) assert.equal(count, folders + areas);
      else {
        assert.equal(ended.errors, 'espalier: Nothing was imported.\n');
        assert.ok(isUnchanged);
      }
    });

    test('is complete or absent after a kill', async () => {
      const { ended, count } = await interrupt(kind, 'SIGKILL');
      assert.equal(ended.errors, '');
      assert.ok(count === 0 || count === folders + areas, String(count));
    });
  });
}

const isSkipped = hasPseudoTerminal
  ? false
  : 'the `script` command of util-linux, which creates a terminal, is missing';
test(
  'an import shows its progress on a terminal and ends with the right counts',
  { skip: isSkipped },
  async () => {
    const largeImport = await LargeImport.prepare(sqlite, 1_500);
    try {
      const progress = (await largeImport.runToEnd()).join('\n');
      for (const step of ['Reading directories: ', 'Sending kB ', 'The server is importing …']) {
        assert.ok(progress.includes(step), `${step} is not in\n${progress}`);
      }
    } finally {
      await largeImport.stop();
    }
  },
);
