/**
 * Measures `espalier folder import` for a large directory and shows its progress. Checks that an interrupted import
 * leaves the tree unchanged. `npm run lab -- import --entries 100000`
 */

import { databaseKinds } from '../support/databases.ts';
import { withPostgres } from '../postgres/provided-postgres.ts';
import { parseScriptOptions } from '../support/script-options.ts';
import { LargeImport } from './large-import.ts';
import { hasPseudoTerminal } from './pseudo-terminal.ts';

const values = parseScriptOptions(
  'npm run lab -- import [--entries 100000]\n\nImports a directory on a terminal, once to the end and once interrupted halfway.',
  ['entries'],
);
const entries = Number(values.entries ?? 100_000);
if (!hasPseudoTerminal) {
  console.error('Cannot create a terminal: the `script` command of util-linux is missing.');
  process.exit(1);
}

await withPostgres(async () => {
  for (const kind of databaseKinds) {
    const large = await LargeImport.prepare(kind, entries);
    const whole = await large.runToEnd();
    const interrupted = await large.runInterrupted(/is importing … 2 s/);
    await large.stop();
    console.log(`A directory of ${entries.toLocaleString('en')} entries on ${kind.name}:`);
    for (const line of whole) console.log(`  ${line}`);
    console.log('The same import, interrupted while the server works. The tree is unchanged:');
    for (const line of interrupted) console.log(`  ${line}`);
    console.log();
  }
});
