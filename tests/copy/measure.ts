/**
 * How long `espalier copy` takes for a large installation, from SQLite to PostgreSQL and back, and whether everything is
 * as before at the end. `npm run measure:copy -- --folders 100000`
 */

import { parseArgs } from 'node:util';
import { withPostgres } from '../postgres/provided-postgres.ts';
import { goThereAndBack } from './there-and-back.ts';

const { values } = parseArgs({ options: { folders: { type: 'string', default: '100000' } } });
const folders = Number(values.folders);
const legs = await withPostgres(() => goThereAndBack(folders));
for (const { from, to, seconds } of legs) {
  const rate = Math.round(folders / seconds).toLocaleString('en');
  console.log(
    `${folders.toLocaleString('en')} folders from ${from} to ${to}: ${seconds.toFixed(1)} s, ${rate} folders per second`,
  );
}
