/**
 * Finds responses that the server must never send, for any request. For example, 503 means that the server is
 * overloaded or has no database, and a hostile request must not cause either.
 */

import { closeCodes } from '@espalier/contract';
import type { HttpResponse } from './http-responses.ts';
import type { Materials } from './hostile-request.ts';

/** The server sent a forbidden response. */
export class BadResponseError extends Error {}

const badCodes = /"code":"(INTERNAL|UNAVAILABLE)"/;
const badCloses: readonly number[] = [closeCodes.INTERNAL.code, closeCodes.UNAVAILABLE.code, 1011, 1006];
/** Texts that show internals of the server. */
const leakPatterns = /node_modules|\.ts:\d+|at async |SQLITE_|relation "|syntax error at or near/;
const secrets = ['AT', 'RT', 'READERAT', 'PASSWORD'];

export function checkResponses(responses: readonly HttpResponse[], materials: Materials): void {
  for (const response of responses) {
    const fault = findFault(response, materials);
    if (fault) throw new BadResponseError(`${fault}\n${response.head}\n\n${response.body.slice(0, 2_000)}`);
  }
}

function findFault({ status, body, closeCode }: HttpResponse, materials: Materials): string | undefined {
  if (status >= 500) return `A status of ${status}.`;
  if (closeCode !== undefined && badCloses.includes(closeCode)) return `A socket closed with ${closeCode}.`;
  if (badCodes.test(body)) return 'An error that blames the server.';
  if (leakPatterns.test(body)) return 'A response that shows internals of the server.';
  const leaked = secrets.find((name) => body.includes(materials[name]!));
  return leaked && `A response with a secret in it: ${leaked}.`;
}
