/** `espalier keys rotate`: publishes a new signing key, which becomes active later. */

import { systemClock } from '../../clock.ts';
import { settingsTable } from '../../config/config.ts';
import { runChange } from '../../journal/journal.ts';
import { rotateSigningKey, formatTime } from '../../sessions/manage-signing-keys.ts';
import { readKeyRows } from '../../sessions/signing-keys.ts';
import { command, json } from '../command.ts';
import { print, printJson } from '../terminal/output.ts';
import { keySettings, onKeys, requireSameSeal } from './stored-keys.ts';

export const rotateKey = command({
  options: { json },
  settings: keySettings,
  details: `The new key signs after five minutes, when every node and every other service that verifies tokens has read it. Users stay
logged in. Servers rotate keys automatically every ${settingsTable.keyRotationDays.default} days (ESPALIER_KEY_ROTATION_DAYS).`,
  run: ({ options, flags }) =>
    onKeys(flags, async ({ database, encryption }) => {
      const { id, signsFrom } = await runChange(database, async (transaction) => {
        requireSameSeal(await readKeyRows(transaction), encryption);
        return rotateSigningKey(transaction, { encryption, now: systemClock.now() });
      });
      if (options.json) {
        await printJson({ id, signsFrom: formatTime(signsFrom) });
        return;
      }
      await print(`The key ${id} is published and signs from ${formatTime(signsFrom)} on.
Older keys continue to verify tokens as long as a session can need them. Users stay logged in.`);
    }),
});
