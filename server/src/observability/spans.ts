/**
 * Starts and ends spans of the OpenTelemetry API with the times of the server's clock. The API's context manager carries
 * the active span through every `await`. No attribute contains a value that a client sent. Loaded only if traces are sent.
 */

import {
  context,
  createContextKey,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanOptions,
  type Tracer,
} from '@opentelemetry/api';
import type { Clock } from '../clock.ts';
import { Refusal } from '../refusal.ts';

/** The services that start a trace. */
export interface Tracing {
  readonly tracer: Tracer;
  readonly clock: Clock;
}

const activeKey = createContextKey('espalier active span');

/** Starts a trace, or continues the trace of `parent`. Undefined if the sampler does not select the trace. */
export function startTrace(
  { tracer, clock }: Tracing,
  name: string,
  options: SpanOptions,
  parent: Context = ROOT_CONTEXT,
): TracedSpan | undefined {
  const startTime = clock.now();
  const offsetMs = startTime - performance.now();
  const span = tracer.startSpan(name, { ...options, startTime }, parent);
  return span.isRecording() ? new TracedSpan(span, { tracer, offsetMs }) : undefined;
}

/** Runs the work in a child of the active span. Without an active span, only runs the work. */
export function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: () => T | Promise<T>,
  attributesOf?: (result: T) => Attributes,
): T | Promise<T> {
  const parent = activeSpan();
  return parent ? parent.startChild(name, options).complete(work, attributesOf) : work();
}

/**
 * Runs one of several calls that share a child of the active span, for example a resolver that is called for each folder
 * of a page. The shared span lasts from the first call to the last. It is created only if another span starts inside it.
 */
export function inSharedSpan<T>(key: object, describe: () => SpanDescription, work: () => T): T {
  const active = context.active().getValue(activeKey);
  if (!(active instanceof TracedSpan) || !active.span.isRecording()) return work();
  return active.sharedSpan(key, describe).run(work);
}

export interface SpanDescription {
  readonly name: string;
  readonly options: SpanOptions;
}

/**
 * Binds queued work to the active context. Otherwise, the work could run in the trace of the work before it in the queue.
 * Unlike `context.bind`, the function enters the context only if another one is active when it is called.
 */
export function bindActive<Argument, T>(work: (argument: Argument) => T): (argument: Argument) => T {
  const bound = context.active();
  return (argument) =>
    context.active() === bound ? work(argument) : context.with(bound, work, undefined, argument);
}

function activeSpan(): TracedSpan | undefined {
  const active = context.active().getValue(activeKey) as TracedSpan | SharedSpan | undefined;
  return active instanceof SharedSpan ? active.start() : active?.recording();
}

/** Shared by all spans of a trace. Otherwise, spans within one millisecond would not be in order. */
interface TraceState {
  readonly tracer: Tracer;
  /** The difference between the server's clock and `performance.now()` when the trace started. */
  readonly offsetMs: number;
}

/** A recorded span with the context in which its children are started. */
export class TracedSpan {
  readonly span: Span;
  readonly context: Context;
  readonly #trace: TraceState;
  readonly #parent: TracedSpan | undefined;
  #sharedSpans: Map<object, SharedSpan> | undefined;

  constructor(span: Span, state: TraceState, parent?: TracedSpan) {
    this.span = span;
    this.context = trace.setSpan(ROOT_CONTEXT, span).setValue(activeKey, this);
    this.#trace = state;
    this.#parent = parent;
  }

  now(): number {
    return this.#trace.offsetMs + performance.now();
  }

  /** This span or, after its end, the closest ancestor that has not ended. */
  recording(): TracedSpan | undefined {
    return this.span.isRecording() ? this : this.#parent?.recording();
  }

  startChild(name: string, options: SpanOptions, startTime = this.now()): TracedSpan {
    const span = this.#trace.tracer.startSpan(name, { ...options, startTime }, this.context);
    return new TracedSpan(span, this.#trace, this);
  }

  sharedSpan(key: object, describe: () => SpanDescription): SharedSpan {
    const spans = (this.#sharedSpans ??= new Map<object, SharedSpan>());
    let shared = spans.get(key);
    if (!shared) spans.set(key, (shared = new SharedSpan(this, describe)));
    return shared;
  }

  /** Runs the work in this span and ends the span with it. */
  complete<T>(work: () => T | Promise<T>, attributesOf?: (result: T) => Attributes): T | Promise<T> {
    const succeed = (result: T) => {
      if (attributesOf) this.span.setAttributes(attributesOf(result));
      this.end();
      return result;
    };
    const fail = (error: unknown): never => {
      this.#setError(error);
      this.end();
      throw error;
    };
    let result;
    try {
      result = context.with(this.context, work);
    } catch (error) {
      return fail(error);
    }
    return result instanceof Promise ? result.then(succeed, fail) : succeed(result);
  }

  /** A second call has no effect. */
  end(time = this.now()): void {
    if (!this.span.isRecording()) return;
    this.#sharedSpans?.forEach((shared) => shared.end());
    this.span.end(time);
  }

  /** Leaves out the message of the error, because it may contain a value that a client sent. */
  #setError(error: unknown): void {
    if (error instanceof Refusal) this.span.setAttribute('espalier.refusal', error.code);
    else this.span.setAttribute('error.type', error instanceof Error ? error.constructor.name : typeof error);
    const isExpected = error instanceof Refusal && error.code !== 'UNAVAILABLE' && error.code !== 'INTERNAL';
    if (!isExpected) this.span.setStatus({ code: SpanStatusCode.ERROR });
  }
}

/** A span that starts only when the first span inside it starts. */
class SharedSpan {
  readonly #parent: TracedSpan;
  readonly #describe: () => SpanDescription;
  readonly #context: Context;
  readonly #startTime: number;
  #endTime: number;
  #span: TracedSpan | undefined;
  /** True if the first call started no span and returned no promise. Later calls then run without a context of their own. */
  #isIdle = false;

  constructor(parent: TracedSpan, describe: () => SpanDescription) {
    this.#parent = parent;
    this.#describe = describe;
    this.#context = parent.context.setValue(activeKey, this);
    this.#startTime = this.#endTime = parent.now();
  }

  start(): TracedSpan | undefined {
    if (!this.#span && this.#parent.span.isRecording()) {
      const { name, options } = this.#describe();
      this.#span = this.#parent.startChild(name, options, this.#startTime);
    }
    return (this.#span ?? this.#parent).recording();
  }

  run<T>(work: () => T): T {
    if (this.#isIdle) return work();
    const result = context.with(this.#context, work);
    const setEndTime = () => void (this.#endTime = this.#parent.now());
    if (result instanceof Promise) result.then(setEndTime, setEndTime);
    else if (this.#span) setEndTime();
    else this.#isIdle = true;
    return result;
  }

  end(): void {
    this.#span?.end(this.#endTime);
  }
}
