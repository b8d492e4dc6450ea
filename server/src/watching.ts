/** How a server is watched from outside, if somebody wants to: by metrics, by traces. What is not used is not loaded. */

import { endpoints } from '@espalier/contract';
import type { Logger } from 'pino';
import type { Clock } from './clock.ts';
import type { Settings } from './config.ts';
import { listenOrExplain } from './http/address.ts';
import type { MetricsPort } from './metrics/metrics-port.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Tracing } from './tracing/tracing.ts';
import type { ClusterWorker } from './workers/cluster-worker.ts';

export interface WatchedServer {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  readonly worker?: ClusterWorker;
}

/** Nothing is looked at yet. */
export async function loadMetrics({ metricsPort, basePath }: Settings): Promise<Metrics | undefined> {
  if (metricsPort === undefined) return undefined;
  const { Metrics } = await import('./metrics/metrics.ts');
  const { login, refresh } = endpoints;
  return new Metrics({ login: basePath + login.path, refresh: basePath + refresh.path });
}

/** Opens the metrics port. In a worker, the primary has the port and requests the samples. */
export async function showMetrics(
  metrics: Metrics,
  { settings, worker, log }: WatchedServer,
): Promise<MetricsPort | undefined> {
  worker?.onSamplesRequested(() => metrics.samples());
  if (worker) return undefined;
  const { openMetricsPort } = await import('./metrics/metrics-port.ts');
  const place = { host: settings.metricsHost, port: settings.metricsPort! };
  const onError = (err: unknown) => log.warn({ err }, 'metrics could not be read');
  const text = () => metrics.text();
  return listenOrExplain(() => openMetricsPort({ ...place, text, onError }), place, 'METRICS_PORT');
}

export async function openTraces({
  settings,
  clock,
  log,
  version,
  worker,
}: WatchedServer): Promise<Tracing | undefined> {
  const { tracesUrl: url, tracesShare: share, tracesHeaders: headers = {} } = settings;
  if (url === undefined) return undefined;
  const { openTracing } = await import('./tracing/tracing.ts');
  const onChange = (isReached: boolean, reason?: string) =>
    isReached
      ? log.info({ url }, 'traces are sent again')
      : log.warn({ url, reason }, 'traces cannot be sent, and are dropped');
  const onLost = (spans: number) => log.warn({ url, spans }, 'traces were lost: they could not be sent');
  return openTracing({ url, headers, share, clock, version, worker: worker?.number, onChange, onLost });
}
