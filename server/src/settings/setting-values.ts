/** What settings are made of: from the text that an operator wrote to a value, or undefined if it is none. */

import { isIP } from 'node:net';

export function text(given: string): string | undefined {
  return given || undefined;
}

export function yesOrNo(given: string): boolean | undefined {
  if (/^(true|yes|on|1)$/i.test(given)) return true;
  return /^(false|no|off|0)$/i.test(given) ? false : undefined;
}

export function wholeNumber(least: number, most: number): (given: string) => number | undefined {
  return (given) => {
    const isInRange = /^\d{1,15}$/.test(given) && Number(given) >= least && Number(given) <= most;
    return isInRange ? Number(given) : undefined;
  };
}

export function oneOf<Choice extends string>(
  choices: readonly Choice[],
): (given: string) => Choice | undefined {
  return (given) => choices.find((choice) => choice === given.toLowerCase());
}

/**
 * In one of PostgreSQL, a sign that is not where it belongs is of a password that is not encoded: the rest of it would be
 * taken for a host or the name of a database, and shown.
 */
export function databaseUrl(given: string): string | undefined {
  const isFile = /^sqlite:(?!:memory:).+$/.test(given);
  const isServer = /^postgres(ql)?:\/\/(?=.)[^/?#]*(\/[^?#@]*)?(\?\w+=[^#]*)?$/.test(given);
  return isFile || isServer ? given : undefined;
}

/** Without a slash at its end; a dot or two would be folded away by clients. */
export function basePath(given: string): string | undefined {
  return given && /^(\/(?!\.+(\/|$))[\w.~-]+)*\/?$/.test(given) ? given.replace(/\/$/, '') : undefined;
}

/** None, any, a number of hops, or addresses. */
export function trustedProxies(given: string): boolean | number | string[] | undefined {
  const plain = yesOrNo(given);
  if (plain !== undefined && !/^[01]$/.test(given)) return plain;
  if (/^\d{1,2}$/.test(given)) return Number(given) || false;
  const addresses = given.split(',').map((address) => address.trim());
  return addresses.every(isAddressRange) ? addresses : undefined;
}

function isAddressRange(given: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(given)) return true;
  const [address = '', bits, ...more] = given.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** Origins as browsers send them, or *. */
export function origins(given: string): string[] | undefined {
  const list = given
    .split(',')
    .map((origin) => origin.trim())
    .filter(Boolean);
  const isOrigin = (origin: string) =>
    origin === '*' || (!origin.includes('*') && URL.canParse(origin) && new URL(origin).origin === origin);
  return list.every(isOrigin) ? list : undefined;
}

/** Without a slash at its end. A password has no place in it. */
export function serverUrl(given: string): string | undefined {
  if (!URL.canParse(given)) return undefined;
  const { protocol, origin, pathname, search, hash, username, password } = new URL(given);
  const isPlain = /^https?:$/.test(protocol) && !(search || hash || username || password);
  return isPlain ? origin + pathname.replace(/\/+$/, '') : undefined;
}

/** Whoever names only a collector means its usual path: https://opentelemetry.io/docs/specs/otlp/#otlphttp-request */
export function tracesUrl(given: string): string | undefined {
  const url = serverUrl(given);
  return url !== undefined && new URL(url).pathname === '/' ? `${url}/v1/traces` : url;
}

/** It becomes the name of a file. */
export function profileName(given: string): string | undefined {
  return /^(?!\.)[\w.-]{1,64}$/.test(given) ? given : undefined;
}

export function share(given: string): number | undefined {
  return /^(0|1|0?\.\d{1,9}|1\.0+|0\.0+)$/.test(given) ? Number(given) : undefined;
}

/** As OTEL_EXPORTER_OTLP_HEADERS has them. */
export function headerPairs(given: string): Readonly<Record<string, string>> | undefined {
  const pairs = given
    .split(',')
    .map((pair) => /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x21-\x7e]*)\s*$/.exec(pair));
  if (!pairs.every((pair) => pair !== null)) return undefined;
  try {
    const headers = pairs.map(
      ([, name, value]) => [name!.toLowerCase(), decodeURIComponent(value!)] as const,
    );
    return headers.every(([, value]) => isHeaderValue(value)) ? Object.fromEntries(headers) : undefined;
  } catch {
    return undefined;
  }
}

/** Others end the line, or cannot be sent: nothing would arrive, and nobody would know why. */
function isHeaderValue(value: string): boolean {
  return /^[\x20-\x7e\xa0-\xff]*$/.test(value);
}

/** Or an IP address. */
export function hostName(given: string): string | undefined {
  return /^[\w.:%-]+$/.test(given) ? given : undefined;
}
