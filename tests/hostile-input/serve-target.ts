/**
 * Runs in a child process: the server that receives a million hostile requests, and reports its condition.
 */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { serveParent } from '../../bench/child-handlers.ts';
import { readSettings, startServer, type RunningServer } from 'espalier';
import { systemClock } from '../../server/src/clock.ts';
import type { Credentials } from '../support/api-client.ts';

export interface TargetInput {
  /** Contains the database. Removed at the end. */
  readonly folder: string;
  readonly warden: Credentials;
}

export interface Condition {
  /** The memory in use, after garbage collection. */
  readonly heapBytes: number;
  readonly residentBytes: number;
  readonly unhandled: number;
  /** The first error lines of the log and the first unhandled errors. */
  readonly faults: readonly string[];
  readonly faultCount: number;
}

const maxFaults = 10;
const maxCollections = 10;
let server: RunningServer | undefined;
let folder: string | undefined;
let unhandled = 0;
let faultCount = 0;
const faults: string[] = [];

process.on('unhandledRejection', onUnhandled).on('uncaughtException', onUnhandled);

serveParent(
  {
    async start(input: TargetInput): Promise<string> {
      folder = input.folder;
      const environment = {
        ESPALIER_PORT: '0',
        ESPALIER_DATABASE_URL: `sqlite:${join(folder, 'espalier.db')}`,
        ESPALIER_ADMIN_USERNAME: input.warden.username,
        ESPALIER_ADMIN_PASSWORD: input.warden.password,
        ESPALIER_LOGIN_THROTTLE: 'off',
      };
      server = await startServer({
        settings: readSettings({ environment }).settings,
        clock: systemClock,
        log: pino({ level: 'error' }, { write: recordFault }),
        version: '0.0.0-test',
      });
      return server.url;
    },

    async condition(): Promise<Condition> {
      const { heapUsed, external, rss } = await measureMemory();
      return { heapBytes: heapUsed + external, residentBytes: rss, unhandled, faults, faultCount };
    },
  },
  async () => {
    await server?.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  },
);

/** Collects garbage several times, because closed objects are freed step by step. Returns the lowest memory use. */
async function measureMemory(): Promise<NodeJS.MemoryUsage> {
  let lowest = process.memoryUsage();
  for (let times = 0; times < maxCollections; times++) {
    globalThis.gc!();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const now = process.memoryUsage();
    if (now.heapUsed + now.external < lowest.heapUsed + lowest.external) lowest = now;
  }
  return lowest;
}

function onUnhandled(error: unknown): void {
  unhandled++;
  recordFault(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

function recordFault(fault: string): void {
  faultCount++;
  if (faults.length < maxFaults) faults.push(fault);
}
