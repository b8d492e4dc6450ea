/** Reads of the tree on SQLite, and the check of a token, against raw node:http that answers the same bytes. */

import type { Credentials } from '../../tests/api-client.ts';
import { inviteReader, plantEstate, racesOf, type Estate } from './estate.ts';
import { meet } from './meeting.ts';
import { keepsNothing, OurServer, tokenRequest } from './our-server.ts';
import type { Course, Field, Outcome, Race } from './race.ts';

const levelCount = 10_000;
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
const readerRaces = racesOf({
  prefix: 'reader-',
  where: ', by somebody with a grant for all of it',
  floor: 'raw node:http',
});
/** With default settings, and so from memory: nothing changes while they run. What has no list is never kept. */
const keptRaces = racesOf({
  prefix: 'kept-',
  where: ', of answers that are kept',
  floor: 'raw node:http',
}).filter(({ read }) => read.name !== 'root');
const verify: Race = {
  name: 'verify',
  about: '/login/verify',
  floor: 'raw node:http',
  atLeast: 0.75,
  aim: 0.85,
};

export const readField: Field = {
  name: 'reads',
  entries: [...races, ...readerRaces, ...keptRaces, verify],
  async *run(chosen, course) {
    const isChosen = ({ name }: Race) => chosen.includes(name);
    const server = await OurServer.start(course, { settings: keepsNothing });
    try {
      const estate = await plantEstate(server, levelCount);
      const reader = await inviteReader(server);
      yield* raceReads(races.filter(isChosen), { server, estate }, course);
      yield* raceReads(readerRaces.filter(isChosen), { server, estate, person: reader }, course);
      if (isChosen(verify)) {
        const { authToken } = await server.logIn();
        const asked = tokenRequest('/login/verify', { authToken });
        yield await meet(verify, { server, asked, requests: verifyRequests }, course);
      }
    } finally {
      await server.stop();
    }
    if (keptRaces.some(isChosen)) yield* raceKept(keptRaces.filter(isChosen), course);
  },
};

async function* raceKept(chosen: typeof races, course: Course): AsyncGenerator<Outcome> {
  const server = await OurServer.start(course);
  try {
    const estate = await plantEstate(server, levelCount);
    yield* raceReads(chosen, { server, estate }, course);
  } finally {
    await server.stop();
  }
}

async function* raceReads(
  chosen: typeof races,
  { server, estate, person }: { server: OurServer; estate: Estate; person?: Credentials },
  course: Course,
): AsyncGenerator<Outcome> {
  for (const race of chosen) {
    const { query, requests } = race.read;
    const asked = await server.graphRequest({ query: query(estate) }, person);
    yield await meet(race, { server, asked, requests }, course);
  }
}
