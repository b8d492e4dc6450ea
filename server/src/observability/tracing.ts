/**
 * Sets up the OpenTelemetry SDK: the sampler, the resource that describes this process, and the export to a collector.
 * Registers the context manager and the propagator of the API, which all servers in a process share.
 */

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { context, propagation } from '@opentelemetry/api';
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
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { withTimeout } from '../concurrency/timeout.ts';
import type { Settings } from '../config/settings-table.ts';

interface TracingOptions {
  readonly settings: Pick<Settings, 'tracesShare' | 'tracesHeaders'>;
  readonly version: string;
  /** Undefined if the server is a single process. */
  readonly worker?: { readonly number: number };
  readonly log: Logger;
}

const exportEveryMs = 1_000;
const maxSpansPerExport = 512;
/** Further spans are dropped. */
const maxQueuedSpans = 4_096;
/** The longest attribute is the text of a statement. */
const maxAttributeLength = 4_096;
const closeTimeoutMs = 1_000;

export function openTracing(url: string, { settings, version, worker, log }: TracingOptions) {
  // If a manager or a propagator is registered already, these calls have no effect and the registered one is used.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const { tracesShare: share, tracesHeaders: headers } = settings;
  const collector = new Collector(url, headers, log);
  const spanCount = new SpanCount();
  const processResource = resourceFromAttributes({
    'service.name': 'espalier',
    'service.version': version,
    'service.instance.id': randomUUID(),
    'host.name': hostname(),
    'process.pid': process.pid,
    ...(worker && { 'espalier.worker': worker.number }),
  });
  const provider = new TracerProvider({
    resource: defaultResource().merge(processResource),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) }),
    spanLimits: { attributeValueLengthLimit: maxAttributeLength },
    spanProcessors: [
      spanCount,
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
    /** Sends the remaining spans, or drops them after a timeout. */
    close: async (): Promise<void> => {
      // `Collector` has already reported a failure.
      const toTrue = () => true;
      const isDone = await withTimeout(closeTimeoutMs, provider.shutdown().then(toTrue, toTrue), false);
      if (!isDone) collector.reportTimeout();
      const spans = spanCount.count - collector.sent;
      if (spans > 0)
        log.warn({ url, spans }, 'Some traces were lost, because the collector did not accept them.');
    },
  };
}

class SpanCount extends NoopSpanProcessor {
  count = 0;

  override onEnd(): void {
    this.count++;
  }
}

/** The timeout of one batch, including retries. Further batches wait in the queue. */
const sendTimeoutMs = 5_000;

/** Sends spans to a collector in the background. Logs when the collector becomes unreachable and when it is reachable again. */
class Collector extends OTLPTraceExporter {
  readonly #url: string;
  readonly #log: Logger;
  #isReached = true;
  /** The number of spans that the collector has accepted. */
  sent = 0;

  constructor(url: string, headers: Readonly<Record<string, string>> = {}, log: Logger) {
    super({ url, headers: { ...headers }, timeoutMillis: sendTimeoutMs });
    this.#url = url;
    this.#log = log;
  }

  override export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    super.export(spans, (result) => {
      const isReached = result.code === ExportResultCode.SUCCESS;
      if (isReached) this.sent += spans.length;
      this.#report(isReached, result.error);
      done(result);
    });
  }

  /** Reports that the last spans were not sent before the server stopped. */
  reportTimeout(): void {
    this.#report(false, new Error('The collector did not respond before the server stopped.'));
  }

  #report(isReached: boolean, error?: Error): void {
    if (isReached === this.#isReached) return;
    this.#isReached = isReached;
    const url = this.#url;
    if (isReached) this.#log.info({ url }, 'traces are sent again');
    else
      this.#log.warn(
        { url, reason: reasonOf(error) },
        'Traces cannot be sent and are dropped. Check the collector and ESPALIER_TRACES_URL.',
      );
  }
}

/** Leaves out the body of the response, because its content is unknown. */
function reasonOf(error: (Error & { readonly code?: unknown }) | undefined): string {
  if (typeof error?.code === 'number') return `The collector responded with status ${error.code}.`;
  if (typeof error?.code === 'string') return error.code;
  return error?.message || 'unknown';
}
