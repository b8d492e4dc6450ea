/** What a race is: ours and a floor do the same work by turns, and what counts is the CPU that each used for it. */

import type { Contestant, Shot } from './contestant.ts';
import type { LoadProcess } from './load-process.ts';

export interface Race {
  readonly name: string;
  /** What is asked for. */
  readonly about: string;
  /** Who else does it. */
  readonly floor: string;
  /** Of the ratio: the floor's CPU divided by ours. */
  readonly atLeast?: number;
  readonly aim?: number;
}

/** Something that is measured and has nobody to race against. */
export interface Report {
  readonly name: string;
  readonly about: string;
  readonly unit: string;
  /** At most, unless it is at least. */
  readonly aim?: number;
  readonly isAimLeast?: boolean;
}

export interface Round {
  readonly ours: Shot;
  readonly floor: Shot;
}

export interface RaceOutcome {
  readonly race: Race;
  readonly rounds: readonly Round[];
}

export interface ReportOutcome {
  readonly report: Report;
  readonly values: readonly number[];
}

export type Outcome = RaceOutcome | ReportOutcome;

export interface Course {
  readonly rounds: number;
  /** Fewer requests than usual in each round: to see that a race runs, not to learn anything from it. */
  readonly mostRequests: number;
  readonly load: LoadProcess;
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
  /** With all that it has started, to a core of its own, if there is one: that on which both sides run by turns. */
  readonly pin: (pid: number) => void;
  /** To the core of the load. */
  readonly pinAside: (pid: number) => void;
}

/** Races that share what they need: it is started once, and gone when they are over. */
export interface Field {
  readonly name: string;
  readonly entries: readonly (Race | Report)[];
  run(chosen: readonly string[], course: Course): AsyncGenerator<Outcome>;
}

export interface Meeting {
  readonly ours: Contestant;
  readonly floor: Contestant;
  /** Of each side in each round, at most. */
  readonly requests: number;
  /** Of each side, before the first round, at most. */
  readonly warmUp: number;
}

/** Of ours: longer ones tell no more. By its CPU, so that a machine with other work does not make them shorter. */
const longestRoundMicroseconds = 700_000;
const longestWarmUpMicroseconds = 4_000_000;
const warmUpParts = 8;
const fewestRequests = 20;

export async function compete(race: Race, meeting: Meeting, course: Course): Promise<RaceOutcome> {
  const { ours, floor } = meeting;
  const perRequest = meeting.warmUp > 0 ? await warmUp(meeting, course) : 0;
  const inTime = Math.max(fewestRequests, Math.floor(longestRoundMicroseconds / perRequest));
  const requests = Math.min(meeting.requests, inTime, course.mostRequests);
  const rounds: Round[] = [];
  for (let round = 0; round < course.rounds; round++) {
    course.signal.throwIfAborted();
    rounds.push({ ours: await ours.fire(requests), floor: await floor.fire(requests) });
  }
  return { race, rounds };
}

/** Answers with how many microseconds ours took for a request at the end of it. */
async function warmUp({ ours, floor, warmUp: total }: Meeting, course: Course): Promise<number> {
  const requests = Math.min(Math.ceil(total / warmUpParts), course.mostRequests);
  let used = 0;
  let last = 0;
  for (let part = 0; part < warmUpParts && used < longestWarmUpMicroseconds; part++) {
    course.signal.throwIfAborted();
    last = (await ours.fire(requests)).cpuMicroseconds;
    used += last;
    await floor.fire(requests);
  }
  return last / requests;
}
