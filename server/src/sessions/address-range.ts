/** The range of addresses that one client may have all of. What it does in one of them, it could do in any. */

import { isIPv6 } from 'node:net';

/**
 * An IPv4 address stands for itself. Of IPv6 a client has a /64 at the least (RFC 6177), so that is its range. An IPv4
 * address written as IPv6 (mapped: RFC 4291 §2.5.5.2; translated: RFC 6052 §2.1) is IPv4, or all of them were one client.
 */
export function addressRange(address: string | null): string {
  if (address === null || !isIPv6(address)) return address ?? '';
  const groups = groupsOf(address.replace(/%.*$/, ''));
  const prefix = groups.slice(0, 6).join(':');
  if (prefix === '0:0:0:0:0:ffff' || prefix === '64:ff9b:0:0:0:0') return toIPv4(groups[6]!, groups[7]!);
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** The eight groups, in lower case and without leading zeros. */
function groupsOf(address: string): string[] {
  // A URL's host is written in the one canonical form.
  const [before = '', after] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const head = before ? before.split(':') : [];
  const tail = after ? after.split(':') : [];
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
}

function toIPv4(high: string, low: string): string {
  const [upper, lower] = [parseInt(high, 16), parseInt(low, 16)];
  return [upper >> 8, upper & 255, lower >> 8, lower & 255].join('.');
}
