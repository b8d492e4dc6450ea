/**
 * Spans of OpenTelemetry, and which of them goes on where: that is carried along by Node, through every await. What
 * somebody else calls later is to be kept in it.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ROOT_CONTEXT,
  SpanKind as Kind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Link,
  type Span,
  type TextMapGetter,
  type Tracer as SpanMaker,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { Clock } from '../clock.ts';
import { Refusal } from '../refusal.ts';
import type { Facts, OpenSpan, SpanKind, SpanWords, TraceHeaders, Tracer } from '../tracer.ts';

const kinds: Readonly<Record<SpanKind, Kind>> = {
  server: Kind.SERVER,
  internal: Kind.INTERNAL,
  client: Kind.CLIENT,
};

const headerOf: TextMapGetter<TraceHeaders> = {
  get: (headers, name) => headers[name as keyof TraceHeaders],
  keys: (headers) => Object.keys(headers),
};

export class Spans implements Tracer {
  readonly #maker: SpanMaker;
  readonly #clock: Clock;
  readonly #share: number;
  readonly #here = new AsyncLocalStorage<Place>();
  readonly #headers = new W3CTraceContextPropagator();

  /** `share` of the traces that begin here are recorded. */
  constructor(maker: SpanMaker, { clock, share }: { clock: Clock; share: number }) {
    this.#maker = maker;
    this.#clock = clock;
    this.#share = share;
  }

  begin(words: SpanWords, from?: TraceHeaders): OpenSpan | undefined {
    const known = from?.traceparent === undefined ? ROOT_CONTEXT : this.#read(from);
    return this.#isRecorded(known) ? this.#beginIn(known, words, []) : undefined;
  }

  beginAfter(words: SpanWords): () => OpenSpan | undefined {
    const before = this.#current();
    const links = before ? [{ context: before.span.spanContext() }] : [];
    return () => (this.#isRecorded(ROOT_CONTEXT) ? this.#beginIn(ROOT_CONTEXT, words, links) : undefined);
  }

  inSpan<T>(words: SpanWords, work: () => T | Promise<T>, counted?: (result: T) => Facts): T | Promise<T> {
    const outer = this.#current();
    if (!outer) return work();
    const span = outer.open(words);
    try {
      const result = span.run(work);
      if (result instanceof Promise) return span.endWith(result, counted);
      span.end(counted?.(result));
      return result;
    } catch (error) {
      span.fail(error);
      throw error;
    }
  }

  inGroup<T>(key: object, wordsOf: () => SpanWords, work: () => T): T {
    const here = this.#here.getStore();
    if (!(here instanceof RecordedSpan) || here.isOver) return work();
    const group = here.groupOf(key, wordsOf);
    if (group.isIdle) return work();
    return group.do(work, this.#here);
  }

  note(name: string, facts: Facts): void {
    this.#current()?.span.updateName(name).setAttributes(facts);
  }

  apart<T>(work: () => T): T {
    return this.#here.exit(work);
  }

  keep<Given extends unknown[], T>(work: (...given: Given) => T): (...given: Given) => T {
    const here = this.#here.getStore();
    return here ? (...given) => this.#here.run(here, work, ...given) : work;
  }

  #read(headers: TraceHeaders): Context {
    return this.#headers.extract(ROOT_CONTEXT, headers, headerOf);
  }

  /** Before anything is made of it: most requests of a small share are not. */
  #isRecorded(context: Context): boolean {
    const before = trace.getSpanContext(context);
    if (before) return (before.traceFlags & TraceFlags.SAMPLED) !== 0;
    return this.#share === 1 || Math.random() < this.#share;
  }

  #beginIn(context: Context, { name, kind, facts }: SpanWords, links: Link[]): RecordedSpan {
    const offsetMs = this.#clock.now() - performance.now();
    const startTime = offsetMs + performance.now();
    const options = { kind: kinds[kind], attributes: facts, links, startTime };
    const span = this.#maker.startSpan(name, options, context);
    return new RecordedSpan(span, { maker: this.#maker, here: this.#here, offsetMs });
  }

  #current(): RecordedSpan | undefined {
    const here = this.#here.getStore();
    return here instanceof Group ? here.span() : here?.stillOpen();
  }
}

type Place = RecordedSpan | Group;

/** For all spans of a trace the same: else those within a millisecond would not be in order. */
interface Surroundings {
  readonly maker: SpanMaker;
  readonly here: AsyncLocalStorage<Place>;
  readonly offsetMs: number;
}

class RecordedSpan implements OpenSpan {
  readonly span: Span;
  readonly #around: Surroundings;
  readonly #outer: RecordedSpan | undefined;
  readonly #context: Context;
  #groups: Map<object, Group> | undefined;
  isOver = false;

  constructor(span: Span, around: Surroundings, outer?: RecordedSpan) {
    this.span = span;
    this.#around = around;
    this.#outer = outer;
    this.#context = trace.setSpan(ROOT_CONTEXT, span);
  }

  get traceId(): string {
    return this.span.spanContext().traceId;
  }

  get now(): number {
    return this.#around.offsetMs + performance.now();
  }

  /** What goes on after the end of a span belongs to the one around it. */
  stillOpen(): RecordedSpan | undefined {
    return this.isOver ? this.#outer?.stillOpen() : this;
  }

  open({ name, kind, facts }: SpanWords, startTime = this.now): RecordedSpan {
    const options = { kind: kinds[kind], attributes: facts, startTime };
    const span = this.#around.maker.startSpan(name, options, this.#context);
    return new RecordedSpan(span, this.#around, this);
  }

  run<T>(work: () => T): T {
    return this.#around.here.run(this, work);
  }

  groupOf(key: object, wordsOf: () => SpanWords): Group {
    const groups = (this.#groups ??= new Map<object, Group>());
    let group = groups.get(key);
    if (!group) groups.set(key, (group = new Group(this, wordsOf)));
    return group;
  }

  end(facts?: Facts, { name, isFailure = false }: { name?: string; isFailure?: boolean } = {}): void {
    if (this.isOver) return;
    this.#groups?.forEach((group) => group.end());
    if (name !== undefined) this.span.updateName(name);
    if (facts) this.span.setAttributes(facts);
    if (isFailure) this.span.setStatus({ code: SpanStatusCode.ERROR });
    this.endAt(this.now);
  }

  endAt(time: number): void {
    if (this.isOver) return;
    this.isOver = true;
    this.span.end(time);
  }

  async endWith<T>(result: Promise<T>, counted: ((result: T) => Facts) | undefined): Promise<T> {
    try {
      const found = await result;
      this.end(counted?.(found));
      return found;
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /** Never with a message: it may hold what somebody sent. */
  fail(error: unknown): void {
    if (!(error instanceof Refusal)) {
      const type = error instanceof Error ? error.constructor.name : typeof error;
      return this.end({ 'error.type': type }, { isFailure: true });
    }
    const { code } = error;
    this.end({ 'espalier.refusal': code }, { isFailure: code === 'UNAVAILABLE' || code === 'INTERNAL' });
  }
}

/** Becomes a span when there is something inside it. */
class Group {
  readonly #outer: RecordedSpan;
  readonly #wordsOf: () => SpanWords;
  readonly #startedAt: number;
  #lastAt: number;
  #own: RecordedSpan | undefined;
  /** What was done first was nothing that belongs into a span: neither is the rest. */
  isIdle = false;

  constructor(outer: RecordedSpan, wordsOf: () => SpanWords) {
    this.#outer = outer;
    this.#wordsOf = wordsOf;
    this.#startedAt = this.#lastAt = outer.now;
  }

  span(): RecordedSpan | undefined {
    if (!this.#own && this.#outer.isOver) return this.#outer.stillOpen();
    this.#own ??= this.#outer.open(this.#wordsOf(), this.#startedAt);
    return this.#own.stillOpen();
  }

  do<T>(work: () => T, here: AsyncLocalStorage<Place>): T {
    const result = here.run(this, work);
    const look = () => void (this.#lastAt = this.#outer.now);
    if (result instanceof Promise) result.then(look, look);
    else if (this.#own) look();
    else this.isIdle = true;
    return result;
  }

  end(): void {
    this.#own?.endAt(this.#lastAt);
  }
}
