/** Reads of the tree on SQLite, and the check of a token, against raw node:http that answers the same bytes. */

import { BareProcess } from './bare-process.ts';
import { plantEstate, racesOf } from './estate.ts';
import type { Asked } from './load.ts';
import { askedBy } from './load-process.ts';
import { OurServer } from './our-server.ts';
import { compete, type Course, type Field, type Race, type RaceOutcome } from './race.ts';
import { recordAnswer } from './recorded-answer.ts';

/** Connections that ask, each again when it was answered. */
export const connections = 10;
const levelCount = 10_000;
const warmUpRounds = 5;
const verifyRequests = 5_000;

const races = racesOf({
  prefix: '',
  where: '',
  floor: 'raw node:http',
  targets: {
    root: { atLeast: 0.7, aim: 0.85 },
    children: { atLeast: 0.55, aim: 0.75 },
    levels: { atLeast: 0.3, aim: 0.5 },
    page: { atLeast: 0.33, aim: 0.5 },
  },
});
const verify: Race = {
  name: 'verify',
  about: '/login/verify',
  floor: 'raw node:http',
  atLeast: 0.75,
  aim: 0.85,
};

export const readField: Field = {
  name: 'reads',
  entries: [...races, verify],
  async *run(chosen, course) {
    const server = await OurServer.start(course);
    try {
      const estate = await plantEstate(server, levelCount);
      for (const race of races.filter(({ name }) => chosen.includes(name))) {
        const asked = await server.graphRequest(race.read.query(estate));
        yield await raceBytes(race, { server, asked, requests: race.read.requests }, course);
      }
      if (chosen.includes(verify.name)) {
        const { authToken } = await server.logIn();
        const asked: Asked = {
          method: 'POST',
          path: '/login/verify',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ authToken }),
        };
        yield await raceBytes(verify, { server, asked, requests: verifyRequests }, course);
      }
    } finally {
      await server.stop();
    }
  },
};

/** Against a floor that repeats what ours has answered. */
async function raceBytes(
  race: Race,
  { server, asked, requests }: { server: OurServer; asked: Asked; requests: number },
  course: Course,
): Promise<RaceOutcome> {
  const answer = await recordAnswer(server.url, asked);
  const bare = await BareProcess.start({ kind: 'bytes', answer }, course);
  try {
    const { status, bytes, body } = answer;
    const volley = { asked, connections, expected: { status, bytes, body } };
    const ours = askedBy(course.load, server, volley);
    const floor = askedBy(course.load, bare, volley);
    return await compete(race, { ours, floor, requests, warmUp: warmUpRounds * requests }, course);
  } finally {
    await bare.stop();
  }
}
