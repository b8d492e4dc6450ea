/** Runs `espalier copy` in its own process, or the code of the command in this process. */

import { systemClock } from '../../server/src/clock.ts';
import { copyInstallation, type ComparedTable } from '../../server/src/maintenance/copy/copy.ts';
import type { Database } from '../../server/src/database/database.ts';
import { openWithoutMigrating } from '../../server/src/database/open-database.ts';
import { runEspalier, type CommandOptions, type CommandResult } from '../support/espalier-command.ts';

export function runCopy(args: readonly string[], options?: CommandOptions): Promise<CommandResult> {
  return runEspalier(['copy', ...args], options);
}

export function copyInto(url: string, from: Database): Promise<readonly ComparedTable[]> {
  return copyInstallation({ from, openDestination: () => openWithoutMigrating(url), clock: systemClock });
}
