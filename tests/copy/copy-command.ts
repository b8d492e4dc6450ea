/** `espalier copy` as an operator runs it. And what it does, in this process. */

import { systemClock } from '../../server/src/clock.ts';
import { copyInstallation, type ComparedTable } from '../../server/src/copy/copy.ts';
import type { Database } from '../../server/src/database/database.ts';
import { openAsItIs } from '../../server/src/database/open-database.ts';
import { runEspalier, type CommandOptions, type Ended } from '../espalier-command.ts';

export function runCopy(args: readonly string[], options?: CommandOptions): Promise<Ended> {
  return runEspalier(['copy', ...args], options);
}

export function copyInto(url: string, from: Database): Promise<readonly ComparedTable[]> {
  return copyInstallation({ from, openDestination: () => openAsItIs(url), clock: systemClock });
}
