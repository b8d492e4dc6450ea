/** Contract §5.8: no password and no token that was sent is in an answer, other than as the new pair of a login. */

import { leastBytes, partsOf, secretsIn } from './secret.ts';

export interface SentRequest {
  readonly path: string;
  /** Its body and its Authorization header. */
  readonly text: string;
}

export interface ReceivedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export function assertNoEcho(sent: SentRequest, { status, headers, text }: ReceivedAnswer): void {
  const isPair = status === 200 && /\/login(\/refresh)?$/.test(sent.path);
  const answer = [...[...headers].map((each) => each.join(': ')), isPair ? '' : text].join('\n');
  for (const { kind, value } of secretsIn(sent.text).flatMap(partsOf)) {
    if (value.length < leastBytes || !answer.includes(value)) continue;
    throw new Error(`The answer to ${sent.path} holds a ${kind} that was sent: status ${status}.`);
  }
}
