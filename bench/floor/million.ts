/** The same reads on a tree of a million folders, against ours on one of a thousand. Both answer the same bytes. */

import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { copySqlite } from './bare-sqlite.ts';
import { plantEstate, racesOf } from './estate.ts';
import { growEstate } from './grown-estate.ts';
import { askedBy } from './load-process.ts';
import { connections, warmUp } from './meeting.ts';
import { keepsNothing, OurServer, temporaryFolder } from './our-server.ts';
import { compete, type Course, type Field } from './race.ts';
import { recordAnswer } from './recorded-answer.ts';

/** With 111 folders on three levels it is a thousand. */
const levelCount = 889;
const small = 1_000;
const large = 1_000_000;
const target = { atLeast: 0.8, aim: 0.95 };

const races = racesOf({
  prefix: 'million-',
  where: ', of 1,000,000 folders',
  floor: 'ours, of 1,000 folders',
  targets: { root: target, children: target, levels: target, page: target },
});

export const millionField: Field = {
  name: 'million',
  entries: races,
  async *run(chosen, course) {
    const folder = temporaryFolder();
    const files = { small: join(folder, 'small.db'), large: join(folder, 'large.db') };
    const servers: OurServer[] = [];
    const serve = async (file: string) => {
      const options = { databaseUrl: `sqlite:${file}`, settings: keepsNothing };
      const server = await OurServer.start(course, options);
      servers.push(server);
      return server;
    };
    try {
      const estate = await prepare(files, course);
      const [larger, smaller] = [await serve(files.large), await serve(files.small)];
      for (const race of races.filter(({ name }) => chosen.includes(name))) {
        const { requests } = race.read;
        // One login serves both: they have the same keys.
        const asked = await smaller.graphRequest({ query: race.read.query(estate) });
        const { status, bytes, body } = await recordAnswer(smaller.url, asked);
        const volley = { asked, connections, expected: { status, bytes, body, slackBytes: 0 } };
        const ours = askedBy(course.load, larger, volley);
        const floor = askedBy(course.load, smaller, volley);
        yield await compete(race, { ours, floor, requests, warmUp }, course);
      }
    } finally {
      for (const server of servers) await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function prepare(files: { small: string; large: string }, course: Course) {
  const server = await OurServer.start(course);
  try {
    const estate = await plantEstate(server, levelCount);
    copySqlite(server.file, files.small);
    copyFileSync(files.small, files.large);
    const start = performance.now();
    growEstate(files.large, { ...estate, count: large - small });
    course.note(`a tree of a million folders made in ${((performance.now() - start) / 1000).toFixed(0)} s`);
    return estate;
  } finally {
    await server.stop();
  }
}
