/**
 * What the rest of the server knows of traces: its work is told in spans, one inside the other. Without a tracer nobody
 * tells anything, and nothing is paid for it. Whoever tells facts leaves out what a client sent: values, tokens, texts.
 */

export type Facts = Readonly<Record<string, string | number | boolean>>;

/** Who asked for the work: somebody outside, this process itself, or this process of somebody else. */
export type SpanKind = 'server' | 'internal' | 'client';

export interface SpanWords {
  readonly name: string;
  readonly kind: SpanKind;
  readonly facts: Facts;
}

export interface TraceHeaders {
  readonly traceparent?: string | string[] | undefined;
  readonly tracestate?: string | string[] | undefined;
}

/** One that somebody has begun and will end. */
export interface OpenSpan {
  readonly traceId: string;
  /** What is begun in `work` is inside this span, also what goes on after it. */
  run<T>(work: () => T): T;
  /** The second time does nothing. */
  end(facts?: Facts, options?: { readonly name?: string; readonly isFailure?: boolean }): void;
}

export interface Tracer {
  /**
   * Begins a trace, or goes on with the one that these headers tell of. Undefined if it is not to be recorded: then neither
   * is anything inside it.
   */
  begin(words: SpanWords, from?: TraceHeaders): OpenSpan | undefined;
  /** Begins a trace of something that follows from what goes on now, much later, and many times. */
  beginAfter(words: SpanWords): () => OpenSpan | undefined;
  /** A part of what goes on now. `counted` tells more of its result. What is not recorded is only done. */
  inSpan<T>(words: SpanWords, work: () => T | Promise<T>, counted?: (result: T) => Facts): T | Promise<T>;
  /**
   * The same for many small parts that belong together, by a key of the span that they are in: one span from the first to
   * the last of them. There is none if there is nothing inside it.
   */
  inGroup<T>(key: object, wordsOf: () => SpanWords, work: () => T): T;
  /** Tells more of what goes on now. */
  note(name: string, facts: Facts): void;
  /** What is no part of what goes on now, though it follows from it. */
  apart<T>(work: () => T): T;
  /** For what somebody else will call: inside the span in which it was handed over. */
  keep<Given extends unknown[], T>(work: (...given: Given) => T): (...given: Given) => T;
}
