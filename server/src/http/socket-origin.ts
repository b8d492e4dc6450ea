/** Whether the web page that opens a socket may: browsers send its origin, and check nothing themselves. */

import type { FastifyRequest } from 'fastify';

/** Passes: no origin at all (no browser), the same host, and what the CORS setting names. */
export function isAllowedOrigin(request: FastifyRequest, corsOrigins: readonly string[]): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined || corsOrigins.includes('*') || corsOrigins.includes(origin)) return true;
  // Fastify's `host` is that of X-Forwarded-Host if the proxy is trusted.
  return [host, request.host].some((each) => each && isSameHost(origin, each));
}

/** The scheme is not compared: a proxy may have taken off the TLS. */
function isSameHost(origin: string, host: string): boolean {
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  const address = `${protocol}//${host}`;
  return URL.canParse(address) && new URL(address).host === originHost;
}
