/**
 * Measures `espalier copy` for a large installation, from SQLite to PostgreSQL and back, and checks that the data is
 * unchanged. `npm run lab -- copy --folders 100000`
 */

import { withPostgres } from '../postgres/provided-postgres.ts';
import { parseScriptOptions } from '../support/script-options.ts';
import { copyThereAndBack } from './there-and-back.ts';

const values = parseScriptOptions(
  'npm run lab -- copy [--folders 100000]\n\nMeasures how long espalier copy takes, to PostgreSQL and back.',
  ['folders'],
);
const folders = Number(values.folders ?? 100_000);
const legs = await withPostgres(() => copyThereAndBack(folders));
for (const { from, to, seconds } of legs) {
  const rate = Math.round(folders / seconds).toLocaleString('en');
  console.log(
    `${folders.toLocaleString('en')} folders from ${from} to ${to}: ${seconds.toFixed(1)} s, ${rate} folders per second`,
  );
}
