/** How ours meets a floor: both are asked the same by the same load, and both must answer the same. */

import { BareProcess } from './bare-process.ts';
import type { BareInput } from './bare.ts';
import { numberMark, type Asked, type Volley } from './volley.ts';
import { askedBy } from './load-process.ts';
import type { OurServer } from './our-server.ts';
import { compete, type Course, type Race, type RaceOutcome } from './race.ts';
import { recordAnswer, type RecordedAnswer } from './recorded-answer.ts';

/** Connections that ask, each again when it was answered. */
export const connections = 10;
/** Of each side, before the first round, unless they take too long: by then V8 has compiled what it will compile. */
export const warmUp = 40_000;

export interface Meeting {
  readonly server: OurServer;
  readonly asked: Asked;
  /** Whose answer is recorded, if it is another. */
  readonly first?: Asked;
  /** In each round, and of each side. */
  readonly requests: number;
  /** What the answer of ours has to be repeated with. Without it, the recorded bytes. */
  readonly toFloor?: (answer: RecordedAnswer) => BareInput;
  /** What runs in place of ours, to tell what a part of it costs. */
  readonly toOurs?: (answer: RecordedAnswer) => BareInput;
  /** Without it, every answer is the recorded one, letter by letter. */
  readonly varied?: Pick<Volley, 'isNumbered' | 'chain'> & { readonly slackBytes?: number };
}

export async function meet(race: Race, meeting: Meeting, course: Course): Promise<RaceOutcome> {
  const { server, asked, requests, varied, toFloor, toOurs } = meeting;
  const first = meeting.first ?? {
    ...asked,
    body: asked.body.replace(numberMark, '0'.repeat(numberMark.length)),
  };
  const answer = await recordAnswer(server.url, first);
  if (answer.status >= 300) throw new Error(`${race.name}: ${answer.status} ${answer.body}`);
  const bare = await BareProcess.start(toFloor?.(answer) ?? { kind: 'bytes', answer }, course);
  let part: BareProcess | undefined;
  try {
    if (toOurs) part = await BareProcess.start(toOurs(answer), course);
    const { status, bytes, body } = answer;
    const { slackBytes = 0, chain, isNumbered = false } = varied ?? {};
    const expected = { status, bytes, slackBytes, ...(!varied && { body }) };
    const volley = { asked, connections: chain?.pairs.length ?? connections, isNumbered, expected };
    const chained = (name: string) => chain && { chain: { ...chain, name } };
    const ours = askedBy(course.load, part ?? server, { ...volley, ...chained(`${race.name} ours`) });
    const floor = askedBy(course.load, bare, { ...volley, ...chained(`${race.name} floor`) });
    return await compete(race, { ours, floor, requests, warmUp }, course);
  } finally {
    await part?.stop();
    await bare.stop();
  }
}
