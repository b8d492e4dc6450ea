/**
 * Sets up the OpenTelemetry SDK: the sampler, the resource that describes this process, and the export to a collector.
 * Registers the context manager and the propagator of the API, which all servers in a process share.
 */

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { context, propagation, type Tracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { ExportResultCode, W3CTraceContextPropagator, type ExportResult } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  NoopSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import { withTimeout } from '../concurrency/timeout.ts';

interface CollectorOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Called when the collector becomes unreachable, with the reason, and when it is back. */
  readonly onChange: (isReached: boolean, reason?: string) => void;
}

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

/** For one batch, with its retries. Further batches wait in the queue. */
const sendWithinMs = 5_000;

/** Sends spans to a collector in the background. Reports when the collector becomes unreachable and when it is back. */
class Collector implements SpanExporter {
  readonly #exporter: OTLPTraceExporter;
  readonly #onChange: CollectorOptions['onChange'];
  #isReached = true;
  #sent = 0;

  constructor({ url, headers, onChange }: CollectorOptions) {
    this.#exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: sendWithinMs });
    this.#onChange = onChange;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#exporter.export(spans, (result) => {
      if (result.code === ExportResultCode.SUCCESS) this.#sent += spans.length;
      this.#report(result.code === ExportResultCode.SUCCESS, result.error);
      done(result);
    });
  }

  /** The number of spans that the collector has accepted. */
  get sent(): number {
    return this.#sent;
  }

  /** Reports that the last spans were not sent before the server stopped. */
  giveUp(): void {
    this.#report(false, new Error('The collector did not respond before the server stopped.'));
  }

  forceFlush(): Promise<void> {
    return this.#exporter.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  #report(isReached: boolean, error?: Error): void {
    if (isReached === this.#isReached) return;
    this.#isReached = isReached;
    this.#onChange(isReached, isReached ? undefined : reasonOf(error));
  }
}

/** Without the body of the response, whose content is unknown. */
function reasonOf(error: (Error & { readonly code?: unknown }) | undefined): string {
  if (typeof error?.code === 'number') return `The collector responded with status ${error.code}.`;
  if (typeof error?.code === 'string') return error.code;
  return error?.message || 'unknown';
}
