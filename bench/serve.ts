/** Runs as a child process: a server with a folder of its own, which tells what it uses. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pino } from 'pino';
import { readSettings, startServer, type RunningServer } from 'espalier';
import { systemClock } from '../server/src/clock.ts';
import { answerParent } from './parent.ts';

export interface ServeInput {
  /** For the database; removed at the end. */
  readonly folder: string;
  readonly username: string;
  readonly password: string;
}

export interface Usage {
  /** Since the start. */
  readonly cpuMicroseconds: number;
  /** Since the last time it was asked for. */
  readonly longestPauseMs: number;
}

export interface Memory {
  readonly residentBytes: number;
  readonly heapBytes: number;
}

/** Thousands of sockets can fail of one cause. */
const mostLogLines = 5;

let server: RunningServer | undefined;
let folder: string | undefined;
let logLines = 0;
const pauses = monitorEventLoopDelay({ resolution: 1 });
pauses.enable();

answerParent(
  {
    async start(input: ServeInput): Promise<string> {
      folder = input.folder;
      const environment = {
        ESPALIER_PORT: '0',
        ESPALIER_DATABASE_URL: `sqlite:${join(folder, 'espalier.db')}`,
        ESPALIER_ADMIN_USERNAME: input.username,
        ESPALIER_ADMIN_PASSWORD: input.password,
        ESPALIER_ACCESS_TOKEN_SECONDS: '86400',
      };
      server = await startServer({
        settings: readSettings({ environment }).settings,
        clock: systemClock,
        log: pino({ level: 'warn' }, { write: log }),
        version: '0.0.0-bench',
      });
      return server.url;
    },

    usage(): Usage {
      const { user, system } = process.cpuUsage();
      const longestPauseMs = pauses.max / 1e6;
      pauses.reset();
      return { cpuMicroseconds: user + system, longestPauseMs };
    },

    /** Of what is in use: garbage is collected before. */
    async memory(): Promise<Memory> {
      for (let times = 0; times < 3; times++) {
        globalThis.gc!();
        await new Promise(setImmediate);
      }
      const { rss, heapUsed, external } = process.memoryUsage();
      return { residentBytes: rss, heapBytes: heapUsed + external };
    },
  },
  async () => {
    await server?.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  },
);

function log(line: string): void {
  if (++logLines <= mostLogLines) process.stderr.write(line);
}
