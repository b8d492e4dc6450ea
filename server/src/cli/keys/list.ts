/** `espalier keys list`: lists the signing keys with their state. */

import { systemClock } from '../../clock.ts';
import { settingsTable } from '../../config/config.ts';
import { formatTime } from '../../sessions/manage-signing-keys.ts';
import { listKeyStatuses } from '../../sessions/manage-signing-keys.ts';
import { readKeyRows, type KeyRow } from '../../sessions/signing-keys.ts';
import { command, json } from '../command.ts';
import { databaseSettings, onDatabase } from '../database-command.ts';
import { print, printJson, table } from '../terminal/output.ts';

export const listKeys = command({
  options: { json },
  settings: [...databaseSettings, settingsTable.refreshTokenSeconds],
  details: `One key signs. A published key will sign later. The other keys verify tokens that they signed before. You can also run
espalier keys.`,
  run: ({ options, flags }) =>
    onDatabase(flags, async ({ database, settings }) => {
      const keys = describeKeys(await readKeyRows(database), settings.refreshTokenSeconds);
      if (options.json) {
        await printJson(keys);
        return;
      }
      const rows = keys.map(({ id, state, signsFrom, neededUntil, sealedWith }) => [
        id,
        state,
        signsFrom,
        neededUntil,
        sealedWith,
      ]);
      await print(table(['Key', 'State', 'Signs from', 'Needed until', 'Sealed with'], rows));
    }),
});

function describeKeys(rows: readonly KeyRow[], refreshTokenSeconds: number) {
  return listKeyStatuses(rows, { now: systemClock.now(), refreshTokenSeconds }).map((key) => ({
    ...key,
    createdAt: formatTime(key.createdAt),
    signsFrom: formatTime(key.signsFrom),
    neededUntil: key.neededUntil === null ? null : formatTime(key.neededUntil),
  }));
}
