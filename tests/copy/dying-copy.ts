/**
 * Runs as a child process: copies a database, and kills itself at the given statement on the destination. If a text is
 * passed, it counts only the statements that contain the text.
 */

import { systemClock } from '../../server/src/clock.ts';
import { copyInstallation } from '../../server/src/maintenance/copy/copy.ts';
import { openWithoutMigrating } from '../../server/src/database/open-database.ts';

const [fromUrl = '', toUrl = '', lastStatement = '', text = ''] = process.argv.slice(2);
let statements = 0;
const onStatement = (statement: string) => {
  if (statement.includes(text) && ++statements === Number(lastStatement))
    process.kill(process.pid, 'SIGKILL');
};
const from = await openWithoutMigrating(fromUrl, { mustExist: true });
const compared = await copyInstallation({
  from,
  openDestination: () => openWithoutMigrating(toUrl, { onStatement }),
  clock: systemClock,
});
await from.close();
process.exitCode = compared.every(({ isSame }) => isSame) ? 0 : 1;
