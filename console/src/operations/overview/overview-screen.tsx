/** The overview of the server: health checks, current load, and the activity of the last hour. */

import type { UseQueryResult } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { describeProblem } from '../../graph/problem.ts';
import { useGraph } from '../../graph/use-graph.ts';
import { DataTable, type TableColumn } from '../../ui/data-table.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Link } from '../../router.tsx';
import { QueryResult, Loading } from '../../ui/states.tsx';
import { formatClock, Time } from '../../ui/time.tsx';
import { ActivityChart } from './activity-chart.tsx';
import { allSeries, formatBytes, type ActivityMinute } from './activity-series.ts';
import './overview.css';

const document = /* GraphQL */ `
  query Overview {
    server {
      version
      startedAt
      node
      database {
        kind
        schemaVersion
      }
      gauges {
        folders
        users
        databaseBytes
        freeDiskBytes
        lastBackupAt
      }
      health {
        name
        isOk
        detail
      }
      activity(minutes: 60) {
        minutes {
          at
          requests
          errors
          logins
          failedLogins
          refreshes
        }
        sockets
        subscriptions
        liveSessions
      }
    }
  }
`;

interface Server {
  readonly version: string;
  readonly startedAt: string;
  readonly node: string;
  readonly database: { readonly kind: 'SQLITE' | 'POSTGRESQL'; readonly schemaVersion: number };
  readonly gauges: {
    readonly folders: number;
    readonly users: number;
    readonly databaseBytes: number;
    /** Null with PostgreSQL. */
    readonly freeDiskBytes: number | null;
    /** Null if there is no scheduled backup. */
    readonly lastBackupAt: string | null;
  };
  readonly health: readonly HealthCheck[];
  readonly activity: {
    readonly minutes: readonly ActivityMinute[];
    readonly sockets: number;
    readonly subscriptions: number;
    readonly liveSessions: number;
  };
}

const pollMs = 10_000;
const databases = { SQLITE: 'SQLite, one file', POSTGRESQL: 'PostgreSQL' } as const;

export function OverviewScreen() {
  const answer = useGraph<{ server: Server }>(['server', 'overview'], document, undefined, {
    refetchInterval: pollMs,
    staleTime: 0,
  });
  return (
    <main className="page">
      <header className="page-header">
        <h1>Overview</h1>
      </header>
      <QueryResult query={answer} loading={<Loading lines={8} />}>
        {({ server }) => (
          <>
            <StaleWarning answer={answer} />
            <div className="overview-top">
              <Health checks={server.health} isStale={answer.error !== null} />
              <ServerFacts server={server} />
            </div>
            <StorageGauges gauges={server.gauges} />
            <LoadGauges activity={server.activity} />
            <LastHour server={server} />
          </>
        )}
      </QueryResult>
    </main>
  );
}

/** Warns that the data is old, because the last poll failed. */
function StaleWarning({ answer: { error, dataUpdatedAt } }: { answer: UseQueryResult<unknown> }) {
  if (!error) return null;
  const at = formatClock(new Date(dataUpdatedAt).toISOString());
  return (
    <p className="problem" role="alert">
      {describeProblem(error).text} The displayed data is from {at}.
    </p>
  );
}

function ServerFacts({ server: { version, node, database, startedAt } }: { server: Server }) {
  return (
    <section className="card" aria-label="This server">
      <h2>This server</h2>
      <dl className="facts">
        <dt>Version</dt>
        <dd className="number">{version}</dd>
        <dt>Node</dt>
        <dd>{node}</dd>
        <dt>Database</dt>
        <dd>
          {databases[database.kind]} <span className="soft">(schema {database.schemaVersion})</span>
        </dd>
        <dt>Started</dt>
        <dd>
          <Time at={startedAt} />
        </dd>
      </dl>
    </section>
  );
}

interface Gauge {
  readonly label: string;
  readonly value: ReactNode;
  readonly help: string;
  /** The screen that lists the counted things. */
  readonly to?: string;
}

function StorageGauges({ gauges }: { gauges: Server['gauges'] }) {
  const { folders, users, databaseBytes, freeDiskBytes, lastBackupAt } = gauges;
  return (
    <Gauges
      label="Stored data"
      gauges={[
        {
          label: 'Folders',
          value: folders.toLocaleString('en'),
          help: 'including the trash',
          to: '/folders',
        },
        { label: 'Users', value: users.toLocaleString('en'), help: 'including disabled users', to: '/users' },
        { label: 'Database', value: formatBytes(databaseBytes), help: 'on disk' },
        freeDiskBytes === null
          ? { label: 'Free disk', value: '–', help: 'unknown with PostgreSQL' }
          : { label: 'Free disk', value: formatBytes(freeDiskBytes), help: 'for the database' },
        lastBackupAt === null
          ? { label: 'Last backup', value: 'Never', help: 'by schedule' }
          : { label: 'Last backup', value: <Time at={lastBackupAt} />, help: 'by schedule' },
      ]}
    />
  );
}

function LoadGauges({
  activity: { liveSessions, sockets, subscriptions },
}: {
  activity: Server['activity'];
}) {
  return (
    <Gauges
      label="Current load"
      gauges={[
        {
          label: 'Active sessions',
          value: liveSessions.toLocaleString('en'),
          help: 'on all nodes',
          to: '/sessions',
        },
        { label: 'Sockets', value: sockets.toLocaleString('en'), help: 'open on this node' },
        { label: 'Subscriptions', value: subscriptions.toLocaleString('en'), help: 'open on this node' },
      ]}
    />
  );
}

function Gauges({ label: heading, gauges }: { label: string; gauges: readonly Gauge[] }) {
  return (
    <section aria-label={heading}>
      <h2 className="visually-hidden">{heading}</h2>
      <dl className="overview-numbers">
        {gauges.map(({ label, value, help, to }) => (
          <div key={label} className="card">
            <dt>{to === undefined ? label : <Link to={to}>{label}</Link>}</dt>
            <dd>
              <span className="overview-number number">{value}</span> <span className="soft">{help}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function LastHour({ server: { node, activity } }: { server: Server }) {
  return (
    <section className="overview-hour" aria-label="The last hour">
      <header className="card-header">
        <h2>The last hour</h2>
        <p className="hint">
          <Icon name="clock" /> By minute, for this node ({node}) since its start. Other nodes count
          separately.
        </p>
      </header>
      <div className="overview-charts">
        {allSeries.map((series) => (
          <ActivityChart key={series.key} series={series} minutes={activity.minutes} />
        ))}
      </div>
      <ActivityTable minutes={activity.minutes} />
    </section>
  );
}

interface HealthCheck {
  readonly name: string;
  readonly isOk: boolean;
  readonly detail: string;
}

/** `isStale` means that the last poll failed: the checks must not be shown as passing. */
function Health({ checks, isStale }: { checks: readonly HealthCheck[]; isStale: boolean }) {
  const failedCount = checks.filter(({ isOk }) => !isOk).length;
  const isOk = failedCount === 0 && !isStale;
  // Failed checks come first.
  const sorted = checks.toSorted((one, other) => Number(one.isOk) - Number(other.isOk));
  return (
    <section className={`card overview-health ${isOk ? 'good' : 'bad'}`} aria-label="Health">
      <header className="overview-verdict">
        <Icon name={isOk ? 'check' : 'warning'} />
        <h2>
          <span role="status">
            {isStale ? 'The current health is unknown' : summarizeHealth(failedCount, checks.length)}
          </span>
        </h2>
      </header>
      <ul>
        {sorted.map(({ name, isOk: isFine, detail }) => (
          <li key={name}>
            <CheckResult isFine={isFine} isStale={isStale} />
            <div>
              <h3>{capitalize(name)}</h3>
              <p className="soft">{detail}</p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function CheckResult({ isFine, isStale }: { isFine: boolean; isStale: boolean }) {
  if (isStale) return <span className="label-chip">{isFine ? 'Worked' : 'Failed'}</span>;
  return (
    <span className={`label-chip ${isFine ? 'good' : 'danger'}`}>
      <Icon name={isFine ? 'check' : 'close'} />
      {isFine ? 'Works' : 'Fails'}
    </span>
  );
}

function summarizeHealth(failedCount: number, totalCount: number): string {
  if (failedCount === 0) return 'Everything works';
  return `${failedCount} of ${totalCount} checks ${failedCount === 1 ? 'fails' : 'fail'}`;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function ActivityTable({ minutes }: { minutes: readonly ActivityMinute[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="overview-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show as a table</summary>
      {isOpen && (
        <DataTable
          label="The last hour by minute, the latest first"
          columns={minuteColumns}
          list={{ data: minutes.toReversed() }}
          keyOf={({ at }) => at}
          empty={null}
        />
      )}
    </details>
  );
}

const minuteColumns: readonly TableColumn<ActivityMinute>[] = [
  { id: 'minute', label: 'Minute', isRowHeader: true, render: ({ at }) => formatClock(at) },
  ...allSeries.map(({ key, title }): TableColumn<ActivityMinute> => ({
    id: key,
    label: title,
    className: 'number',
    render: ({ [key]: count }) => (
      <span className={count === 0 ? 'soft' : undefined}>{count.toLocaleString('en')}</span>
    ),
  })),
];
