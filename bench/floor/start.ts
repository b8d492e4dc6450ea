/** How long a start takes, and what an idle server keeps: measured, without anybody to race against. */

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { copySqlite } from './bare-sqlite.ts';
import { plantEstate } from './estate.ts';
import { OurServer, temporaryFolder } from './our-server.ts';
import type { Course, Field, Report } from './race.ts';
import { recordAnswer } from './recorded-answer.ts';
import type { Asked } from './volley.ts';

const start: Report = {
  name: 'start',
  about:
    'from the start of the program to the first authorized answer, on an embedded database that is there',
  unit: 'ms',
  aim: 700,
};
const memory: Report = {
  name: 'memory',
  about: 'resident, of a server that has answered once and was idle for ten seconds',
  unit: 'MB',
  aim: 110,
};

const levelCount = 10_000;
const quietMs = 10_000;
/** Idle beside each other. */
const idleServers = 3;

export const startField: Field = {
  name: 'starts',
  entries: [start, memory],
  async *run(chosen, course) {
    const folder = temporaryFolder();
    try {
      const fileAt = (place: number) => join(folder, `${place}.db`);
      const asked = await prepare(fileAt, course);
      if (chosen.includes(start.name)) {
        const values: number[] = [];
        // The first makes what is kept for the next, and is not counted.
        for (let round = 0; round <= course.rounds; round++) {
          const began = performance.now();
          const server = await answering(course, fileAt(0), asked);
          if (round > 0) values.push(performance.now() - began);
          await server.stop();
        }
        yield { report: start, values };
      }
      if (chosen.includes(memory.name)) yield { report: memory, values: await idle(course, fileAt, asked) };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** A request that is right on all copies of one database, which are made here. */
async function prepare(fileAt: (place: number) => string, course: Course): Promise<Asked> {
  const server = await OurServer.start(course);
  try {
    await plantEstate(server, levelCount);
    const asked = await server.graphRequest({ query: '{folder{name}}' });
    for (let place = 0; place < idleServers; place++) copySqlite(server.file, fileAt(place));
    return asked;
  } finally {
    await server.stop();
  }
}

async function answering(course: Course, file: string, asked: Asked): Promise<OurServer> {
  // Where a start is measured, it may use all cores, as it does elsewhere.
  const server = await OurServer.start(
    { ...course, pin: () => undefined },
    { databaseUrl: `sqlite:${file}` },
  );
  const { status } = await recordAnswer(server.url, asked);
  if (status === 200) return server;
  await server.stop();
  throw new Error(`The first answer was ${status}.`);
}

async function idle(course: Course, fileAt: (place: number) => string, asked: Asked): Promise<number[]> {
  const servers: OurServer[] = [];
  try {
    for (let place = 0; place < idleServers; place++) {
      servers.push(await answering(course, fileAt(place), asked));
    }
    await sleep(quietMs, undefined, { signal: course.signal });
    return servers.map(({ pid }) => residentMegabytes(pid));
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** https://man7.org/linux/man-pages/man5/proc_pid_status.5.html */
function residentMegabytes(pid: number): number {
  const kibibytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
  return (kibibytes * 1024) / 1e6;
}
