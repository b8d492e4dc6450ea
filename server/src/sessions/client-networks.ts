/** Networks from which an API key may be used: addresses and CIDR ranges, in IPv4 and IPv6. */

import { BlockList, isIP, isIPv4 } from 'node:net';
import { Refusal } from '../refusal.ts';

const maxNetworks = 50;
/** The longest IPv6 address with a range has 43 characters. */
const maxTextLength = 50;

interface Network {
  readonly address: string;
  readonly family: 'ipv4' | 'ipv6';
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
  const list = new BlockList();
  for (const text of networks) {
    const { address, bits, family } = parseNetwork(text)!;
    list.addSubnet(address, bits, family);
  }
  return (address) => {
    if (address === null) return false;
    const plain = withoutMapping(address.replace(/%.*$/, ''));
    return isIP(plain) !== 0 && list.check(plain, isIPv4(plain) ? 'ipv4' : 'ipv6');
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
  const [address = '', bitsText, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0 || address.includes('%')) return undefined;
  const maxBits = family === 4 ? 32 : 128;
  if (bitsText !== undefined && !/^\d{1,3}$/.test(bitsText)) return undefined;
  const bits = bitsText === undefined ? maxBits : Number(bitsText);
  if (bits > maxBits) return undefined;
  return { address, bits, family: family === 4 ? 'ipv4' : 'ipv6' };
}

/** A socket that accepts both families reports IPv4 addresses as `::ffff:192.0.2.1`. */
function withoutMapping(address: string): string {
  const plain = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  return plain && isIPv4(plain) ? plain : address;
}
