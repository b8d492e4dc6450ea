/** Networks from which an API key may be used: addresses and CIDR ranges, in IPv4 and IPv6. */

import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net';
import { Refusal } from '../refusal.ts';

const maxNetworks = 50;
/** The longest IPv6 address with a range has 43 characters. */
const maxTextLength = 50;

interface Address {
  readonly address: string;
  readonly family: 'ipv4' | 'ipv6';
}

interface Network extends Address {
  readonly bits: number;
}

/** Refuses a text that is neither an address nor a CIDR range. Returns the networks in CIDR notation. */
export function requireNetworks(input: readonly string[]): readonly string[] {
  if (input.length > maxNetworks) {
    throw new Refusal('BAD_INPUT', `An API key can have at most ${maxNetworks} networks.`, inputField);
  }
  return input.map((text) => {
    const network = parseNetwork(text.trim());
    if (!network) {
      throw new Refusal(
        'BAD_INPUT',
        `The network ${JSON.stringify(text.slice(0, maxTextLength))} must be an IP address or a CIDR range, for example 10.0.0.0/8 or 2001:db8::/32.`,
        inputField,
      );
    }
    return `${network.address}/${network.bits}`;
  });
}

const inputField = { facts: { inputField: 'networks' } };

/** Returns a function that checks whether an address is in one of the networks. Without networks, every address is. */
export function createNetworkCheck(networks: readonly string[]): (address: string | null) => boolean {
  if (networks.length === 0) return () => true;
  // One list for each family, because a `BlockList` also compares IPv4 addresses with IPv6 networks, for example with ::/0.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const text of networks) {
    const { address, bits, family } = parseNetwork(text)!;
    lists[family].addSubnet(address, bits, family);
  }
  return (text) => {
    const client = parseAddress(text?.replace(/%.*$/, '') ?? '');
    return client !== undefined && lists[client.family].check(client.address, client.family);
  };
}

/** Whether every address of `inner` is also in `outer`. */
export function areNetworksInside(inner: readonly string[], outer: readonly string[]): boolean {
  if (outer.length === 0) return true;
  if (inner.length === 0) return false;
  const outerNetworks = outer.map((text) => parseNetwork(text)!);
  return inner.every((text) => {
    const { address, bits, family } = parseNetwork(text)!;
    return outerNetworks.some(
      (each) =>
        each.family === family &&
        each.bits <= bits &&
        createNetworkCheck([`${each.address}/${each.bits}`])(address),
    );
  });
}

function parseNetwork(text: string): Network | undefined {
  const [addressText = '', bitsText, ...more] = text.split('/');
  const parsed = parseAddress(addressText);
  if (!parsed || more.length > 0 || addressText.includes('%')) return undefined;
  if (bitsText !== undefined && !/^\d{1,3}$/.test(bitsText)) return undefined;
  const maxBits = parsed.family === 'ipv4' ? 32 : 128;
  // The network of an IPv4-mapped address, for example ::ffff:10.0.0.0/104, is a network of IPv4.
  const mappingBits = parsed.family === 'ipv4' && !isIPv4(addressText) ? 96 : 0;
  const bits = bitsText === undefined ? maxBits : Number(bitsText) - mappingBits;
  return bits >= 0 && bits <= maxBits ? { ...parsed, bits } : undefined;
}

/** A socket that accepts both families reports an IPv4 address as an IPv4-mapped IPv6 address, for example `::ffff:192.0.2.1`. */
function parseAddress(text: string): Address | undefined {
  const version = isIP(text);
  if (version === 0) return undefined;
  if (version === 4) return { address: text, family: 'ipv4' };
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  const mapped = /^::ffff:([\d.]+)$/.exec(address)?.[1];
  return mapped === undefined ? { address, family: 'ipv6' } : { address: mapped, family: 'ipv4' };
}
