/**
 * Sets up the OpenTelemetry SDK: the sampler, the resource that describes this process, and the export to a collector.
 * Registers the context manager and the propagator of the API, which all servers in a process share.
 */

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { context, propagation, type Tracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  NoopSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { withTimeout } from '../concurrency/timeout.ts';
import { Collector, type CollectorOptions } from './trace-collector.ts';

export interface TracingOptions extends CollectorOptions {
  /** The share of traces to record, from 0 to 1, among those that start in this server. */
  readonly share: number;
  readonly version: string;
  /** The number of this worker; undefined if the server is a single process. */
  readonly worker: number | undefined;
  /** Called by `close` with the number of recorded spans that were not sent, unless that is 0. */
  readonly onLost: (spans: number) => void;
}

export interface OpenTracing {
  readonly tracer: Tracer;
  /** Sends the remaining spans, or drops them after a timeout. */
  readonly close: () => Promise<void>;
}

const exportEveryMs = 1_000;
const maxSpansPerExport = 512;
/** Further spans are dropped. */
const maxQueuedSpans = 4_096;
/** The longest attribute is the text of a statement. */
const maxAttributeLength = 4_096;
const closeWithinMs = 1_000;

export function openTracing({
  share,
  version,
  worker,
  onLost,
  ...collectorOptions
}: TracingOptions): OpenTracing {
  // If a manager or a propagator is registered already, these calls have no effect and the registered one is used.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const collector = new Collector(collectorOptions);
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
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) }),
    spanLimits: { attributeValueLengthLimit: maxAttributeLength },
    spanProcessors: [
      recorded,
      new BatchSpanProcessor({
        exporter: collector,
        scheduledDelayMillis: exportEveryMs,
        maxExportBatchSize: maxSpansPerExport,
        maxQueueSize: maxQueuedSpans,
      }),
    ],
  });
  return {
    tracer: provider.getTracer('espalier', version),
    async close() {
      // The collector has reported a failure already.
      const ended = () => true;
      const isDone = await withTimeout(closeWithinMs, provider.shutdown().then(ended, ended), false);
      if (!isDone) collector.giveUp();
      const lost = recorded.count - collector.sent;
      if (lost > 0) onLost(lost);
    },
  };
}

class SpanCount extends NoopSpanProcessor {
  count = 0;

  override onEnd(): void {
    this.count++;
  }
}
