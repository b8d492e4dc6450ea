/** Checks the API key that commands use on this machine: whether the server accepts it, and when it expires. */

import { readApiKey } from '../../config/command-line.ts';
import { apiKeyFields, describeApiKey, type ApiKeyDetails } from '../api/api-key-fields.ts';
import {
  isEspalierAlive,
  jsonOf,
  ok,
  problem,
  sendRequest,
  skipped,
  warning,
  type CheckContext,
  type Findings,
} from './check-context.ts';

const warnBeforeMs = 14 * 86_400_000;
const solution = "Run 'espalier docs programs' for the solution.";

interface Answer {
  readonly data?: { readonly viewer: { readonly apiKey: ApiKeyDetails } } | null;
  readonly errors?: readonly { readonly message: string }[];
}

/** Yields nothing without an API key. */
export async function* checkApiKey({ clock, flags, server }: CheckContext): Findings {
  const input = readApiKey(flags);
  if (!input) return;
  const alive = await server.readLiveness().catch(() => undefined);
  // A program that is not Espalier must not receive the key.
  if (!alive || !isEspalierAlive(alive)) {
    yield skipped(`The API key from ${input.source} was not checked, because the server does not respond.`);
    return;
  }
  const { status, body } = await sendRequest(clock, `${server.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${input.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: `{ viewer { apiKey { ${apiKeyFields} } } }` }),
    mustBeTrusted: true,
  });
  const answer = jsonOf<Answer>(body);
  const key = answer?.data?.viewer.apiKey;
  if (!key) {
    const reason = answer?.errors?.[0]?.message ?? `The response has the status ${status}.`;
    yield problem(`The server does not accept the API key from ${input.source}. ${reason}`, solution);
    return;
  }
  const expiresSoon = key.expiresAt !== null && Date.parse(key.expiresAt) - clock.now() < warnBeforeMs;
  yield expiresSoon
    ? warning(describeApiKey(key), `Create the next key and replace this one before it expires. ${solution}`)
    : ok(describeApiKey(key));
}
