/** Where a request comes from, as it is shown to the user among the sessions. It is kept there and nowhere else. */

import { isIP } from 'node:net';
import type { Client } from '../sessions/client.ts';
import type { Asked } from './endpoint-answer.ts';

const longestAgent = 255;

export function clientOf({ ip, raw, headers }: Asked): Client {
  const agent = headers['user-agent']?.replace(/\p{Cc}/gu, '').slice(0, longestAgent);
  const address = ip ?? raw.socket.remoteAddress ?? '';
  // Behind a trusted proxy the address is whatever its header says.
  return { address: isIP(address) ? address : null, agent: agent || null };
}
