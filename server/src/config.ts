/**
 * Every setting: its name, default and doc line. `--help` and `docs/configuration.md` are made from this table, and
 * nothing else in the server reads the environment.
 */

import { readFileSync } from 'node:fs';
import { nearestName } from './nearest-name.ts';
import {
  basePath,
  databaseUrl,
  oneOf,
  origins,
  text,
  trustedProxies,
  wholeNumber,
  yesOrNo,
} from './setting-values.ts';
import { withoutPassword } from './shown-url.ts';
import { StartError } from './start-error.ts';

export interface Setting<Value> {
  /** The environment variable without `ESPALIER_`; the flag is made from it. */
  readonly name: string;
  readonly about: string;
  /** What a good value looks like, for the error text and the docs. */
  readonly accepts: string;
  /** As a user would write it; a setting without one is not set unless given. */
  readonly default?: string;
  /** The value may also be in a file, named by `…_FILE` or `--…-file`. */
  readonly mayBeFile?: boolean;
  /** A secret is never shown, and never a flag: others could see it in the process list. */
  readonly isSecret?: boolean;
  /** A switch is a flag without a value. */
  readonly isSwitch?: boolean;
  /** Undefined when the text is not acceptable. */
  readonly parse: (text: string) => Value | undefined;
}

const day = 86_400;
const logLevels = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

export const settingsTable = {
  host: setting({
    name: 'HOST',
    about: 'The address to listen on. Beyond loopback, use TLS or a proxy that does.',
    accepts: 'a host name or an IP address',
    default: '127.0.0.1',
    parse: (given) => (/^[\w.:%-]+$/.test(given) ? given : undefined),
  }),
  port: setting({
    name: 'PORT',
    about: 'The port to listen on; 0 picks a free one and prints it.',
    accepts: 'a whole number from 0 to 65535',
    default: '8080',
    parse: wholeNumber(0, 65_535),
  }),
  basePath: setting({
    name: 'BASE_PATH',
    about:
      'The path under which everything is served, for a proxy that forwards only a part of its addresses.',
    accepts: 'a path such as / or /tree',
    default: '/',
    parse: basePath,
  }),
  databaseUrl: setting({
    name: 'DATABASE_URL',
    about:
      'Where the data is kept: a file, which is created with its folder if missing, or an empty database of a PostgreSQL server.',
    accepts:
      'sqlite: followed by the path of a file, or postgres://user:password@host:port/database with special characters of the password percent-encoded',
    default: 'sqlite:./espalier-data/espalier.db',
    mayBeFile: true,
    parse: databaseUrl,
  }),
  databaseConnections: setting({
    name: 'DATABASE_CONNECTIONS',
    about: 'How many connections to PostgreSQL this node opens, at most.',
    accepts: 'a whole number from 6 to 1000',
    default: '16',
    parse: wholeNumber(6, 1_000),
  }),
  databasePoolMode: setting({
    name: 'DATABASE_POOL_MODE',
    about:
      'Transaction if a proxy in between pools transactions, as PgBouncer does: then no statements are prepared, and other nodes’ changes are looked for every 500 ms instead of listened to.',
    accepts: 'session or transaction',
    default: 'session',
    parse: oneOf(['session', 'transaction'] as const),
  }),
  databaseTimeoutSeconds: setting({
    name: 'DATABASE_TIMEOUT_SECONDS',
    about: 'How long PostgreSQL may work on one statement.',
    accepts: 'a whole number from 1 to 3600',
    default: '30',
    parse: wholeNumber(1, 3_600),
  }),
  accessTokenSeconds: setting({
    name: 'ACCESS_TOKEN_SECONDS',
    about: 'How long an auth token lives; reported to clients as `expires_in`.',
    accepts: `a whole number from 1 to ${day}`,
    default: '600',
    parse: wholeNumber(1, day),
  }),
  refreshTokenSeconds: setting({
    name: 'REFRESH_TOKEN_SECONDS',
    about: 'How long a refresh token lives, from the login or refresh that issued it.',
    accepts: `a whole number from 1 to ${3650 * day}`,
    default: String(60 * day),
    parse: wholeNumber(1, 3650 * day),
  }),
  reuseToleranceSeconds: setting({
    name: 'REUSE_TOLERANCE_SECONDS',
    about:
      'A spent refresh token that comes back within this time is taken for a lost reply or a second tab; later it is taken for theft and ends its session.',
    accepts: `a whole number from 0 to ${day}`,
    default: '60',
    parse: wholeNumber(0, day),
  }),
  refreshRetrySeconds: setting({
    name: 'REFRESH_RETRY_SECONDS',
    about:
      'Within this time the identical pair of tokens gets the identical new pair again, for clients on bad networks; 0 turns it off.',
    accepts: 'a whole number from 0 to 600',
    default: '0',
    parse: wholeNumber(0, 600),
  }),
  loginThrottle: setting({
    name: 'LOGIN_THROTTLE',
    about:
      'Slows down whoever guesses passwords: after 50 failures for one user name or 500 in all, from one address within 15 minutes. Turn it off for load tests only.',
    accepts: 'on or off',
    default: 'on',
    parse: yesOrNo,
  }),
  keyRotationDays: setting({
    name: 'KEY_ROTATION_DAYS',
    about:
      'After how many days a new signing key takes over; 0 leaves it to `espalier keys rotate`. Nobody notices: the old key goes on verifying.',
    accepts: 'a whole number from 0 to 3650',
    default: '90',
    parse: wholeNumber(0, 3650),
  }),
  masterKey: setting({
    name: 'MASTER_KEY',
    about:
      'Seals the private signing keys in the database: without it nobody who has a copy of the database can make tokens. The same on every node; keep it elsewhere than the database and its backups.',
    accepts: 'a random text of at least 32 characters, such as openssl rand -base64 32 makes',
    mayBeFile: true,
    isSecret: true,
    parse: (given) => (given.length >= 32 ? given : undefined),
  }),
  introspectionClient: setting({
    name: 'INTROSPECTION_CLIENT',
    about:
      'Lets another service ask at `/introspect` whether an auth token is good, with this name and password (HTTP Basic). Without it there is no such address.',
    accepts: 'a name, a colon and a password of at least 32 characters',
    mayBeFile: true,
    isSecret: true,
    parse: (given) => (/^[^:]+:.{32,}$/.test(given) ? given : undefined),
  }),
  issuer: setting({
    name: 'ISSUER',
    about:
      'The `iss` of auth tokens. Without it, a name is made at the first start and stored in the database. Changing it makes every issued auth token invalid.',
    accepts: 'a name or URL of at most 255 characters',
    parse: (given) => (given && given.length <= 255 ? given : undefined),
  }),
  maxQueryCharacters: setting({
    name: 'MAX_QUERY_CHARACTERS',
    about: 'How many characters the text of a query may have; variables do not count.',
    accepts: 'a whole number from 1000 to 10000000',
    default: '100000',
    parse: wholeNumber(1_000, 10_000_000),
  }),
  maxTokens: setting({
    name: 'MAX_TOKENS',
    about: 'How many tokens (names, values and signs) a query may have.',
    accepts: 'a whole number from 100 to 100000',
    default: '5000',
    parse: wholeNumber(100, 100_000),
  }),
  maxFields: setting({
    name: 'MAX_FIELDS',
    about: 'How many fields a query may select, counted with fragments expanded and costly fields weighted.',
    accepts: 'a whole number from 10 to 100000',
    default: '500',
    parse: wholeNumber(10, 100_000),
  }),
  maxDepth: setting({
    name: 'MAX_DEPTH',
    about: 'How many levels deep the fields of a query may be nested.',
    accepts: 'a whole number from 5 to 500',
    default: '64',
    parse: wholeNumber(5, 500),
  }),
  maxFolders: setting({
    name: 'MAX_FOLDERS',
    about: 'How many folders the lists of one answer may hold together.',
    accepts: 'a whole number from 1 to 10000000',
    default: '20000',
    parse: wholeNumber(1, 10_000_000),
  }),
  maxValues: setting({
    name: 'MAX_VALUES',
    about:
      'How many values the lists of one answer may hold together: each folder as many as fields are selected of it.',
    accepts: 'a whole number from 1 to 100000000',
    default: '400000',
    parse: wholeNumber(1, 100_000_000),
  }),
  maxTextBytes: setting({
    name: 'MAX_TEXT_BYTES',
    about: 'How many bytes of long texts (descriptions, properties, paths) one answer may hold.',
    accepts: 'a whole number from 1 to 1073741824',
    default: String(32 * 2 ** 20),
    parse: wholeNumber(1, 2 ** 30),
  }),
  maxPageSize: setting({
    name: 'MAX_PAGE_SIZE',
    about: 'How many folders a query may ask for in one page, with `first` or `last`.',
    accepts: 'a whole number from 1 to 10000000',
    default: '20000',
    parse: wholeNumber(1, 10_000_000),
  }),
  maxScanned: setting({
    name: 'MAX_SCANNED',
    about: 'How many folders may be looked at for one answer, to search, filter or count them.',
    accepts: 'a whole number from 1 to 1000000000',
    default: '2000000',
    parse: wholeNumber(1, 1_000_000_000),
  }),
  maxExportFolders: setting({
    name: 'MAX_EXPORT_FOLDERS',
    about: 'How many folders one export may hold.',
    accepts: 'a whole number from 1 to 10000000',
    default: '100000',
    parse: wholeNumber(1, 10_000_000),
  }),
  maxImportFolders: setting({
    name: 'MAX_IMPORT_FOLDERS',
    about: 'How many folders one import may create.',
    accepts: 'a whole number from 1 to 10000000',
    default: '100000',
    parse: wholeNumber(1, 10_000_000),
  }),
  maxSubscriptions: setting({
    name: 'MAX_SUBSCRIPTIONS',
    about: 'How many operations may be open on one socket at a time: subscriptions, queries and mutations.',
    accepts: 'a whole number from 1 to 10000',
    default: '100',
    parse: wholeNumber(1, 10_000),
  }),
  maxConnections: setting({
    name: 'MAX_CONNECTIONS',
    about: 'How many sockets and event streams one user may have open at a time.',
    accepts: 'a whole number from 1 to 100000',
    default: '200',
    parse: wholeNumber(1, 100_000),
  }),
  maxBacklog: setting({
    name: 'MAX_BACKLOG',
    about:
      'How many journal entries a client that follows the changes may be behind; beyond that it is told to read anew.',
    accepts: 'a whole number from 100 to 1000000',
    default: '10000',
    parse: wholeNumber(100, 1_000_000),
  }),
  journalDays: setting({
    name: 'JOURNAL_DAYS',
    about: 'How many days the journal keeps its entries.',
    accepts: 'a whole number from 1 to 36500',
    default: '90',
    parse: wholeNumber(1, 36_500),
  }),
  journalEntries: setting({
    name: 'JOURNAL_ENTRIES',
    about: 'How many entries the journal keeps, the latest.',
    accepts: 'a whole number from 1000 to 1000000000',
    default: '1000000',
    parse: wholeNumber(1_000, 1_000_000_000),
  }),
  trashDays: setting({
    name: 'TRASH_DAYS',
    about: 'How many days a deleted folder can be restored before it is purged.',
    accepts: 'a whole number from 0 to 3650',
    default: '30',
    parse: wholeNumber(0, 3650),
  }),
  adminUsername: setting({
    name: 'ADMIN_USERNAME',
    about: 'The administrator that the first start creates.',
    accepts: 'a user name of 1 to 128 characters, without control characters',
    default: 'admin',
    mayBeFile: true,
    parse: text,
  }),
  adminPassword: setting({
    name: 'ADMIN_PASSWORD',
    about:
      'The password of that administrator. Without it, one is generated and shown once. Ignored after the first start.',
    accepts: 'a password',
    mayBeFile: true,
    isSecret: true,
    parse: text,
  }),
  demo: setting({
    name: 'DEMO',
    about: 'Adds a demonstration tree if there are no folders yet.',
    accepts: 'true or false',
    default: 'false',
    isSwitch: true,
    parse: yesOrNo,
  }),
  tlsCertFile: setting({
    name: 'TLS_CERT_FILE',
    about: 'A PEM file with the certificate chain, to serve https and wss directly. Needs the key too.',
    accepts: 'the path of a PEM file',
    parse: text,
  }),
  tlsKeyFile: setting({
    name: 'TLS_KEY_FILE',
    about: 'A PEM file with the private key of that certificate.',
    accepts: 'the path of a PEM file',
    parse: text,
  }),
  trustProxy: setting({
    name: 'TRUST_PROXY',
    about:
      'Which proxies in front may tell the client address (for the log, the sessions and the login throttle) by X-Forwarded-For: none (false), any (true), so many hops, or these addresses.',
    accepts: 'true, false, a number of hops, or a comma-separated list of addresses or CIDR ranges',
    default: 'false',
    parse: trustedProxies,
  }),
  corsOrigins: setting({
    name: 'CORS_ORIGINS',
    about:
      'Web pages of these origins may call the service from a browser, and open sockets; * means any. None by default, but those of the service’s own address.',
    accepts: 'a comma-separated list of origins such as https://app.example.com, or *',
    default: '',
    parse: origins,
  }),
  stopSeconds: setting({
    name: 'STOP_SECONDS',
    about:
      'How long requests in flight may take to finish when the server is told to stop; what is not done by then is cut.',
    accepts: 'a whole number from 1 to 3600',
    default: '10',
    parse: wholeNumber(1, 3_600),
  }),
  stopDelaySeconds: setting({
    name: 'STOP_DELAY_SECONDS',
    about:
      'How long the port stays open before that, with `/readyz` at 503, so that load balancers turn to other nodes first. Behind one that asks every two seconds: 5.',
    accepts: 'a whole number from 0 to 600',
    default: '0',
    parse: wholeNumber(0, 600),
  }),
  logLevel: setting({
    name: 'LOG_LEVEL',
    about: 'How much is logged, as JSON lines on standard error.',
    accepts: `one of ${logLevels.join(', ')}`,
    default: 'info',
    parse: oneOf(logLevels),
  }),
};

function setting<Value, Given extends Setting<Value>>(given: Given & Setting<Value>): Given {
  return given;
}

type Table = typeof settingsTable;
type ValueOf<S extends { parse: (text: string) => unknown }> = Exclude<ReturnType<S['parse']>, undefined>;

/** Settings with a default always have a value. */
export type Settings = {
  readonly [K in keyof Table]: Table[K] extends { default: string }
    ? ValueOf<Table[K]>
    : ValueOf<Table[K]> | undefined;
};

/** What opening the database takes of the settings. */
export function databaseOptionsOf(given: Settings): {
  connections: number;
  poolMode: 'session' | 'transaction';
  timeoutSeconds: number;
} {
  return {
    connections: given.databaseConnections,
    poolMode: given.databasePoolMode,
    timeoutSeconds: given.databaseTimeoutSeconds,
  };
}

const environmentPrefix = 'ESPALIER_';
export const environmentName = ({ name }: { name: string }) => environmentPrefix + name;
export const flagName = ({ name }: { name: string }) => name.toLowerCase().replaceAll('_', '-');

const table: Readonly<Record<string, Setting<unknown>>> = settingsTable;
const settings = Object.values(table);

/** The flags that give a setting: its value, the file of its value, or both. */
export function flagsOf(each: Setting<unknown>): string[] {
  const flag = flagName(each);
  return [...(each.isSecret ? [] : [flag]), ...(each.mayBeFile ? [`${flag}-file`] : [])];
}

export interface Sources {
  environment: Readonly<Record<string, string | undefined>>;
  /** Flags by name, without the dashes. */
  flags?: Readonly<Record<string, string>>;
}

/** Reads every setting; a flag beats the environment. Throws a StartError that names the first bad one. */
export function readSettings({ environment, flags = {} }: Sources): {
  settings: Settings;
  warnings: string[];
} {
  const values = Object.fromEntries(
    Object.entries(table).map(([key, each]) => [key, readSetting(each, environment, flags)]),
  ) as unknown as Settings;
  if (!values.tlsCertFile !== !values.tlsKeyFile) {
    throw new StartError(
      'ESPALIER_TLS_CERT_FILE and ESPALIER_TLS_KEY_FILE go together: set both for https, or neither.',
    );
  }
  return { settings: Object.freeze(values), warnings: unknownNames(environment) };
}

/** The process's own environment and the given flags. */
export function settingsOfProcess(flags: Readonly<Record<string, string>>) {
  return readSettings({ environment: process.env, flags });
}

function readSetting(each: Setting<unknown>, environment: Sources['environment'], flags: Sources['flags']) {
  const given = givenText(each, environment, flags ?? {});
  if (!given) return each.default === undefined ? undefined : each.parse(each.default);
  const value = each.parse(given.text);
  if (value === undefined) {
    const holds = each.isSecret
      ? 'holds a value that'
      : `is ${JSON.stringify(withoutPassword(given.text))}, which`;
    throw new StartError(`${given.source} ${holds} is not usable: it takes ${each.accepts}.`);
  }
  return value;
}

function givenText(
  each: Setting<unknown>,
  environment: Sources['environment'],
  flags: Readonly<Record<string, string>>,
): { source: string; text: string } | undefined {
  const variable = environmentName(each);
  const flag = flagName(each);
  requireOne([`--${flag}`, flags[flag]], [`--${flag}-file`, flags[`${flag}-file`]]);
  requireOne([variable, environment[variable]], [`${variable}_FILE`, environment[`${variable}_FILE`]]);
  if (!each.isSecret && flags[flag] !== undefined) return { source: `--${flag}`, text: flags[flag] };
  if (each.mayBeFile) {
    const byFlag = flags[`${flag}-file`];
    const byVariable = environment[`${variable}_FILE`];
    if (byFlag !== undefined) return fileText(`--${flag}-file`, byFlag);
    if (byVariable) return fileText(`${variable}_FILE`, byVariable);
  }
  const text = environment[variable];
  // An empty variable counts as not set, as shells and compose files produce them.
  return text && !isServiceLink(variable, text) ? { source: variable, text } : undefined;
}

/** Whoever gives both may mean either. */
function requireOne(...given: [name: string, value: string | undefined][]): void {
  if (!given.every(([, value]) => value)) return;
  throw new StartError(`${given.map(([name]) => name).join(' and ')} are both given: take one of them.`);
}

function fileText(source: string, path: string): { source: string; text: string } {
  try {
    return { source, text: readFileSync(path, 'utf8').replace(/\r?\n$/, '') };
  } catch (cause) {
    throw new StartError(
      `${source} names the file ${path}, which cannot be read: ${(cause as Error).message}.`,
      {
        cause,
      },
    );
  }
}

/**
 * Kubernetes gives every pod variables for each service; those of a service named "espalier" look like ours
 * (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
 */
function isServiceLink(name: string, value: string): boolean {
  return (
    /^ESPALIER_(\w+_)?SERVICE_(HOST|PORT)(_\w+)?$/.test(name) ||
    /^ESPALIER_(\w+_)?PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
    (/^ESPALIER_(\w+_)?PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value))
  );
}

function unknownNames(environment: Sources['environment']): string[] {
  const known = settings.flatMap(({ name, mayBeFile }) => (mayBeFile ? [name, `${name}_FILE`] : [name]));
  return Object.keys(environment)
    .filter((name) => name.startsWith(environmentPrefix) && !isServiceLink(name, environment[name] ?? ''))
    .map((name) => name.slice(environmentPrefix.length))
    .filter((name) => !known.includes(name))
    .map((name) => {
      const meant = nearestName(name, known);
      const hint = meant ? ` Did you mean ${environmentPrefix}${meant}?` : '';
      return `${environmentPrefix}${name} is not a setting of Espalier and is ignored.${hint}`;
    });
}
