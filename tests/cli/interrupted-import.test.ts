/** An import that is interrupted: the tree is as before, or all of it is there, and what is said is the truth. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { databaseKinds, sqlite, type DatabaseKind } from '../support/databases.ts';
import { CliBed } from './cli-bed.ts';
import { LargeImport } from './large-import.ts';
import { hasPseudoTerminal } from './pseudo-terminal.ts';

const folders = 8_000;
const areas = 40;
const finished =
  'espalier: The import was finished before it could be stopped. espalier folder rm -r takes it back.\n';

/** Stopped while the server writes, when it has written some. */
async function interrupt(kind: DatabaseKind, signal: NodeJS.Signals) {
  const begun = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  let inserts = -Infinity;
  const bed = await CliBed.start(kind, {
    onStatement: (text) => {
      if (/insert into folders/.test(text) && ++inserts === 3) begun.resolve();
      // Put on the tree or not, what it was staged under goes at the end.
      if (inserts > 0 && /delete from folders/.test(text)) over.resolve();
    },
  });
  try {
    const list = Array.from({ length: folders }, (_, number) => ({
      path: `Area ${number % areas}/Room ${number}`,
    }));
    const file = join(bed.folder, 'large.json');
    writeFileSync(file, JSON.stringify(list));
    const before = await bed.tree.snapshot();
    inserts = 0;
    const command = bed.start('folder', 'import', file);
    await begun.promise;
    command.signal(signal);
    const ended = await command.ended();
    await over.promise;
    // In line behind it.
    await bed.tree.outcome('deleteFolder', { id: randomUUID() });
    const isAsBefore = isDeepStrictEqual(await bed.tree.snapshot(), before);
    return { ended, isAsBefore, count: (await bed.tree.paths()).length };
  } finally {
    await bed.stop();
  }
}

for (const kind of databaseKinds) {
  describe(`an import that is interrupted on ${kind.name}`, () => {
    test('by Ctrl-C while the server works: nothing of it stays, and nothing comes later', async () => {
      const { ended, isAsBefore, count } = await interrupt(kind, 'SIGINT');
      assert.deepEqual([ended.code, ended.output], [130, '']);
      // A machine may be so slow that the import is faster than Ctrl-C; then that is said.
      if (ended.errors === finished) assert.equal(count, folders + areas);
      else {
        assert.equal(ended.errors, 'espalier: Nothing was imported.\n');
        assert.ok(isAsBefore);
      }
    });

    test('by a kill: all of it or nothing', async () => {
      const { ended, count } = await interrupt(kind, 'SIGKILL');
      assert.equal(ended.errors, '');
      assert.ok(count === 0 || count === folders + areas, String(count));
    });
  });
}

const isSkipped = hasPseudoTerminal ? false : 'there is no `script` of util-linux, which makes a terminal';
test(
  'an import on a terminal shows how far it is, and ends with the right counts',
  { skip: isSkipped },
  async () => {
    const large = await LargeImport.prepare(sqlite, 1_500);
    try {
      const seen = (await large.whole()).join('\n');
      for (const step of ['Reading directories: ', 'Sending kB [', 'The server is importing … ']) {
        assert.ok(seen.includes(step), `${step} is not in\n${seen}`);
      }
    } finally {
      await large.stop();
    }
  },
);
