/**
 * Two workers on one port against one: what a request costs, and whether both do their share. On the same core, so that
 * neither shares one with the load: what is compared is the work, not the place for it. As each would have a core of its
 * own where two make sense, they may keep the core for as long as the system lets them.
 */

import { execFileSync } from 'node:child_process';

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

const requests = 16_000;
/** Each of the two gets half of it. */
const warmUp = 100_000;
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
      for (const { pid } of [one, two]) letKeepCore(pid, course);
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
      const outcome = await compete(workers, { ours: watched, floor, requests, warmUp }, course);
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

/** https://man7.org/linux/man-pages/man1/chrt.1.html: it is not interrupted whenever another one could go on. */
function letKeepCore(pid: number, { note }: Course): void {
  try {
    for (const each of [pid, ...descendantsOf(pid)]) {
      execFileSync('chrt', ['--all-tasks', '--batch', '--pid', '0', String(each)], { stdio: 'ignore' });
    }
  } catch {
    note('workers: there is no chrt, so that the two take the core from each other all the time');
  }
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
