/**
 * Contract §5.8: a response never contains a password or token of the request, except the new tokens of a
 * login.
 */

import { minBytes, splitSecret, findSecrets } from './secret.ts';

export interface SentRequest {
  readonly path: string;
  /** The body and the Authorization header. */
  readonly text: string;
}

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export function assertNoEcho(sent: SentRequest, { status, headers, text }: ReceivedResponse): void {
  const containsNewTokens =
    status === 200 && /\/login(\/(refresh|passkey|enrolment\/confirm))?$/.test(sent.path);
  const responseText = [...[...headers].map((each) => each.join(': ')), containsNewTokens ? '' : text].join(
    '\n',
  );
  for (const { kind, value } of findSecrets(sent.text).flatMap(splitSecret)) {
    if (value.length < minBytes || !responseText.includes(value)) continue;
    throw new Error(`The response to ${sent.path} contains a ${kind} of the request: status ${status}.`);
  }
}
