/** The overview of the server: health checks, current load, and the activity of the last hour. */

import type { UseQueryResult } from '@tanstack/react-query';
import { describeProblem } from '../../graph/problem.ts';
import { useGraph } from '../../graph/use-graph.ts';
import { Icon } from '../../ui/icons.tsx';
import { Link } from '../../router.tsx';
import { QueryResult, Loading } from '../../ui/states.tsx';
import { formatClock, Time } from '../../ui/time.tsx';
import { ActivityChart } from './activity-chart.tsx';
import { allSeries, type ActivityMinute } from './activity-series.ts';
import { ActivityTable } from './activity-table.tsx';
import { Health, type HealthCheck } from './health.tsx';
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
  readonly health: readonly HealthCheck[];
  readonly activity: {
    readonly minutes: readonly ActivityMinute[];
    readonly sockets: number;
    readonly subscriptions: number;
    readonly liveSessions: number;
  };
}

const readEveryMs = 10_000;
const databases = { SQLITE: 'SQLite, one file', POSTGRESQL: 'PostgreSQL' } as const;

export function OverviewScreen() {
  const answer = useGraph<{ server: Server }>(['server', 'overview'], document, undefined, {
    refetchInterval: readEveryMs,
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
            <Stale answer={answer} />
            <div className="overview-top">
              <Health checks={server.health} isStale={answer.error !== null} />
              <Facts server={server} />
            </div>
            <Now activity={server.activity} />
            <LastHour server={server} />
          </>
        )}
      </QueryResult>
    </main>
  );
}

/** Warns that the data is old, because the last poll failed. */
function Stale({ answer: { error, dataUpdatedAt } }: { answer: UseQueryResult<unknown> }) {
  if (!error) return null;
  const at = formatClock(new Date(dataUpdatedAt).toISOString());
  return (
    <p className="problem" role="alert">
      {describeProblem(error).text} The displayed data is from {at}.
    </p>
  );
}

function Facts({ server: { version, node, database, startedAt } }: { server: Server }) {
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

function Now({ activity: { liveSessions, sockets, subscriptions } }: { activity: Server['activity'] }) {
  const numbers = [
    { label: <Link to="/sessions">Live sessions</Link>, count: liveSessions, help: 'on all nodes' },
    { label: 'Sockets', count: sockets, help: 'open on this node' },
    { label: 'Subscriptions', count: subscriptions, help: 'open on this node' },
  ];
  return (
    <section aria-label="Now">
      <h2 className="visually-hidden">Now</h2>
      <dl className="overview-numbers">
        {numbers.map(({ label, count, help }, index) => (
          <div key={index} className="card">
            <dt>{label}</dt>
            <dd>
              <span className="overview-number number">{count.toLocaleString('en')}</span>{' '}
              <span className="soft">{help}</span>
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
