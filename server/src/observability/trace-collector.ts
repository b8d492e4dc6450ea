/** Sends spans to a collector in the background. Reports when the collector becomes unreachable and when it is back. */

import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';

export interface CollectorOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Called when the collector becomes unreachable, with the reason, and when it is back. */
  readonly onChange: (isReached: boolean, reason?: string) => void;
}

/** For one batch, with its retries. Further batches wait in the queue. */
const sendWithinMs = 5_000;

export class Collector implements SpanExporter {
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
