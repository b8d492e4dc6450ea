/** Parsers for the texts of settings. Each returns undefined for an invalid text. */

import { isIP } from 'node:net';

export function text(input: string): string | undefined {
  return input || undefined;
}

export function parseBoolean(input: string): boolean | undefined {
  if (/^(true|yes|on|1)$/i.test(input)) return true;
  return /^(false|no|off|0)$/i.test(input) ? false : undefined;
}

export function wholeNumber(min: number, max: number): (input: string) => number | undefined {
  return (input) => {
    const isInRange = /^\d{1,15}$/.test(input) && Number(input) >= min && Number(input) <= max;
    return isInRange ? Number(input) : undefined;
  };
}

export function oneOf<Choice extends string>(
  choices: readonly Choice[],
): (input: string) => Choice | undefined {
  return (input) => choices.find((choice) => choice === input.toLowerCase());
}

/**
 * Rejects a PostgreSQL URL with a misplaced delimiter. It probably belongs to a password that is not percent-encoded, and the
 * rest of the password would be displayed as a host or a database name.
 */
export function databaseUrl(input: string): string | undefined {
  const isFile = /^sqlite:(?!:memory:).+$/.test(input);
  const isServer = /^postgres(ql)?:\/\/(?=.)[^/?#]*(\/[^?#@]*)?(\?\w+=[^#]*)?$/.test(input);
  return isFile || isServer ? input : undefined;
}

/** Removes the trailing slash. Rejects `.` and `..`, because clients resolve them. */
export function basePath(input: string): string | undefined {
  return input && /^(\/(?!\.+(\/|$))[\w.~-]+)*\/?$/.test(input) ? input.replace(/\/$/, '') : undefined;
}

/** Accepts a boolean, a number of hops, or a list of addresses. */
export function trustedProxies(input: string): boolean | number | string[] | undefined {
  const plain = parseBoolean(input);
  if (plain !== undefined && !/^[01]$/.test(input)) return plain;
  if (/^\d{1,2}$/.test(input)) return Number(input) || false;
  const addresses = input.split(',').map((address) => address.trim());
  return addresses.every(isAddressRange) ? addresses : undefined;
}

function isAddressRange(input: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(input)) return true;
  const [address = '', bits, ...more] = input.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** Accepts origins as browsers send them, or `*`. */
export function origins(input: string): string[] | undefined {
  const list = input
    .split(',')
    .map((origin) => origin.trim())
    .filter(Boolean);
  const isOrigin = (origin: string) =>
    origin === '*' || (!origin.includes('*') && URL.canParse(origin) && new URL(origin).origin === origin);
  return list.every(isOrigin) ? list : undefined;
}

/** Removes the trailing slash. Rejects a URL with a password. */
export function serverUrl(input: string): string | undefined {
  if (!URL.canParse(input)) return undefined;
  const { protocol, origin, pathname, search, hash, username, password } = new URL(input);
  const isPlain = /^https?:$/.test(protocol) && !(search || hash || username || password);
  return isPlain ? origin + pathname.replace(/\/+$/, '') : undefined;
}

/** Adds the default path of a collector: https://opentelemetry.io/docs/specs/otlp/#otlphttp-request */
export function tracesUrl(input: string): string | undefined {
  const url = serverUrl(input);
  return url !== undefined && new URL(url).pathname === '/' ? `${url}/v1/traces` : url;
}

/** The profile name is used as a file name. */
export function profileName(input: string): string | undefined {
  return /^(?!\.)[\w.-]{1,64}$/.test(input) ? input : undefined;
}

export function share(input: string): number | undefined {
  return /^(0|1|0?\.\d{1,9}|1\.0+|0\.0+)$/.test(input) ? Number(input) : undefined;
}

/** Parses the format of OTEL_EXPORTER_OTLP_HEADERS. */
export function headerPairs(input: string): Readonly<Record<string, string>> | undefined {
  const pairs = input
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

/** Rejects characters that HTTP headers cannot contain, such as line breaks. Exports would fail without a clear error. */
function isHeaderValue(value: string): boolean {
  return /^[\x20-\x7e\xa0-\xff]*$/.test(value);
}

/** Accepts a host name or an IP address. */
export function hostName(input: string): string | undefined {
  return /^[\w.:%-]+$/.test(input) ? input : undefined;
}
