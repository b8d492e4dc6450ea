/**
 * Runs as a child process, on a core of its own: sends requests with autocannon, and takes every answer that is not the
 * expected one for an error.
 */

import autocannon, { type Client, type Instance, type Options, type Request, type Result } from 'autocannon';
import { answerParent } from '../parent.ts';
import { numberMark, type TokenPair, type Volley, type VolleyResult } from './volley.ts';

const looksEveryMs = 20;
const timeoutSeconds = 60;
/** Where the chains of the volleys before have got to. */
const chains = new Map<string, TokenPair[]>();
let lastNumber = 0;

answerParent({ fire }, () => undefined);

async function fire(volley: Volley): Promise<VolleyResult> {
  const { url, asked, expected, requests } = volley;
  const connections = Math.min(volley.connections, requests);
  const times = new Float64Array(requests);
  let answered = 0;
  let lastAnswerAt = 0;
  let wrong: string | undefined;
  let places = 0;
  const options: Options & { readonly sampleInt: number } = {
    url: url + asked.path,
    method: asked.method,
    headers: asked.headers,
    body: asked.body,
    connections,
    amount: requests,
    timeout: timeoutSeconds,
    sampleInt: looksEveryMs,
    ...(expected.body !== undefined && expected.body !== '' && { expectBody: expected.body }),
    ...(volley.isNumbered && { requests: [{ setupRequest: numbered(asked.body) }] }),
    ...(volley.chain && { setupClient: (client) => follow(client, volley, places++) }),
  };
  const start = performance.now();
  // Its types do not know that it can be listened to while it is awaited.
  const running = autocannon(options) as Promise<Result> & Instance;
  void running.on('response', (_, status, bytes, milliseconds) => {
    if (status !== expected.status || Math.abs(bytes - expected.bytes) > expected.slackBytes) {
      wrong ??= `${status} of ${bytes} bytes instead of ${expected.status} of ${expected.bytes}`;
    }
    times[answered++] = milliseconds;
    lastAnswerAt = performance.now();
  });
  const { errors, timeouts, mismatches, non2xx } = await running;
  if (wrong) throw new Error(`${asked.path} answered ${wrong}.`);
  if (errors + timeouts + mismatches + non2xx > 0 || answered !== requests) {
    const found = JSON.stringify({ errors, timeouts, mismatches, non2xx, answered });
    throw new Error(`${asked.path}: not every one of ${requests} answers was right: ${found}`);
  }
  times.sort();
  const at = (part: number) => times[Math.min(requests - 1, Math.floor(requests * part))]!;
  return { elapsedMs: lastAnswerAt - start, p50Ms: at(0.5), p99Ms: at(0.99) };
}

function numbered(template: string): (request: Request) => Request {
  const [before = '', after = ''] = template.split(numberMark);
  return (request) => ({ ...request, body: before + String(++lastNumber).padStart(9, '0') + after });
}

function follow(client: Client, { asked, chain }: Volley, place: number): void {
  const { name, pairs } = chain!;
  if (!chains.has(name)) chains.set(name, [...pairs]);
  const current = chains.get(name)!;
  const fill = (text: string) =>
    text
      .replace('{authToken}', current[place]!.authToken)
      .replace('{refreshToken}', current[place]!.refreshToken);
  const request: Request = {
    setupRequest: (given) => ({
      ...given,
      headers: Object.fromEntries(Object.entries(asked.headers).map(([key, value]) => [key, fill(value)])),
      body: fill(asked.body),
    }),
    onResponse: (_, body) => void (current[place] = JSON.parse(body) as TokenPair),
  };
  client.setRequests([request]);
}
