/** Opens the metrics and the traces of a server. Their modules are loaded only if a setting enables them. */

import { endpoints } from '@espalier/contract';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Settings } from '../config/settings-table.ts';
import { listenOrExplain } from '../http/listen.ts';
import type { Metrics, MetricsPort, Samples } from '../observability/metrics.ts';

interface TelemetryOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  readonly worker?: {
    readonly number: number;
    readonly onSamplesRequested: (read: () => Promise<Samples>) => void;
  };
}

/** Creates the metrics, without sources. */
export async function loadMetrics({ metricsPort, basePath }: Settings): Promise<Metrics | undefined> {
  if (metricsPort === undefined) return undefined;
  const { Metrics } = await import('../observability/metrics.ts');
  const { login, refresh } = endpoints;
  return new Metrics({ login: basePath + login.path, refresh: basePath + refresh.path });
}

/** Opens the metrics port. In a cluster, the primary opens the port instead, and requests the samples of each worker. */
export function openMetrics(metrics: Metrics, options: TelemetryOptions): Promise<MetricsPort> | undefined {
  options.worker?.onSamplesRequested(() => metrics.samples());
  return options.worker ? undefined : openScrapePort(() => metrics.text(), options);
}

/** Opens the port at which Prometheus reads the text. */
export async function openScrapePort(
  text: () => Promise<string>,
  { settings, log }: Pick<TelemetryOptions, 'settings' | 'log'>,
): Promise<MetricsPort> {
  const { openMetricsPort } = await import('../observability/metrics.ts');
  const address = { host: settings.metricsHost, port: settings.metricsPort! };
  const onError = (err: unknown) =>
    log.warn({ err }, 'The metrics cannot be collected. Prometheus received status 500.');
  return listenOrExplain(() => openMetricsPort({ ...address, text, onError }), address, 'METRICS_PORT');
}

/** The functions that add traces to the parts of the server. */
export type ServerTracing = NonNullable<Awaited<ReturnType<typeof openTraces>>>;

/** The OpenTelemetry packages, and all modules that import them, are loaded here and only if traces are sent. */
export async function openTraces(options: TelemetryOptions) {
  const { tracesUrl: url } = options.settings;
  if (url === undefined) return undefined;
  const { openTracing } = await import('../observability/tracing.ts');
  const { traceDatabase } = await import('../observability/traced-database.ts');
  const { createGraphTracing } = await import('../graph/traced-graph.ts');
  const { createRequestTracing } = await import('../http/traced-requests.ts');
  const { tracer, close } = openTracing(url, options);
  const start = { tracer, clock: options.clock };
  return { traceDatabase, graph: createGraphTracing(start), requests: createRequestTracing(start), close };
}
