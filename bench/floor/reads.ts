/** Reads of the tree on SQLite, and the check of a token, against raw node:http that answers the same bytes. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TextParameters } from '../../server/src/folders/folder-text.ts';
import type { Credentials } from '../../tests/api-client.ts';
import { copySqlite, readRows } from './bare-sqlite.ts';
import { inviteReader, plantEstate, racesOf, reads, type Estate } from './estate.ts';
import { askedBy } from './load-process.ts';
import { connections, meet } from './meeting.ts';
import { keepsNothing, OurServer, temporaryFolder, tokenRequest } from './our-server.ts';
import type { Course, Field, Outcome, Race } from './race.ts';
import { recordAnswer, type RecordedAnswer } from './recorded-answer.ts';

const levelCount = 10_000;
const verifyRequests = 5_000;
/** Of each read. */
const settlingRequests = 20_000;

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
/** What no server can be below that has SQLite write its answers. */
const boundRaces = racesOf({
  prefix: 'bound-',
  where: ', by raw node:http with the statement of ours, which asks nobody who they are',
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
  entries: [...races, ...readerRaces, ...keptRaces, ...boundRaces, verify],
  async *run(chosen, course) {
    const isChosen = ({ name }: Race) => chosen.includes(name);
    const server = await OurServer.start(course, { settings: keepsNothing });
    try {
      const estate = await plantEstate(server, levelCount);
      const reader = await inviteReader(server, estate);
      await settle(server, estate, course);
      yield* raceReads(races.filter(isChosen), { server, estate }, course);
      yield* raceReads(readerRaces.filter(isChosen), { server, estate, person: reader }, course);
      if (boundRaces.some(isChosen)) {
        yield* raceBounds(boundRaces.filter(isChosen), { server, estate }, course);
      }
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

/** What is left of planting, V8 clears away in the first seconds: else the first race would pay for it. */
async function settle(server: OurServer, estate: Estate, { load, mostRequests }: Course): Promise<void> {
  for (const { query } of reads) {
    const asked = await server.graphRequest({ query: query(estate) });
    const { status, bytes, body } = await recordAnswer(server.url, asked);
    const expected = { status, bytes, body, slackBytes: 0 };
    const requests = Math.min(settlingRequests, mostRequests);
    await askedBy(load, server, { asked, connections, expected }).fire(requests);
  }
}

async function* raceKept(chosen: typeof races, course: Course): AsyncGenerator<Outcome> {
  const server = await OurServer.start(course);
  try {
    const estate = await plantEstate(server, levelCount);
    yield* raceReads(chosen, { server, estate }, course);
  } finally {
    await server.stop();
  }
}

async function* raceBounds(
  chosen: typeof races,
  { server, estate }: { server: OurServer; estate: Estate },
  course: Course,
): AsyncGenerator<Outcome> {
  const folder = temporaryFolder();
  const file = join(folder, 'copy.db');
  copySqlite(server.file, file);
  const [head] = readRows<{ accessNumber: number }>(
    file,
    'select access_number as accessNumber from journal_counter',
  );
  try {
    for (const race of chosen) {
      const { query, requests, text, parametersIn } = race.read;
      const parameters = { ...parametersIn(estate), ...head } as TextParameters;
      const asked = await server.graphRequest({ query: query(estate) });
      const toOurs = (answer: RecordedAnswer) =>
        ({ kind: 'statement', answer, file, text, parameters }) as const;
      yield await meet(race, { server, asked, requests, toOurs }, course);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
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
