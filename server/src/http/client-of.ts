/** Where a request comes from, as it is shown to the user among the sessions. It is kept there and nowhere else. */

import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Client } from '../sessions/client.ts';

const longestAgent = 255;

export function clientOf({ ip, headers }: FastifyRequest): Client {
  const agent = headers['user-agent']?.replace(/\p{Cc}/gu, '').slice(0, longestAgent);
  // Behind a trusted proxy the address is whatever its header says.
  return { address: isIP(ip) ? ip : null, agent: agent || null };
}
