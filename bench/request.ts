/** Records the requests that clients send, and the responses of the server byte for byte. */

import { once } from 'node:events';
import { connect } from 'node:net';
import { createClient, type Client } from '@espalier/client';
import type { Credentials } from '../tests/support/api-client.ts';

export interface BenchRequest {
  readonly method: 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface RecordedResponse {
  readonly status: number;
  /** The headers in the order of the response, without those that Node adds. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly keepAliveSeconds: number;
  readonly body: string;
  /** The size of the whole response: status line, headers and body. */
  readonly bytes: number;
}

interface Recording {
  readonly url: string;
  readonly credentials: Credentials;
  readonly path?: string;
}

/**
 * Logs in with `@espalier/client` and runs the call. Returns the first request of the client to the path,
 * which is not sent.
 */
export async function recordRequest(
  { url, credentials, path = '/graphql' }: Recording,
  call: (client: Client) => Promise<unknown>,
): Promise<BenchRequest> {
  let recordedRequest: BenchRequest | undefined;
  const client = createClient({
    url,
    retrySeconds: 0,
    async fetch(input, init) {
      const { pathname } = new URL(input);
      if (pathname !== path) return fetch(input, init);
      recordedRequest = {
        method: 'POST',
        path,
        headers: Object.fromEntries(new Headers(init!.headers)),
        body: init!.body as string,
      };
      throw new Error('Recorded, not sent.');
    },
  });
  try {
    await client.login(credentials);
    await call(client);
  } catch (error) {
    if (!recordedRequest) throw error;
  } finally {
    client.close();
  }
  return recordedRequest!;
}

export function post(path: string, body: object, headers: BenchRequest['headers'] = {}): BenchRequest {
  return {
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

const nodeHeaders = /^(connection|keep-alive|date)$/i;

export async function recordResponse(url: string, request: BenchRequest): Promise<RecordedResponse> {
  const { method, path, headers, body } = request;
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const head = [
    `${method} ${path} HTTP/1.1`,
    `host: ${host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  let receivedBytes = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    receivedBytes = Buffer.concat([receivedBytes, chunk]);
    const response = parseResponse(receivedBytes);
    if (response) return response;
  }
  throw new Error(`${path}: the connection was closed before the response was complete.`);
}

function parseResponse(receivedBytes: Buffer): RecordedResponse | undefined {
  const headEnd = receivedBytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = receivedBytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const allHeaders = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  const valueOf = (lowerCaseName: string) =>
    allHeaders.find(([name]) => name.toLowerCase() === lowerCaseName)?.[1] ?? '';
  if (valueOf('transfer-encoding')) throw new Error('The baseline cannot repeat a chunked response.');
  const bytes = headEnd + 4 + Number(valueOf('content-length'));
  if (receivedBytes.length < bytes) return undefined;
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: allHeaders.filter(([name]) => !nodeHeaders.test(name)),
    keepAliveSeconds: Number(/timeout=(\d+)/.exec(valueOf('keep-alive'))?.[1] ?? 0),
    body: receivedBytes.subarray(headEnd + 4).toString(),
    bytes,
  };
}
