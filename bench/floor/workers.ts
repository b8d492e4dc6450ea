/**
 * Two workers on one port against one: what a request costs, and whether both do their share. On the same core, so that
 * neither shares one with the load: what is compared is the work, not the place for it.
 */

import { cpuMicroseconds, descendantsOf } from '../sizing-processes.ts';
import { plantEstate, reads } from './estate.ts';
import { askedBy } from './load-process.ts';
import { keepsNothing, OurServer } from './our-server.ts';
import type { Contestant } from './contestant.ts';
import { compete, type Course, type Field, type Race, type Report } from './race.ts';
import { recordAnswer } from './recorded-answer.ts';

/** At most 1.15 times as much. */
const workers: Race = {
  name: 'workers',
  about: 'a folder and its 10 sub-folders by name, by two workers; all their processes together',
  floor: 'ours, with one worker',
  atLeast: 0.87,
};
const share: Report = {
  name: 'workers-share',
  about: 'of the CPU of two workers, what the one that did less has used',
  unit: '%',
  aim: 40,
  isAimLeast: true,
};

const requests = 4_000;
/** Each of the two gets half of it. */
const warmUpRounds = 8;
/** Enough for chance to give each worker its share. */
const connections = 40;

export const workerField: Field = {
  name: 'two workers',
  entries: [workers, share],
  async *run(_, course) {
    const one = await OurServer.start(course, { settings: { ...keepsNothing, WORKERS: '1' } });
    let two: OurServer | undefined;
    try {
      two = await OurServer.start(course, { settings: { ...keepsNothing, WORKERS: '2' } });
      if (two.log.includes('WORKERS is not a setting')) {
        course.note('workers: this server has no such setting');
        return;
      }
      const floor = await asked(one, course);
      const ours = await asked(two, course);
      const { pid } = two;
      const shares: number[] = [];
      const watched: Contestant = {
        async fire(count) {
          const before = usedBy(pid);
          const shot = await ours.fire(count);
          shares.push(leastShare(before, usedBy(pid)));
          return shot;
        },
      };
      const outcome = await compete(
        workers,
        { ours: watched, floor, requests, warmUp: warmUpRounds * requests },
        course,
      );
      yield outcome;
      yield { report: share, values: shares.slice(-outcome.rounds.length) };
    } finally {
      await two?.stop();
      await one.stop();
    }
  },
};

async function asked(server: OurServer, { load }: Course): Promise<Contestant> {
  const estate = await plantEstate(server, 1);
  const { query } = reads.find(({ name }) => name === 'children')!;
  const request = await server.graphRequest({ query: query(estate) });
  const { status, bytes, body } = await recordAnswer(server.url, request);
  return askedBy(load, server, {
    asked: request,
    connections,
    expected: { status, bytes, body, slackBytes: 0 },
  });
}

function usedBy(pid: number): ReadonlyMap<number, number> {
  return new Map([pid, ...descendantsOf(pid)].map((each) => [each, cpuMicroseconds(each)]));
}

/** Of the two that used the most: one that only minds the others is no worker. */
function leastShare(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  const used = [...after].map(([pid, microseconds]) => microseconds - (before.get(pid) ?? 0));
  const [most = 0, second = 0] = used.toSorted((one, other) => other - one);
  return (100 * second) / (most + second);
}
