/** Runs as a child process: a server with a folder of its own, which tells what it uses. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { readSettings, startServer, type RunningServer } from 'espalier';
import { consoleFolder } from '../../server/src/cli/console-folder.ts';
import { systemClock } from '../../server/src/clock.ts';
import { serveParent } from '../../bench/parent.ts';

export interface ServeInput {
  /** For the database; removed at the end. */
  readonly folder: string;
  readonly username: string;
  readonly password: string;
  /** Settings by environment variable, without the prefix. */
  readonly settings: Readonly<Record<string, string>>;
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

const looksMs = 5;
/** Thousands of sockets can fail of one cause. */
const mostLogLines = 5;

let server: RunningServer | undefined;
let folder: string | undefined;
let logLines = 0;
const pauses = monitorEventLoopDelay({ resolution: 1 });
pauses.enable();

serveParent(
  {
    async start(input: ServeInput): Promise<string> {
      folder = input.folder;
      const given = {
        PORT: '0',
        DATABASE_URL: `sqlite:${join(folder, 'espalier.db')}`,
        ADMIN_USERNAME: input.username,
        ADMIN_PASSWORD: input.password,
        ACCESS_TOKEN_SECONDS: '86400',
        ...input.settings,
      };
      const environment = Object.fromEntries(
        Object.entries(given).map(([name, value]) => [`ESPALIER_${name}`, value]),
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
      // It counts from the second look on: what follows at once would not be seen.
      await sleep(looksMs);
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
