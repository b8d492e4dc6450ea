/**
 * Runs as a child process: copies, and is killed at the statement of the destination that it was told; of those only
 * that hold some text, if one is given.
 */

import { systemClock } from '../../server/src/clock.ts';
import { copyInstallation } from '../../server/src/maintenance/copy/copy.ts';
import { openAsItIs } from '../../server/src/database/open-database.ts';

const [fromUrl = '', toUrl = '', lastStatement = '', text = ''] = process.argv.slice(2);
let statements = 0;
const onStatement = (statement: string) => {
  if (statement.includes(text) && ++statements === Number(lastStatement))
    process.kill(process.pid, 'SIGKILL');
};
const from = await openAsItIs(fromUrl, { mustExist: true });
const compared = await copyInstallation({
  from,
  openDestination: () => openAsItIs(toUrl, { onStatement }),
  clock: systemClock,
});
await from.close();
process.exitCode = compared.every(({ isSame }) => isSame) ? 0 : 1;
