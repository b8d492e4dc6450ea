/** Reads of the tree on SQLite, and the check of a token, against raw node:http that answers the same bytes. */

import { inviteReader, plantEstate, racesOf } from './estate.ts';
import { meet } from './meeting.ts';
import { OurServer, tokenRequest } from './our-server.ts';
import type { Field, Race } from './race.ts';

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
const verify: Race = {
  name: 'verify',
  about: '/login/verify',
  floor: 'raw node:http',
  atLeast: 0.75,
  aim: 0.85,
};

export const readField: Field = {
  name: 'reads',
  entries: [...races, ...readerRaces, verify],
  async *run(chosen, course) {
    const server = await OurServer.start(course);
    try {
      const estate = await plantEstate(server, levelCount);
      const reader = await inviteReader(server);
      for (const race of [...races, ...readerRaces].filter(({ name }) => chosen.includes(name))) {
        const { query, requests } = race.read;
        const person = readerRaces.includes(race) ? reader : undefined;
        const asked = await server.graphRequest({ query: query(estate) }, person);
        yield await meet(race, { server, asked, requests }, course);
      }
      if (chosen.includes(verify.name)) {
        const { authToken } = await server.logIn();
        const asked = tokenRequest('/login/verify', { authToken });
        yield await meet(verify, { server, asked, requests: verifyRequests }, course);
      }
    } finally {
      await server.stop();
    }
  },
};
