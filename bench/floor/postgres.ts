/** The same reads on PostgreSQL, against the statements that they send, by bare `pg` behind raw node:http. */

import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PostgresServer } from '../../tests/postgres/postgres-server.ts';
import { childrenOf } from '../sizing-processes.ts';
import { plantEstate, racesOf } from './estate.ts';
import { meet } from './meeting.ts';
import { OurServer } from './our-server.ts';
import type { Course, Field } from './race.ts';
import { recordAnswer, type RecordedAnswer } from './recorded-answer.ts';
import { statementsIn, type SentStatement } from './sent-statement.ts';
import type { Asked } from './volley.ts';

const levelCount = 10_000;
/** After the answer some is still sent; and now and then the server has something to ask for itself. */
const quietMs = 150;
const looks = 4;
const target = { atLeast: 0.5, aim: 0.7 };

const races = racesOf({
  prefix: 'postgres-',
  where: ', on PostgreSQL',
  floor: 'the same SQL by bare pg, behind raw node:http',
  targets: { root: target, children: target, levels: target, page: target },
});

export const postgresField: Field = {
  name: 'postgres',
  entries: races,
  async *run(chosen, course) {
    const postgres = await startAside(course);
    let server: OurServer | undefined;
    try {
      const databaseUrl = postgres.superuserUrl;
      const seen = await OurServer.start(course, {
        databaseUrl,
        preload: fileURLToPath(new URL('record-statements.ts', import.meta.url)),
      });
      const running = races.filter(({ name }) => chosen.includes(name));
      const estate = await plantEstate(seen, levelCount);
      const statements = new Map<string, readonly SentStatement[]>();
      for (const { name, read } of running) {
        const asked = await seen.graphRequest({ query: read.query(estate) });
        statements.set(name, await sentFor(seen, asked, course));
      }
      await seen.stop();
      server = await OurServer.start(course, { databaseUrl });
      for (const race of running) {
        const asked = await server.graphRequest({ query: race.read.query(estate) });
        const sent = statements.get(race.name)!;
        course.note(`${race.name}: ${sent.length} statements on PostgreSQL for a request`);
        const toFloor = (answer: RecordedAnswer) =>
          ({ kind: 'postgres', answer, url: databaseUrl, statements: sent }) as const;
        yield await meet(race, { server, asked, requests: race.read.requests / 2, toFloor }, course);
      }
    } finally {
      await server?.stop();
      await postgres.remove();
    }
  },
};

/** Its processes are of no side, and keep off the core of both. */
async function startAside({ pinAside }: Course): Promise<PostgresServer> {
  const before = childrenOf(process.pid);
  const postgres = await PostgresServer.start({ isDurable: true });
  for (const pid of childrenOf(process.pid)) {
    if (!before.includes(pid)) pinAside(pid);
  }
  return postgres;
}

/** What a request makes the server send, when it is not the first of its kind. */
async function sentFor(
  server: OurServer,
  asked: Asked,
  { signal }: Course,
): Promise<readonly SentStatement[]> {
  let fewest: readonly SentStatement[] | undefined;
  for (let look = 0; look < looks; look++) {
    signal.throwIfAborted();
    await sleep(quietMs);
    const before = server.log.length;
    await recordAnswer(server.url, asked);
    await sleep(quietMs);
    const sent = statementsIn(server.log.slice(before));
    if (look > 0 && (!fewest || sent.length < fewest.length)) fewest = sent;
  }
  return fewest!;
}
