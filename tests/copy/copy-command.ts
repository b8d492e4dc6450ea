/** `espalier copy` as an operator runs it: a process, with what it prints and how it ends. And what it does, without. */

import { execFile } from 'node:child_process';
import { systemClock } from '../../server/src/clock.ts';
import { copyInstallation, type ComparedTable } from '../../server/src/copy/copy.ts';
import type { Database } from '../../server/src/database/database.ts';
import { openAsItIs } from '../../server/src/database/open-database.ts';
import { keepLog, noteSettings } from '../secrets/secret-record.ts';

const program = new URL('../../server/bin/espalier.js', import.meta.url).pathname;

export interface Ended {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

export interface CopyCommandOptions {
  /** No file can be made larger: the disk is full for the process. */
  readonly mostFileBytes?: number;
}

const blockBytes = 512;

export function runCopy(args: readonly string[], options: CopyCommandOptions = {}): Promise<Ended> {
  const { mostFileBytes } = options;
  const limit = mostFileBytes === undefined ? 'unlimited' : String(Math.floor(mostFileBytes / blockBytes));
  const command = [process.execPath, '--conditions=espalier-source', program, 'copy', ...args];
  for (const url of args) noteSettings({ DATABASE_URL: url });
  return new Promise((resolve) => {
    execFile(
      'sh',
      ['-c', 'ulimit -f "$0" && exec "$@"', limit, ...command],
      { env: { PATH: process.env['PATH'] } },
      (error, output, errors) => {
        keepLog(output + errors);
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, output, errors });
      },
    );
  });
}

/** In this process. */
export function copyInto(url: string, from: Database): Promise<readonly ComparedTable[]> {
  return copyInstallation({ from, openDestination: () => openAsItIs(url), clock: systemClock });
}
