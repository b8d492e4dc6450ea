/**
 * What no answer may be, whatever was sent to a healthy server. 503 is among it: the server says it when it is overloaded
 * or without its database, and a request that is only odd must not bring it there.
 */

import { closeCodes } from '@espalier/contract';
import type { Answer } from './answers.ts';
import type { Materials } from './hostile-request.ts';

/** An answer that must not be. */
export class BadAnswer extends Error {}

const badCodes = /"code":"(INTERNAL|UNAVAILABLE)"/;
const badCloses: readonly number[] = [closeCodes.INTERNAL.code, closeCodes.UNAVAILABLE.code, 1011, 1006];
/** What a server that leaks its inside says. */
const leaks = /node_modules|\.ts:\d+|at async |SQLITE_|relation "|syntax error at or near/;
const secrets = ['AT', 'RT', 'READERAT', 'PASSWORD'];

export function judge(answers: readonly Answer[], materials: Materials): void {
  for (const answer of answers) {
    const fault = faultOf(answer, materials);
    if (fault) throw new BadAnswer(`${fault}\n${answer.head}\n\n${answer.body.slice(0, 2_000)}`);
  }
}

function faultOf({ status, body, closeCode }: Answer, materials: Materials): string | undefined {
  if (status >= 500) return `A status of ${status}.`;
  if (closeCode !== undefined && badCloses.includes(closeCode)) return `A socket closed with ${closeCode}.`;
  if (badCodes.test(body)) return 'An error that is the fault of the server.';
  if (leaks.test(body)) return 'An answer that tells of the inside of the server.';
  const told = secrets.find((name) => body.includes(materials[name]!));
  return told && `An answer with a secret in it: ${told}.`;
}
