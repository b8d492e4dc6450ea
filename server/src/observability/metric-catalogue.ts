/** All metrics of this server, without the default metrics of Node. `docs/metrics.md` is generated from it. */

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

/** From a response of the embedded database to a time that no client waits for. */
const seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export const catalogue = {
  build: {
    name: 'espalier_build_info',
    type: 'gauge',
    help: 'Always 1.',
    labels: { version: 'of Espalier', database: '`sqlite` or `postgresql`' },
    aggregation: 'first',
  },
  workers: { name: 'espalier_workers', type: 'gauge', help: 'Processes that serve requests.' },
  ready: {
    name: 'espalier_ready',
    type: 'gauge',
    help: '1 if the database answers, is not known to be damaged or outdated and, embedded, its file is in its place, else 0. With several workers: whether it is so for all of them.',
    aggregation: 'min',
  },
  checks: {
    name: 'espalier_check_ok',
    type: 'gauge',
    help: '1 if the node has what the check is about, else 0: those of /readyz?verbose (docs/probes.md). Not there while that is not known.',
    labels: {
      check:
        '`database`, `migrations`, `writes`, `signing key`, `bus`, `disk`, and `backup` if some are scheduled',
    },
    aggregation: 'min',
  },
  diskFree: {
    name: 'espalier_database_disk_free_bytes',
    type: 'gauge',
    help: 'Free on the disk of an embedded database; not there with one elsewhere.',
    aggregation: 'min',
  },
  requests: {
    name: 'espalier_http_request_duration_seconds',
    type: 'histogram',
    help: 'Requests that were answered, and how long it took; but for event streams.',
    labels: {
      method: 'of the request; `none` if there was none that could be read',
      route: 'its address, without what varies in it; `none` if there is nothing there',
      status: 'of the answer; 499 if the client left before it, 101 for a WebSocket',
    },
    bounds: seconds,
  },
  errors: {
    name: 'espalier_errors_total',
    type: 'counter',
    help: 'Requests that failed because of a bug: answers of 500 and above, but for 503.',
  },
  logins: {
    name: 'espalier_logins_total',
    type: 'counter',
    help: 'Attempts to log in.',
    labels: {
      outcome:
        '`ok`, `refused` (a wrong name or password), `throttled` (too many of them), `failed` (anything else)',
    },
  },
  refreshes: {
    name: 'espalier_refreshes_total',
    type: 'counter',
    help: 'Attempts to exchange a refresh token.',
    labels: { outcome: '`ok`, `refused`, `failed`' },
  },
  replays: {
    name: 'espalier_refresh_token_replays_total',
    type: 'counter',
    help: 'Refresh tokens that came a second time.',
    labels: { outcome: '`tolerated` (a moment after the first), `ended` (its session was, as of a theft)' },
  },
  hashing: {
    name: 'espalier_password_hashes',
    type: 'gauge',
    help: 'Passwords that are being hashed, or wait for it.',
    labels: { state: '`running` or `waiting`' },
  },
  queryCosts: {
    name: 'espalier_query_price',
    type: 'histogram',
    help: 'What operations cost by their text: fields, weighted, with fragments expanded (docs/price.md).',
    bounds: [1, 2, 5, 10, 20, 50, 100, 200, 500],
  },
  documents: {
    name: 'espalier_documents_total',
    type: 'counter',
    help: 'Texts of operations that were looked up.',
    labels: { result: '`hit` if it was parsed and checked before, else `miss`' },
  },
  queries: {
    name: 'espalier_queries_total',
    type: 'counter',
    help: 'Queries, by the engine that ran them.',
    labels: { engine: '`plan` for a query plan, or `graphql-js` for everything that no plan covers' },
  },
  planFailures: {
    name: 'espalier_query_plan_failures_total',
    type: 'counter',
    help: 'Query plans that failed unexpectedly. graphql-js then ran the query, and the log has the error.',
  },
  database: {
    name: 'espalier_database_duration_seconds',
    type: 'histogram',
    help: 'What the database took.',
    labels: { kind: '`statement`, or `commit` with its sync' },
    bounds: [0.00001, 0.000025, 0.00005, 0.0001, 0.00025, ...seconds],
  },
  writeFailures: {
    name: 'espalier_write_failures_total',
    type: 'counter',
    help: 'Attempts to write to the database that failed because of the database or its disk.',
    labels: {
      reason:
        '`disk_full`, `file_size_limit`, `quota`, `read_only`, `permission`, `io_error`, `cannot_open`, `locked` or `resources`',
    },
  },
  connections: {
    name: 'espalier_database_connections',
    type: 'gauge',
    help: 'Connections to the database.',
    labels: { state: '`open`, of which `busy`' },
  },
  databaseWaiting: {
    name: 'espalier_database_waiting',
    type: 'gauge',
    help: 'Those who wait for a connection or, with SQLite, for their turn to write.',
  },
  journalHead: {
    name: 'espalier_journal_head',
    type: 'gauge',
    help: 'The number of the last entry in the journal.',
    aggregation: 'max',
  },
  journalLag: {
    name: 'espalier_journal_lag_entries',
    type: 'gauge',
    help: 'Entries in the journal that this node has not seen yet. With several workers: of the last of them.',
    aggregation: 'max',
  },
  lastBackup: {
    name: 'espalier_backup_last_success_timestamp_seconds',
    type: 'gauge',
    help: 'When the newest scheduled backup was begun; not there if there is none.',
    aggregation: 'max',
  },
  backupFailures: {
    name: 'espalier_backup_failures_total',
    type: 'counter',
    help: 'Scheduled backups that could not be made.',
  },
  sockets: {
    name: 'espalier_sockets',
    type: 'gauge',
    help: 'WebSockets and event streams that are open.',
  },
  subscriptions: { name: 'espalier_subscriptions', type: 'gauge', help: 'Subscriptions that are open.' },
  responses: {
    name: 'espalier_subscription_responses_total',
    type: 'counter',
    help: 'Responses of subscriptions: computed, or shared with a subscription that had computed the same.',
    labels: { source: '`computed` or `shared`' },
  },
} as const satisfies Readonly<Record<string, MetricDescription>>;

export type MetricKey = keyof typeof catalogue;
