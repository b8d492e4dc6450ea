/** All metrics of this server, except the default metrics of Node. `docs/reference/metrics.md` is generated from it. */

export interface MetricDescription {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** The meaning and the values of each label. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The upper bounds of the buckets of a histogram. */
  readonly bounds?: readonly number[];
  /** How the values of several workers are merged; the sum by default. */
  readonly aggregation?: 'first' | 'min' | 'max';
}

function describe(type: MetricDescription['type']) {
  return (name: string, details: Omit<MetricDescription, 'name' | 'type'>): MetricDescription => ({
    name,
    type,
    ...details,
  });
}

const [counter, gauge, histogram] = [describe('counter'), describe('gauge'), describe('histogram')];

/** From the response time of an SQLite database up to a time that is too long for any client. */
const seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export const catalog = {
  build: gauge('espalier_build_info', {
    help: 'Always 1. The labels contain the version and the kind of database.',
    labels: { version: 'the version of Espalier', database: '`sqlite` or `postgresql`' },
    aggregation: 'first',
  }),
  workers: gauge('espalier_workers', { help: 'Number of processes that serve requests.' }),
  ready: gauge('espalier_ready', {
    help: '1 if the database responds, is not known to be damaged or outdated, and its file (SQLite) has not been moved or deleted; otherwise 0.',
    aggregation: 'min',
  }),
  checks: gauge('espalier_check_ok', {
    help: "1 if the check of /readyz?verbose passes, 0 if it fails. Missing while the result is unknown. See 'espalier docs probes'.",
    labels: {
      check:
        '`database`, `migrations`, `writes`, `signing key`, `notifications`, `disk`, and `backup` if backups are scheduled',
    },
    aggregation: 'min',
  }),
  diskFree: gauge('espalier_database_disk_free_bytes', {
    help: 'Free space on the disk of the database file. Missing with PostgreSQL.',
    aggregation: 'min',
  }),
  databaseSize: gauge('espalier_database_size_bytes', {
    help: 'Size of the database.',
    aggregation: 'max',
  }),
  folders: gauge('espalier_folders', {
    help: 'Number of folders, including folders in the trash.',
    aggregation: 'max',
  }),
  users: gauge('espalier_users', { help: 'Number of users, including disabled users.', aggregation: 'max' }),
  requests: histogram('espalier_http_request_duration_seconds', {
    help: 'Duration of HTTP requests until the response was sent. Event streams are not included.',
    labels: {
      method: 'the HTTP method; `none` if the request could not be parsed',
      route: 'the pattern of the path; `none` for an unknown path',
      status: 'the status of the response; 499 if the client left before the response, 101 for a WebSocket',
    },
    bounds: seconds,
  }),
  errors: counter('espalier_errors_total', {
    help: 'Number of requests that failed because of a bug: responses with a status of 500 or higher, except 503.',
  }),
  logins: counter('espalier_logins_total', {
    help: 'Number of login attempts.',
    labels: {
      outcome:
        '`ok`, `refused` (wrong name or password), `throttled` (too many failed attempts) or `failed` (any other error)',
    },
  }),
  refreshes: counter('espalier_refreshes_total', {
    help: 'Number of attempts to use a refresh token.',
    labels: { outcome: '`ok`, `refused` (not valid) or `failed` (any other error)' },
  }),
  replays: counter('espalier_refresh_token_replays_total', {
    help: 'Number of refresh tokens that were used a second time.',
    labels: {
      outcome:
        '`tolerated` (shortly after the first use, for example by two browser tabs) or `ended` (later; the server revoked the session, because the token may be stolen)',
    },
  }),
  hashing: gauge('espalier_password_hashes', {
    help: 'Number of passwords in the hashing queue.',
    labels: { state: '`running` (being hashed) or `waiting`' },
  }),
  queryCosts: histogram('espalier_query_cost', {
    help: "Query cost of each operation: its number of fields, with weights and expanded fragments. See 'espalier docs limits'.",
    bounds: [1, 2, 5, 10, 20, 50, 100, 200, 500],
  }),
  documents: counter('espalier_documents_total', {
    help: 'Number of lookups in the cache of parsed queries.',
    labels: { result: '`hit` if the query was parsed and validated before, otherwise `miss`' },
  }),
  queries: counter('espalier_queries_total', {
    help: 'Number of queries by the engine that ran them.',
    labels: { engine: '`plan` (a query plan) or `graphql-js` (queries that plans do not support)' },
  }),
  planFailures: counter('espalier_query_plan_failures_total', {
    help: 'Number of query plans that failed because of a bug. graphql-js then ran the query, and the log has the error.',
  }),
  database: histogram('espalier_database_duration_seconds', {
    help: 'Duration of database statements and commits.',
    labels: { kind: '`statement` or `commit` (includes writing to the disk)' },
    bounds: [0.00001, 0.000025, 0.00005, 0.0001, 0.00025, ...seconds],
  }),
  writeFailures: counter('espalier_write_failures_total', {
    help: 'Number of writes that failed because of the database or its disk.',
    labels: {
      reason:
        '`disk_full`, `file_size_limit`, `quota`, `read_only`, `permission`, `io_error`, `cannot_open`, `locked` or `resources`',
    },
  }),
  connections: gauge('espalier_database_connections', {
    help: 'Number of connections to the database.',
    labels: { state: '`open` (all connections) or `busy` (connections in use)' },
  }),
  databaseWaiting: gauge('espalier_database_waiting', {
    help: 'Number of operations that wait for a connection or, with SQLite, for the write lock.',
  }),
  journalHead: gauge('espalier_journal_head', {
    help: 'Number of the newest journal entry.',
    aggregation: 'max',
  }),
  journalLag: gauge('espalier_journal_lag_entries', {
    help: 'Number of journal entries that this node has not read yet.',
    aggregation: 'max',
  }),
  lastBackup: gauge('espalier_backup_last_success_timestamp_seconds', {
    help: 'Start time of the newest complete scheduled backup, in seconds since 1970. Missing if there is none.',
    aggregation: 'max',
  }),
  backupFailures: counter('espalier_backup_failures_total', {
    help: 'Number of scheduled backups that failed.',
  }),
  sockets: gauge('espalier_sockets', {
    help: 'Number of open WebSockets and event streams.',
  }),
  subscriptions: gauge('espalier_subscriptions', { help: 'Number of open subscriptions.' }),
  responses: counter('espalier_subscription_responses_total', {
    help: 'Number of responses to subscriptions.',
    labels: { source: '`computed`, or `shared` (another subscription had computed the same response)' },
  }),
};

export type MetricKey = keyof typeof catalog;
