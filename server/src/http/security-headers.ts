/**
 * The headers that every response has. They keep browsers from interpreting a response as anything else than its
 * content type says.
 */

/** A response of the API may load nothing in a browser and may not be framed. */
const apiPolicy = "default-src 'none'; frame-ancestors 'none'";
const twoYearsSeconds = 63_072_000;

/** A page of the console replaces `content-security-policy` with its own. */
export function securityHeaders(isTls: boolean): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'content-security-policy': apiPolicy,
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    // Behind a proxy that terminates TLS, this header is the proxy's decision.
    ...(isTls && { 'strict-transport-security': `max-age=${twoYearsSeconds}` }),
  };
}

/** The same as header lines, for responses that are written to a bare socket. */
export const securityHeaderLines = Object.entries(securityHeaders(false))
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');
