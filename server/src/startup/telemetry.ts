/** Opens the metrics and the traces of a server. Their modules are loaded only if a setting enables them. */

import { endpoints } from '@espalier/contract';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Settings } from '../config/config.ts';
import type { traceDatabase } from '../observability/traced-database.ts';
import type { GraphTracing } from '../graph/traced-graph.ts';
import { listenOrExplain } from '../http/listen.ts';
import type { RequestTracing } from '../http/traced-requests.ts';
import type { MetricsPort } from '../observability/metrics-port.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ClusterWorker } from './cluster-worker.ts';

interface TelemetryOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  readonly worker?: ClusterWorker;
}

/** Creates the metrics. They have no sources yet. */
export async function loadMetrics({ metricsPort, basePath }: Settings): Promise<Metrics | undefined> {
  if (metricsPort === undefined) return undefined;
  const { Metrics } = await import('../observability/metrics.ts');
  const { login, refresh } = endpoints;
  return new Metrics({ login: basePath + login.path, refresh: basePath + refresh.path });
}

/** Opens the metrics port. In a worker, the primary has the port and requests the samples. */
export async function openMetrics(
  metrics: Metrics,
  { settings, worker, log }: TelemetryOptions,
): Promise<MetricsPort | undefined> {
  worker?.onSamplesRequested(() => metrics.samples());
  if (worker) return undefined;
  const { openMetricsPort } = await import('../observability/metrics-port.ts');
  const address = { host: settings.metricsHost, port: settings.metricsPort! };
  const onError = (err: unknown) => log.warn({ err }, 'metrics could not be read');
  const text = () => metrics.text();
  return listenOrExplain(() => openMetricsPort({ ...address, text, onError }), address, 'METRICS_PORT');
}

/** The traced form of each part of the server. */
export interface ServerTracing {
  readonly traceDatabase: typeof traceDatabase;
  readonly graph: GraphTracing;
  readonly requests: RequestTracing;
  /** Sends the remaining spans, or drops them after a timeout. */
  close(): Promise<void>;
}

/** The OpenTelemetry packages, and all modules that import them, are loaded here and only if traces are sent. */
export async function openTraces({
  settings,
  clock,
  log,
  version,
  worker,
}: TelemetryOptions): Promise<ServerTracing | undefined> {
  const { tracesUrl: url, tracesShare: share, tracesHeaders: headers = {} } = settings;
  if (url === undefined) return undefined;
  const { openTracing } = await import('../observability/tracing.ts');
  const { traceDatabase } = await import('../observability/traced-database.ts');
  const { createGraphTracing } = await import('../graph/traced-graph.ts');
  const { createRequestTracing } = await import('../http/traced-requests.ts');
  const onChange = (isReached: boolean, reason?: string) =>
    isReached
      ? log.info({ url }, 'traces are sent again')
      : log.warn({ url, reason }, 'traces cannot be sent, and are dropped');
  const onLost = (spans: number) => log.warn({ url, spans }, 'traces were lost: they could not be sent');
  const { tracer, close } = openTracing({
    url,
    headers,
    share,
    version,
    worker: worker?.number,
    onChange,
    onLost,
  });
  const start = { tracer, clock };
  return {
    traceDatabase,
    graph: createGraphTracing(start),
    requests: createRequestTracing(start),
    close,
  };
}
