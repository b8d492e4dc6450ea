/** The definition of a setting, its form for display, and the kinds of values that settings accept. */

import { isIP, isIPv4 } from 'node:net';

/** A kind of value, for example whole numbers in a range. */
export interface Kind<Value> {
  /** A description of valid values, for errors and documentation. */
  readonly accepts: string;
  /** Returns undefined if the text is invalid. */
  readonly parse: (text: string) => Value | undefined;
  /** For the help of commands: the word in `--url <url>`. */
  readonly placeholder?: string;
}

interface Details {
  readonly about: string;
  /** The name of another setting that must also be set, because this one has no effect without it. */
  readonly onlyWith?: string;
  /** `…_FILE` or `--…-file` can name a file with the value. */
  readonly mayBeFile?: boolean;
  /** A secret is never displayed and has no flag, because other users can see flags in the process list. */
  readonly isSecret?: boolean;
  /** The value can contain a password, which is never displayed. */
  readonly mayHoldPassword?: boolean;
  /** The flag takes no value. */
  readonly isSwitch?: boolean;
  /** For the help of commands: one line instead of `about` and `accepts`, because it is on many pages. */
  readonly summary?: string;
  /** For the help of commands: the heading above the flag. */
  readonly heading?: string;
}

export interface Setting<Value = unknown> extends Kind<Value>, Details {
  /** The environment variable without `ESPALIER_`. The flag is derived from it. */
  readonly name: string;
  /** The default as text. Without a default, the setting can be undefined. */
  readonly default?: string;
}

export function setting<Value>(name: string, kind: Kind<Value>, byDefault: string, details: Details) {
  return { name, default: byDefault, ...kind, ...details };
}

export function optionalSetting<Value>(name: string, kind: Kind<Value>, details: Details): Setting<Value> {
  return { name, ...kind, ...details };
}

/** A setting for display. Secrets are left out. */
export interface DisplayedSetting {
  /** The environment variable. */
  readonly name: string;
  readonly subject: string;
  readonly description: string;
  readonly accepts: string;
  /** Null for a secret. Passwords in URLs are removed. */
  readonly value: string | null;
  readonly default: string | null;
  readonly source: 'DEFAULT' | 'ENVIRONMENT' | 'FILE' | 'COMMAND_LINE';
  /** The variable or the flag that set the value. */
  readonly givenBy: string | null;
  readonly isSecret: boolean;
}

/** Formats Markdown for a terminal: quotes commands, and removes other code marks and links. */
export function plainText(markdown: string): string {
  return markdown
    .replaceAll(/`((?:espalier|openssl) [^`]+)`/g, "'$1'")
    .replaceAll('`', '')
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');
}

/** Text that matches the pattern. By default, any text that is not empty. */
export function text(accepts: string, pattern = /./s, placeholder = 'text'): Kind<string> {
  return { accepts, placeholder, parse: (input) => (pattern.test(input) ? input : undefined) };
}

export function wholeNumber(min: number, max: number, placeholder = 'number'): Kind<number> {
  return {
    placeholder,
    accepts: `a whole number from ${min} to ${max}`,
    parse(input) {
      const number = /^\d{1,15}$/.test(input) ? Number(input) : NaN;
      return number >= min && number <= max ? number : undefined;
    },
  };
}

export function oneOf<Choice extends string>(...choices: readonly Choice[]): Kind<Choice> {
  const accepts = `one of ${choices.join(', ')}`;
  return {
    accepts,
    parse: (input) => choices.find((choice) => choice === input.toLowerCase()),
  };
}

export function parseBoolean(input: string): boolean | undefined {
  if (/^(true|yes|on|1)$/i.test(input)) return true;
  return /^(false|no|off|0)$/i.test(input) ? false : undefined;
}

export const onOrOff: Kind<boolean> = { accepts: 'on or off', placeholder: 'on|off', parse: parseBoolean };
export const trueOrFalse: Kind<boolean> = {
  accepts: 'true or false',
  placeholder: 'true|false',
  parse: parseBoolean,
};

export const port = wholeNumber(0, 65_535, 'port');
export const hostName = text('a host name or an IP address', /^[\w.:%-]+$/, 'host');

/**
 * Rejects a PostgreSQL URL with a misplaced delimiter. The delimiter probably belongs to a password that is not
 * percent-encoded. The rest of the password would then be displayed as a host or a database name.
 */
export const databaseUrl = text(
  'sqlite: followed by the path of a file, or postgres://user:password@host:port/database with special characters of the password percent-encoded',
  /^(sqlite:(?!:memory:).+|postgres(ql)?:\/\/(?=.)[^/?#]*(\/[^?#@]*)?(\?\w+=[^#]*)?)$/,
  'url',
);

/** Removes the trailing slash. Rejects `.` and `..`, because clients resolve them. */
export const basePath: Kind<string> = {
  accepts: 'a path such as / or /tree',
  placeholder: 'path',
  parse: (input) =>
    input && /^(\/(?!\.+(\/|$))[\w.~-]+)*\/?$/.test(input) ? input.replace(/\/$/, '') : undefined,
};

export const trustedProxies: Kind<boolean | number | string[]> = {
  placeholder: 'proxies',
  accepts: 'true, false, a number of hops, or a comma-separated list of addresses or CIDR ranges',
  parse(input) {
    const plain = parseBoolean(input);
    if (plain !== undefined && !/^[01]$/.test(input)) return plain;
    if (/^\d{1,2}$/.test(input)) return Number(input) || false;
    const addresses = input.split(',').map((address) => address.trim());
    return addresses.every(isAddressRange) ? addresses : undefined;
  },
};

function isAddressRange(input: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(input)) return true;
  const [address = '', bits, ...more] = input.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** Origins as browsers send them, or `*`. */
export const origins: Kind<readonly string[]> = {
  placeholder: 'origins',
  accepts: 'a comma-separated list of origins such as https://app.example.com, or *',
  parse(input) {
    const list = input
      .split(',')
      .map((origin) => origin.trim())
      .filter(Boolean);
    return list.every((origin) => origin === '*' || isOrigin(origin)) ? list : undefined;
  },
};

function isOrigin(input: string): boolean {
  return !input.includes('*') && URL.canParse(input) && new URL(input).origin === input;
}

/** Removes the trailing slash. Rejects a URL with a password. */
function parseServerUrl(input: string): string | undefined {
  if (!URL.canParse(input)) return undefined;
  const { protocol, origin, pathname, search, hash, username, password } = new URL(input);
  const isPlain = /^https?:$/.test(protocol) && !(search || hash || username || password);
  return isPlain ? origin + pathname.replace(/\/+$/, '') : undefined;
}

export const serverUrl: Kind<string> = {
  accepts: 'an http or https URL, such as https://example.com/espalier',
  placeholder: 'url',
  parse: parseServerUrl,
};

/** Whether the host is this machine, so that no one else can read its connections. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || /^\[?::1\]?$/.test(host) || (isIPv4(host) && host.startsWith('127.'));
}

/** Adds the default path of a collector: https://opentelemetry.io/docs/specs/otlp/#otlphttp-request */
export const tracesUrl: Kind<string> = {
  placeholder: 'url',
  accepts:
    'an http or https URL without a password, such as http://127.0.0.1:4318; if it has no path, /v1/traces is added',
  parse(input) {
    const url = parseServerUrl(input);
    return url !== undefined && new URL(url).pathname === '/' ? `${url}/v1/traces` : url;
  },
};

export const share: Kind<number> = {
  accepts: 'a number from 0 to 1',
  placeholder: 'number',
  parse: (input) => (/^(0|1|0?\.\d{1,9}|1\.0+|0\.0+)$/.test(input) ? Number(input) : undefined),
};

/** The format of OTEL_EXPORTER_OTLP_HEADERS. */
export const headerPairs: Kind<Readonly<Record<string, string>>> = {
  accepts:
    'a comma-separated list of name=value, with special characters of the values percent-encoded, and without characters that HTTP headers cannot contain, such as line breaks',
  parse(input) {
    const pairs = input
      .split(',')
      .map((pair) => /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x21-\x7e]*)\s*$/.exec(pair));
    if (!pairs.every((pair) => pair !== null)) return undefined;
    try {
      const headers = pairs.map(
        ([, name, value]) => [name!.toLowerCase(), decodeURIComponent(value!)] as const,
      );
      // HTTP headers cannot contain line breaks, for example. Otherwise, exports would fail without a clear error.
      const isPossible = headers.every(([, value]) => /^[\x20-\x7e\xa0-\xff]*$/.test(value));
      return isPossible ? Object.fromEntries(headers) : undefined;
    } catch {
      return undefined;
    }
  },
};
