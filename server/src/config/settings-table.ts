/** Defines every setting, by subject. A new subject needs a line in both `settingGroups` and `settingsTable`. */

import {
  basePath,
  databaseUrl,
  headerPairs,
  hostName,
  oneOf,
  onOrOff,
  optionalSetting,
  origins,
  port,
  serverUrl,
  setting,
  share,
  text,
  tracesUrl,
  trueOrFalse,
  trustedProxies,
  wholeNumber,
  type Setting,
} from './setting.ts';
import { signInSettings } from './sign-in-settings.ts';

const pemFile = text('the path of a PEM file', /./s, 'path');

const networkSettings = {
  host: setting('HOST', hostName, '127.0.0.1', {
    about: 'The address to listen on. If it is not a loopback address, use TLS, in the server or in a proxy.',
  }),
  port: setting('PORT', port, '8080', {
    about: 'The port to listen on. With 0, the server selects a free port and prints it.',
  }),
  workers: setting('WORKERS', wholeNumber(1, 64), '1', {
    about:
      'The number of worker processes, which share the port and the database. Use at most the number of free cores. With more than one worker, an additional process starts and stops the workers. Several workers require an operating system with `SO_REUSEPORT`, for example Linux.',
  }),
  basePath: setting('BASE_PATH', basePath, '/', {
    about: 'The path in front of all endpoints, for a proxy that forwards only the requests under one path.',
  }),
  publicUrl: optionalSetting('PUBLIC_URL', serverUrl, {
    about:
      'The URL at which browsers reach the server, including the base path. Single sign-on and passkeys require it, and work only at this URL. The server never derives it from a request, because clients control the header `Host`.',
  }),
  tlsCertFile: optionalSetting('TLS_CERT_FILE', pemFile, {
    about:
      'The file with the certificate chain. If you set it, the server itself uses TLS (https and wss). Requires `ESPALIER_TLS_KEY_FILE`.',
  }),
  tlsKeyFile: optionalSetting('TLS_KEY_FILE', pemFile, {
    about: 'The file with the private key of the certificate.',
  }),
  trustProxy: setting('TRUST_PROXY', trustedProxies, 'false', {
    about:
      'The proxies that may set the client address with `X-Forwarded-For`: `false` trusts no proxy, `true` trusts every proxy, a number trusts that many proxies in a row (hops), and a list trusts the proxies at the listed addresses. The log, the sessions and the login throttle use the client address. The server logs a warning for `true`, and for ranges wider than /24 (IPv4) or /64 (IPv6).',
  }),
  corsOrigins: setting('CORS_ORIGINS', origins, '', {
    about:
      'The origins whose web pages may call the server from a browser and open sockets. * allows all origins. By default, only pages from the server’s own origin may call the server.',
  }),
  console: setting('CONSOLE', onOrOff, 'on', {
    about: 'Whether the server provides the web console at `/console`. With `off`, `/console` returns 404.',
  }),
  stopSeconds: setting('STOP_SECONDS', wholeNumber(1, 3_600, 'seconds'), '10', {
    about: 'The time for requests to finish when the server stops. Requests that take longer are aborted.',
  }),
  stopDelaySeconds: setting('STOP_DELAY_SECONDS', wholeNumber(0, 600, 'seconds'), '0', {
    about:
      'How long a stopping server continues to accept requests while `/readyz` already returns 503. During this time, load balancers switch to other nodes. For example, use 5 if the load balancer checks every two seconds.',
  }),
};

const databaseSettings = {
  databaseUrl: setting('DATABASE_URL', databaseUrl, 'sqlite:./espalier-data/espalier.db', {
    about:
      'The database: an SQLite file or a PostgreSQL database. The server creates the SQLite file and its folder if they do not exist. A PostgreSQL database must already exist, and must be empty before the first start.',
    mayBeFile: true,
    mayHoldPassword: true,
  }),
  databaseConnections: setting('DATABASE_CONNECTIONS', wholeNumber(6, 1_000), '16', {
    about: 'The maximum number of connections to PostgreSQL that each worker process of this node opens.',
  }),
  databasePoolMode: setting('DATABASE_POOL_MODE', oneOf('session', 'transaction'), 'session', {
    about:
      'The pool mode of a connection pooler such as PgBouncer. Without a pooler, keep `session`. With `transaction`, the server uses no prepared statements, and polls every 500 ms for changes by other nodes instead of using LISTEN.',
  }),
  databaseTimeoutSeconds: setting('DATABASE_TIMEOUT_SECONDS', wholeNumber(1, 3_600, 'seconds'), '30', {
    about: 'The maximum duration of one statement on PostgreSQL.',
  }),
  trashDays: setting('TRASH_DAYS', wholeNumber(0, 3650, 'days'), '30', {
    about:
      'The number of days for which you can restore a deleted folder. The server then purges it (deletes it permanently).',
  }),
  journalDays: setting('JOURNAL_DAYS', wholeNumber(1, 36_500, 'days'), '90', {
    about: 'The number of days for which the journal, the log of all changes, keeps its entries.',
  }),
  journalEntries: setting('JOURNAL_ENTRIES', wholeNumber(1_000, 1_000_000_000), '1000000', {
    about: 'The maximum number of entries that the journal keeps. The oldest entries are deleted first.',
  }),
  signInDays: setting('SIGN_IN_DAYS', wholeNumber(1, 3650, 'days'), '90', {
    about:
      'The number of days for which the server keeps the history of sign-ins: who signed in or tried to, when, how, and from which address.',
  }),
};

/** Scheduled backups of the SQLite database file. */
const backupSettings = {
  backupFolder: optionalSetting(
    'BACKUP_FOLDER',
    text('the path of a folder for this installation only', /./s, 'path'),
    {
      about:
        'The folder for scheduled backups of the SQLite database file, preferably on another disk. The server creates the folder if it is missing. Without this setting, the server makes no backups. To back up a PostgreSQL database, use the tools of PostgreSQL.',
    },
  ),
  backupEveryHours: setting('BACKUP_EVERY_HOURS', wholeNumber(1, 8_760, 'hours'), '24', {
    about:
      'The number of hours from one backup to the next. A restart of the server does not change the schedule.',
    onlyWith: 'BACKUP_FOLDER',
  }),
  backupKeep: setting('BACKUP_KEEP', wholeNumber(1, 10_000), '7', {
    about:
      'The number of scheduled backups to keep. The server deletes older backups, but no other files in the folder.',
    onlyWith: 'BACKUP_FOLDER',
  }),
};

const day = 86_400;

/** The upper bound of AUTH_TOKEN_SECONDS. Data that must outlive every auth token is kept for this long. */
export const maxAuthTokenSeconds = day;

const tokenSettings = {
  authTokenSeconds: setting('AUTH_TOKEN_SECONDS', wholeNumber(1, maxAuthTokenSeconds, 'seconds'), '600', {
    about: 'The lifetime of an auth token. Clients receive it as `expires_in`.',
  }),
  refreshTokenSeconds: setting(
    'REFRESH_TOKEN_SECONDS',
    wholeNumber(1, 3650 * day, 'seconds'),
    String(60 * day),
    {
      about: 'The lifetime of a refresh token, from the login or refresh that issued it.',
    },
  ),
  reuseToleranceSeconds: setting('REUSE_TOLERANCE_SECONDS', wholeNumber(0, day, 'seconds'), '60', {
    about:
      'A refresh token can be used once. If a client uses it again within this time after the first use, the server rejects the token but keeps the session. If a client uses it again later, the server also revokes the session.',
  }),
  refreshRetrySeconds: setting('REFRESH_RETRY_SECONDS', wholeNumber(0, 600, 'seconds'), '0', {
    about:
      'If a client repeats a refresh within this time, with the same auth token and refresh token, it receives the same new tokens again. With 0, the server rejects such retries.',
  }),
  maxSessionsPerUser: setting('MAX_SESSIONS_PER_USER', wholeNumber(0, 1_000_000), '0', {
    about:
      'The maximum number of sessions of one user. If a user with this number of sessions logs in again, the server revokes the session that was used least recently. 0 sets no limit.',
  }),
  issuer: optionalSetting('ISSUER', text('a name or URL of at most 255 characters', /^.{1,255}$/s, 'name'), {
    about:
      'The `iss` claim of auth tokens. With an https URL, other services can find the public keys (`/.well-known/oauth-authorization-server`). Without this setting, the server generates a name at its first start and stores it in the database. If you change the setting, all existing auth tokens become invalid.',
  }),
  audience: optionalSetting(
    'AUDIENCE',
    text('a name or URL of at most 255 characters', /^.{1,255}$/s, 'name'),
    {
      about:
        'The `aud` claim of auth tokens, which names the services that accept them. By default, it is the same as the issuer. If you change it, all existing auth tokens become invalid.',
    },
  ),
  keyRotationDays: setting('KEY_ROTATION_DAYS', wholeNumber(0, 3650, 'days'), '90', {
    about:
      'The number of days after which a new signing key replaces the current one. Users stay logged in, because the old key still verifies tokens. 0 turns the automatic rotation off. You can rotate the key at any time with `espalier signing-key rotate`.',
  }),
  masterKey: optionalSetting('MASTER_KEY', text('32 or more random characters', /^.{32,}$/s), {
    about:
      'The key that encrypts the private signing keys, the secrets of authenticator apps and the refresh tokens of the provider, so that a stolen copy of the database is not enough to create tokens or codes. For example, create a key with `openssl rand -base64 32`. Use the same key on every node, and store it separately from the database and its backups.',
    mayBeFile: true,
    isSecret: true,
  }),
  introspectionClient: optionalSetting(
    'INTROSPECTION_CLIENT',
    text('a name, a colon and a password of at least 32 characters', /^[^:]+:.{32,}$/),
    {
      about:
        'The name and password (HTTP Basic) with which another service can check auth tokens at `/introspect`. Without this setting, `/introspect` returns 404.',
      mayBeFile: true,
      isSecret: true,
    },
  ),
  loginThrottle: setting('LOGIN_THROTTLE', onOrOff, 'on', {
    about:
      'Whether the server slows down password guessing: after 50 failed logins for one user name from one address, or 500 failed logins from one address, within 15 minutes. Turn the throttle off only for load tests.',
  }),
  secondFactor: setting('SECOND_FACTOR', oneOf('optional', 'administrators', 'everyone'), 'optional', {
    about:
      'Which users must have a second factor to log in with a password: with `optional`, only users who have set one up. With `administrators` or `everyone`, the other users must set one up at their next login. Sessions that exist already continue.',
  }),
};

const limitSettings = {
  maxQueryCharacters: setting('MAX_QUERY_CHARACTERS', wholeNumber(1_000, 10_000_000), '100000', {
    about: 'The maximum number of characters in the text of a query, without its variables.',
  }),
  maxQueryTokens: setting('MAX_QUERY_TOKENS', wholeNumber(100, 100_000), '5000', {
    about: 'The maximum number of tokens (names, values and punctuation) in a query.',
  }),
  maxFields: setting('MAX_FIELDS', wholeNumber(10, 100_000), '500', {
    about:
      'The maximum number of fields that a query selects. The fields of a fragment count each time the query uses it, and an expensive field counts several times.',
  }),
  maxDepth: setting('MAX_DEPTH', wholeNumber(5, 500), '64', {
    about: 'The maximum number of levels of nested fields in a query.',
  }),
  maxFolders: setting('MAX_FOLDERS', wholeNumber(1, 10_000_000), '20000', {
    about: 'The maximum number of folders in all lists of one response together.',
  }),
  maxValues: setting('MAX_VALUES', wholeNumber(1, 100_000_000), '400000', {
    about:
      'The maximum number of values in all lists of one response together. Each folder counts once for each field that the query selects from it.',
  }),
  maxTextBytes: setting('MAX_TEXT_BYTES', wholeNumber(1, 2 ** 30, 'bytes'), String(32 * 2 ** 20), {
    about:
      'The maximum size of all texts of one response together, in bytes: names, titles, icons, descriptions, properties, paths, cursors, and `before` and `after` in the journal. The same limit applies to all icons, descriptions and properties that the server copies when you duplicate a folder.',
  }),
  maxPageSize: setting('MAX_PAGE_SIZE', wholeNumber(1, 10_000_000), '20000', {
    about: 'The maximum value of `first` and `last`, which set the number of folders in a page.',
  }),
  maxScanned: setting('MAX_SCANNED', wholeNumber(1, 1_000_000_000), '2000000', {
    about: 'The maximum number of folders that the server reads to search, filter or count for one response.',
  }),
  maxExportFolders: setting('MAX_EXPORT_FOLDERS', wholeNumber(1, 10_000_000), '100000', {
    about: 'The maximum number of folders in one export.',
  }),
  maxImportFolders: setting('MAX_IMPORT_FOLDERS', wholeNumber(1, 10_000_000), '100000', {
    about: 'The maximum number of folders that one import or one duplication creates.',
  }),
  maxSubscriptions: setting('MAX_SUBSCRIPTIONS', wholeNumber(1, 10_000), '100', {
    about:
      'The maximum number of subscriptions, queries and mutations that are open on one socket at the same time.',
  }),
  maxConnections: setting('MAX_CONNECTIONS', wholeNumber(1, 100_000), '200', {
    about: 'The maximum number of sockets and event streams that one user has open at the same time.',
  }),
  maxBacklog: setting('MAX_BACKLOG', wholeNumber(100, 1_000_000), '10000', {
    about:
      'The maximum number of journal entries by which a subscription may lag behind. If it lags further behind, the client must read the folders again.',
  }),
};

const metricsSettings = {
  metricsPort: optionalSetting('METRICS_PORT', port, {
    about:
      'A separate port that serves [metrics](metrics.md) in the Prometheus text format at `/metrics`. Without this setting, the server publishes no metrics. With 0, the server selects a free port and prints it.',
  }),
  metricsHost: setting('METRICS_HOST', hostName, '127.0.0.1', {
    about:
      'The address on which the metrics port listens. Metrics need no token: if this is not a loopback address, make sure that only Prometheus can connect.',
    onlyWith: 'METRICS_PORT',
  }),
};

const traceSettings = {
  tracesUrl: optionalSetting('TRACES_URL', tracesUrl, {
    about:
      'The URL to which the server sends traces (OpenTelemetry protocol over HTTP, as JSON). Without this setting, the server creates no traces.',
  }),
  tracesShare: setting('TRACES_SHARE', share, '1', {
    about:
      'The share of requests to trace, from 0 (none) to 1 (all). If a request has a `traceparent` header, the sampled flag in this header decides instead.',
    onlyWith: 'TRACES_URL',
  }),
  tracesHeaders: optionalSetting('TRACES_HEADERS', headerPairs, {
    about: 'HTTP headers to send with the traces, for example for a collector that requires authentication.',
    onlyWith: 'TRACES_URL',
    mayBeFile: true,
    isSecret: true,
  }),
};

const userName = text('a user name of 1 to 128 characters, without control characters', /./s, 'name');
// A short placeholder, because a list of all levels would widen the column of flags in help.
const logLevel = {
  ...oneOf('silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'),
  placeholder: 'level',
};

const startSettings = {
  adminUsername: setting('ADMIN_USERNAME', userName, 'admin', {
    about: 'The user name of the administrator that the server creates at its first start.',
    mayBeFile: true,
  }),
  adminPassword: optionalSetting('ADMIN_PASSWORD', text('a password'), {
    about:
      'The password of the administrator that the server creates at its first start. Without this setting, the server generates a password and prints it once. Later starts ignore the setting: to change the password, use the console or `espalier user password --on-database`.',
    mayBeFile: true,
    isSecret: true,
  }),
  demo: setting('DEMO', trueOrFalse, 'false', {
    about: 'Adds a tree of example folders if there are no folders yet.',
    isSwitch: true,
  }),
  logLevel: setting('LOG_LEVEL', logLevel, 'info', {
    about:
      'The lowest level of messages to log. The server logs to standard error, as text in a terminal and otherwise as JSON lines. With `info`, `debug` and `trace`, it logs one line for each request.',
  }),
};

/** The settings by subject, in the order of the documentation. */
export const settingGroups: Readonly<Record<string, Readonly<Record<string, Setting>>>> = {
  Network: networkSettings,
  Database: databaseSettings,
  Backup: backupSettings,
  'Tokens and logins': tokenSettings,
  'Single sign-on': signInSettings,
  Limits: limitSettings,
  Metrics: metricsSettings,
  Traces: traceSettings,
  'First start and log': startSettings,
};

export const settingsTable = {
  ...networkSettings,
  ...databaseSettings,
  ...backupSettings,
  ...tokenSettings,
  ...signInSettings,
  ...limitSettings,
  ...metricsSettings,
  ...traceSettings,
  ...startSettings,
};

type Table = typeof settingsTable;
type ValueOf<S extends { parse: (text: string) => unknown }> = Exclude<ReturnType<S['parse']>, undefined>;

/** Settings with a default always have a value. */
export type Settings = {
  readonly [K in keyof Table]: Table[K] extends { default: string }
    ? ValueOf<Table[K]>
    : ValueOf<Table[K]> | undefined;
};
