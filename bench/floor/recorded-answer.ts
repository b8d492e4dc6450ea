/** One answer of a server as it came over the wire, for a floor to repeat to the byte. */

import { once } from 'node:events';
import { connect } from 'node:net';
import type { Asked } from './volley.ts';

export interface RecordedAnswer {
  readonly status: number;
  /** In their order, without those that Node writes by itself. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly keepAliveSeconds: number;
  readonly body: string;
  /** Of all of it. */
  readonly bytes: number;
}

const writtenByNode = /^(connection|keep-alive|date)$/i;

export async function recordAnswer(
  url: string,
  { method, path, headers, body }: Asked,
): Promise<RecordedAnswer> {
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
  let received = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    received = Buffer.concat([received, chunk]);
    const answer = parse(received);
    if (answer) return answer;
  }
  throw new Error(`${path}: the connection was closed before the answer was there.`);
}

function parse(received: Buffer): RecordedAnswer | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [first = '', ...lines] = received.subarray(0, headEnd).toString('latin1').split('\r\n');
  const all = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  const valueOf = (wanted: string) => all.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? '';
  const bytes = headEnd + 4 + Number(valueOf('content-length'));
  if (valueOf('transfer-encoding')) throw new Error('An answer in chunks cannot be repeated to the byte.');
  if (received.length < bytes) return undefined;
  return {
    status: Number(first.split(' ')[1]),
    headers: all.filter(([name]) => !writtenByNode.test(name)),
    keepAliveSeconds: Number(/timeout=(\d+)/.exec(valueOf('keep-alive'))?.[1] ?? 0),
    body: received.subarray(headEnd + 4).toString(),
    bytes,
  };
}
