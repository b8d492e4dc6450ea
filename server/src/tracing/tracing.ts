/**
 * Traces by OpenTelemetry: what is recorded, what it says of this process, and where it goes. Loaded only by a server that is
 * told where that is. Nothing else in the server knows OpenTelemetry, and nothing of it is shared with other programs in the
 * process.
 */

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  TracerProvider,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import type { Clock } from '../clock.ts';
import type { Tracer } from '../tracer.ts';
import { within } from '../within.ts';
import { Collector, type CollectorOptions } from './collector.ts';
import { Spans } from './spans.ts';

export interface TracingOptions extends CollectorOptions {
  /** Of the traces that begin here. */
  readonly share: number;
  readonly clock: Clock;
  readonly version: string;
  /** Of several workers: which this is. */
  readonly worker: number | undefined;
  /** Told at the end of how many spans were recorded and never sent, if there are any. */
  readonly onLost: (spans: number) => void;
}

export interface Tracing {
  readonly tracer: Tracer;
  /** Sends what is left, or drops it if that takes long. */
  close(): Promise<void>;
}

const sendEveryMs = 1_000;
const spansAtOnce = 512;
/** Those that come when so many wait are dropped. */
const mostWaiting = 4_096;
/** Statements are written by us and not much longer. */
const longestFact = 4_096;
const closeWithinMs = 1_000;

export function openTracing({
  share,
  clock,
  version,
  worker,
  onLost,
  ...collecting
}: TracingOptions): Tracing {
  const collector = new Collector(collecting);
  const recorded = new SpanCount();
  const own = resourceFromAttributes({
    'service.name': 'espalier',
    'service.version': version,
    'service.instance.id': randomUUID(),
    'host.name': hostname(),
    'process.pid': process.pid,
    ...(worker !== undefined && { 'espalier.worker': worker }),
  });
  const provider = new TracerProvider({
    resource: defaultResource().merge(own),
    // What is not to be recorded does not come so far.
    sampler: new AlwaysOnSampler(),
    spanLimits: { attributeValueLengthLimit: longestFact },
    spanProcessors: [
      recorded,
      new BatchSpanProcessor({
        exporter: collector,
        scheduledDelayMillis: sendEveryMs,
        maxExportBatchSize: spansAtOnce,
        maxQueueSize: mostWaiting,
      }),
    ],
  });
  return {
    tracer: new Spans(provider.getTracer('espalier', version), { clock, share }),
    async close() {
      // What fails has been told.
      const ended = () => true;
      const isDone = await within(closeWithinMs, provider.shutdown().then(ended, ended), false);
      if (!isDone) collector.giveUp();
      const lost = recorded.count - collector.sent;
      if (lost > 0) onLost(lost);
    },
  };
}

class SpanCount implements SpanProcessor {
  count = 0;

  onStart(): void {
    // It counts when it has ended.
  }

  onEnd(): void {
    this.count++;
  }

  forceFlush(): Promise<void> {
    return Promise.resolve();
  }

  shutdown(): Promise<void> {
    return Promise.resolve();
  }
}
