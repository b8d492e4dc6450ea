/** Runs as a child process on its own core: sends requests with autocannon and checks every response. */

import autocannon, { type Client, type Instance, type Options, type Request, type Result } from 'autocannon';
import { serveParent } from './child-handlers.ts';
import type { BenchRequest } from './request.ts';

/** A placeholder in a recorded body. Each request of a run replaces it with another number. */
export const numberPlaceholder = '#########';

export interface RefreshableTokens {
  readonly authToken: string;
  readonly refreshToken: string;
}

export interface Load {
  readonly url: string;
  readonly request: BenchRequest;
  readonly requests: number;
  readonly connections: number;
  readonly expected: {
    readonly status: number;
    /** The size of headers and body. A response can be `slackBytes` larger or smaller. */
    readonly bytes: number;
    readonly slackBytes?: number;
    /** The body that every response must have. */
    readonly body?: string;
  };
  /**
   * Each request gets its own number in place of `numberPlaceholder`, and a new idempotency key if the recorded
   * request has one.
   */
  readonly isNumbered?: boolean;
  /**
   * Each connection replaces `{authToken}` and `{refreshToken}` with its own tokens, and takes its next tokens from each
   * response. A load continues with the last tokens of the previous load with the same `name`.
   */
  readonly tokens?: { readonly name: string; readonly pairs: readonly RefreshableTokens[] };
}

export interface LoadResult {
  readonly elapsedMs: number;
}

const timeoutSeconds = 60;
const sampleMs = 20;
const tokensByName = new Map<string, RefreshableTokens[]>();
let lastNumber = 0;

serveParent({ send }, () => undefined);

async function send(load: Load): Promise<LoadResult> {
  const { url, request, expected, requests } = load;
  const { slackBytes = 0 } = expected;
  let responses = 0;
  let lastResponseAt = 0;
  let problem: string | undefined;
  let connection = 0;
  const options: Options & { readonly sampleInt: number } = {
    url: url + request.path,
    method: request.method,
    headers: request.headers,
    body: request.body,
    connections: Math.min(load.connections, requests),
    amount: requests,
    timeout: timeoutSeconds,
    sampleInt: sampleMs,
    ...(expected.body !== undefined && expected.body !== '' && { expectBody: expected.body }),
    ...(load.isNumbered && { requests: [{ setupRequest: numberRequests(request) }] }),
    ...(load.tokens && { setupClient: (client) => replaceTokens(client, load, connection++) }),
  };
  const start = performance.now();
  // The types of autocannon omit that the promise is an event emitter.
  const instance = autocannon(options) as Promise<Result> & Instance;
  void instance.on('response', (_, status, bytes) => {
    if (status !== expected.status || Math.abs(bytes - expected.bytes) > slackBytes) {
      problem ??= `${status} with ${bytes} bytes instead of ${expected.status} with ${expected.bytes}`;
    }
    responses++;
    lastResponseAt = performance.now();
  });
  const { errors, timeouts, mismatches, non2xx } = await instance;
  if (problem) throw new Error(`${request.path} returned ${problem}.`);
  if (errors + timeouts + mismatches + non2xx > 0 || responses !== requests) {
    const counts = JSON.stringify({ errors, timeouts, mismatches, non2xx, responses });
    throw new Error(`${request.path}: the ${requests} responses are not all as expected: ${counts}`);
  }
  return { elapsedMs: lastResponseAt - start };
}

function numberRequests({ body, headers }: BenchRequest): (request: Request) => Request {
  const [before = '', after = ''] = body.split(numberPlaceholder);
  return (request) => {
    const number = String(++lastNumber).padStart(9, '0');
    const key = headers['idempotency-key'] && { 'idempotency-key': `${crypto.randomUUID()}` };
    return { ...request, headers: { ...headers, ...key }, body: before + number + after };
  };
}

function replaceTokens(client: Client, { request, tokens }: Load, connection: number): void {
  const { name, pairs } = tokens!;
  if (!tokensByName.has(name)) tokensByName.set(name, [...pairs]);
  const connectionTokens = tokensByName.get(name)!;
  const fill = (text: string) =>
    text
      .replace('{authToken}', connectionTokens[connection]!.authToken)
      .replace('{refreshToken}', connectionTokens[connection]!.refreshToken);
  client.setRequests([
    {
      setupRequest: (setup) => ({
        ...setup,
        headers: Object.fromEntries(
          Object.entries(request.headers).map(([key, value]) => [key, fill(value)]),
        ),
        body: fill(request.body),
      }),
      onResponse: (_, body) => void (connectionTokens[connection] = JSON.parse(body) as RefreshableTokens),
    },
  ]);
}
