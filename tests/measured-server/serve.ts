/** Runs as a child process: a server with its own folder. It reports its resource usage. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { readSettings, startServer, type RunningServer } from 'espalier';
import { consoleFolder } from '../../server/src/cli/package-files.ts';
import { systemClock } from '../../server/src/clock.ts';
import { serveParent } from '../../bench/child-handlers.ts';

export interface ServeInput {
  /** The folder of the database. Removed at the end. */
  readonly folder: string;
  readonly username: string;
  readonly password: string;
  /** Settings by environment variable, without the prefix. */
  readonly settings: Readonly<Record<string, string>>;
}

export interface Usage {
  /** Since the start. */
  readonly cpuMicroseconds: number;
  /** Since the last call. */
  readonly longestPauseMs: number;
}

export interface Memory {
  readonly residentBytes: number;
  readonly heapBytes: number;
}

const settleMs = 5;
/** Thousands of sockets can fail for the same reason. */
const maxLogLines = 5;

let server: RunningServer | undefined;
let folder: string | undefined;
let logLines = 0;
const pauses = monitorEventLoopDelay({ resolution: 1 });
pauses.enable();

serveParent(
  {
    async start(input: ServeInput): Promise<string> {
      folder = input.folder;
      const variables = {
        PORT: '0',
        DATABASE_URL: `sqlite:${join(folder, 'espalier.db')}`,
        ADMIN_USERNAME: input.username,
        ADMIN_PASSWORD: input.password,
        AUTH_TOKEN_SECONDS: '86400',
        ...input.settings,
      };
      const environment = Object.fromEntries(
        Object.entries(variables).map(([name, value]) => [`ESPALIER_${name}`, value]),
      );
      server = await startServer({
        settings: readSettings({ environment }).settings,
        clock: systemClock,
        log: pino({ level: 'warn' }, { write: log }),
        version: '0.0.0-bench',
        consoleFolder: consoleFolder(),
      });
      return server.url;
    },

    async usage(): Promise<Usage> {
      const { user, system } = process.cpuUsage();
      const longestPauseMs = pauses.max / 1e6;
      pauses.reset();
      // The monitor counts from its second sample on, so a pause that follows immediately would be missed.
      await sleep(settleMs);
      return { cpuMicroseconds: user + system, longestPauseMs };
    },

    /** Memory in use. Collects garbage first. */
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
  if (++logLines <= maxLogLines) process.stderr.write(line);
}
