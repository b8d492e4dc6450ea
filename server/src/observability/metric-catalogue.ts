/** All metrics of this server, without the default metrics of Node. `docs/reference/metrics.md` is generated from it. */

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

/** From a response of the embedded database to a time that no client waits for. */
const seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export const catalogue = {
  build: gauge('espalier_build_info', {
    help: 'Always 1.',
    labels: { version: 'the version of Espalier', database: '`sqlite` or `postgresql`' },
    aggregation: 'first',
  }),
  workers: gauge('espalier_workers', { help: 'Processes that serve requests.' }),
  ready: gauge('espalier_ready', {
    help: '1 if the database responds, is not known to be damaged or outdated, and its file (if embedded) is in its place; otherwise 0.',
    aggregation: 'min',
  }),
  checks: gauge('espalier_check_ok', {
    help: 'Results of the checks of /readyz?verbose (espalier docs probes): 1 if the check passes, 0 if it fails. Missing while the result is unknown.',
    labels: {
      check:
        '`database`, `migrations`, `writes`, `signing key`, `bus`, `disk`, and `backup` if backups are scheduled',
    },
    aggregation: 'min',
  }),
  diskFree: gauge('espalier_database_disk_free_bytes', {
    help: 'Free space on the disk of an embedded database. Missing with PostgreSQL.',
    aggregation: 'min',
  }),
  databaseSize: gauge('espalier_database_size_bytes', {
    help: 'Size of the database.',
    aggregation: 'max',
  }),
  folders: gauge('espalier_folders', {
    help: 'Stored folders, including deleted folders that are not purged.',
    aggregation: 'max',
  }),
  users: gauge('espalier_users', { help: 'Users, including disabled users.', aggregation: 'max' }),
  requests: histogram('espalier_http_request_duration_seconds', {
    help: 'Duration of completed requests, except event streams.',
    labels: {
      method: 'of the request; `none` if the request could not be parsed',
      route: 'the pattern of the address; `none` for an unknown address',
      status: 'of the response; 499 if the client left before it, 101 for a WebSocket',
    },
    bounds: seconds,
  }),
  errors: counter('espalier_errors_total', {
    help: 'Requests that failed because of a bug: responses with status 500 and above, except 503.',
  }),
  logins: counter('espalier_logins_total', {
    help: 'Login attempts.',
    labels: {
      outcome:
        '`ok`, `refused` (wrong name or password), `throttled` (too many attempts), `failed` (any other error)',
    },
  }),
  refreshes: counter('espalier_refreshes_total', {
    help: 'Attempts to exchange a refresh token.',
    labels: { outcome: '`ok`, `refused`, `failed`' },
  }),
  replays: counter('espalier_refresh_token_replays_total', {
    help: 'Refresh tokens that were used again.',
    labels: {
      outcome:
        '`tolerated` (shortly after the first use), `ended` (later; the session is revoked, because the token may be stolen)',
    },
  }),
  hashing: gauge('espalier_password_hashes', {
    help: 'Passwords that are being hashed or wait to be hashed.',
    labels: { state: '`running` or `waiting`' },
  }),
  queryCosts: histogram('espalier_query_cost', {
    help: 'Query cost of operations, computed from their text: the weighted fields, with fragments expanded (espalier docs limits).',
    bounds: [1, 2, 5, 10, 20, 50, 100, 200, 500],
  }),
  documents: counter('espalier_documents_total', {
    help: 'Lookups of the document of an operation in the cache.',
    labels: { result: '`hit` if the document was parsed and validated before, otherwise `miss`' },
  }),
  queries: counter('espalier_queries_total', {
    help: 'Queries, by the engine that ran them.',
    labels: { engine: '`plan` for a query plan, or `graphql-js` for everything that no plan covers' },
  }),
  planFailures: counter('espalier_query_plan_failures_total', {
    help: 'Query plans that failed unexpectedly. graphql-js then ran the query, and the log has the error.',
  }),
  database: histogram('espalier_database_duration_seconds', {
    help: 'Duration of statements and commits.',
    labels: { kind: '`statement`, or `commit`, which includes writing to the disk' },
    bounds: [0.00001, 0.000025, 0.00005, 0.0001, 0.00025, ...seconds],
  }),
  writeFailures: counter('espalier_write_failures_total', {
    help: 'Writes that failed because of the database or its disk.',
    labels: {
      reason:
        '`disk_full`, `file_size_limit`, `quota`, `read_only`, `permission`, `io_error`, `cannot_open`, `locked` or `resources`',
    },
  }),
  connections: gauge('espalier_database_connections', {
    help: 'Connections to the database.',
    labels: { state: '`open` (all connections) or `busy` (those in use)' },
  }),
  databaseWaiting: gauge('espalier_database_waiting', {
    help: 'Operations that wait for a connection or, with SQLite, for the write lock.',
  }),
  journalHead: gauge('espalier_journal_head', {
    help: 'The number of the last entry in the journal.',
    aggregation: 'max',
  }),
  journalLag: gauge('espalier_journal_lag_entries', {
    help: 'Entries in the journal that this node has not read yet.',
    aggregation: 'max',
  }),
  lastBackup: gauge('espalier_backup_last_success_timestamp_seconds', {
    help: 'Time at which the newest scheduled backup started. Missing if there is none.',
    aggregation: 'max',
  }),
  backupFailures: counter('espalier_backup_failures_total', {
    help: 'Scheduled backups that failed.',
  }),
  sockets: gauge('espalier_sockets', {
    help: 'Open WebSockets and event streams.',
  }),
  subscriptions: gauge('espalier_subscriptions', { help: 'Open subscriptions.' }),
  responses: counter('espalier_subscription_responses_total', {
    help: 'Responses of subscriptions.',
    labels: { source: '`computed`, or `shared` with another subscription that computed the same response' },
  }),
};

export type MetricKey = keyof typeof catalogue;
