/** Sends spans to a collector, and says once if that does not work and once when it does again. Nobody waits for it. */

import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';

export interface CollectorOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Told when it is lost, with a reason, and when it is back. */
  readonly onChange: (isReached: boolean, reason?: string) => void;
}

/** With the tries that a batch has: those after it wait, up to as many as are kept. */
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

  export(spans: ReadableSpan[], tell: (result: ExportResult) => void): void {
    this.#exporter.export(spans, (result) => {
      if (result.code === ExportResultCode.SUCCESS) this.#sent += spans.length;
      this.#note(result.code === ExportResultCode.SUCCESS, result.error);
      tell(result);
    });
  }

  /** How many spans it has taken. */
  get sent(): number {
    return this.#sent;
  }

  /** The end has come, and the last spans are not sent. */
  giveUp(): void {
    this.#note(false, new Error('It did not answer before the end.'));
  }

  forceFlush(): Promise<void> {
    return this.#exporter.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  #note(isReached: boolean, error?: Error): void {
    if (isReached === this.#isReached) return;
    this.#isReached = isReached;
    this.#onChange(isReached, isReached ? undefined : reasonOf(error));
  }
}

/** Not what the collector answered: nobody knows what that holds. */
function reasonOf(error: (Error & { readonly code?: unknown }) | undefined): string {
  if (typeof error?.code === 'number') return `It answered ${error.code}.`;
  if (typeof error?.code === 'string') return error.code;
  return error?.message || 'unknown';
}
