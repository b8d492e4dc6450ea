/** The address and the user agent of a client, as the user sees them in the list of sessions. They are stored nowhere else. */

import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Client } from '../sessions/client.ts';

const maxAgentLength = 255;

export function clientOf({ ip, headers }: FastifyRequest): Client {
  const agent = headers['user-agent']?.replace(/\p{Cc}/gu, '').slice(0, maxAgentLength);
  // Undefined once the connection is closed. Behind a trusted proxy it can be any text.
  return { address: isIP(ip ?? '') ? ip : null, agent: agent || null };
}
