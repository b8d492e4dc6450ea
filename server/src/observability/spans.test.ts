import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { context, ROOT_CONTEXT, SpanStatusCode } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AlwaysOffSampler,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { Refusal } from '../refusal.ts';
import { bindActive, inSharedSpan, inSpan, startTrace } from './spans.ts';

const exporter = new InMemorySpanExporter();
const spanProcessors = [new SimpleSpanProcessor({ exporter })];
const startedAt = Date.UTC(2030, 0, 1);
const clock = { now: () => startedAt };
const recordedTracing = { clock, tracer: new TracerProvider({ spanProcessors }).getTracer('test') };
const droppedTracing = {
  clock,
  tracer: new TracerProvider({ spanProcessors, sampler: new AlwaysOffSampler() }).getTracer('test'),
};

before(() => context.setGlobalContextManager(new AsyncLocalStorageContextManager()));
beforeEach(() => exporter.reset());

async function inTrace(work: () => unknown): Promise<void> {
  const root = startTrace(recordedTracing, 'root', {})!;
  await context.with(root.context, work);
  root.end();
}

/** Returns the name of each ended span with the name of its parent, in the order in which they ended. */
function endedSpans(): [string, string | undefined][] {
  const spans = exporter.getFinishedSpans();
  return spans.map(({ name, parentSpanContext }) => [
    name,
    spans.find((span) => span.spanContext().spanId === parentSpanContext?.spanId)?.name,
  ]);
}

const field = () => ({ name: 'field', options: {} });
const statement = () => void inSpan('statement', {}, () => undefined);

test('takes the times of spans from the clock of the server', async () => {
  await inTrace(() => inSpan('child', {}, () => Promise.resolve()));
  for (const { startTime, endTime } of exporter.getFinishedSpans()) {
    assert.equal(startTime[0], startedAt / 1000);
    assert.equal(endTime[0], startedAt / 1000);
  }
});

test('starts no span outside a trace or in a trace that the sampler drops', () => {
  assert.equal(startTrace(droppedTracing, 'root', {}), undefined);
  assert.equal(
    inSpan('child', {}, () => 7),
    7,
  );
  assert.deepEqual(endedSpans(), []);
});

test('records the type of an error or the code of a refusal, but no message', async () => {
  await inTrace(() => {
    const fail = (error: Error) => () => {
      throw error;
    };
    assert.throws(() => inSpan('bug', {}, fail(new TypeError('secret'))), TypeError);
    assert.throws(() => inSpan('refusal', {}, fail(new Refusal('FORBIDDEN', 'secret'))), Refusal);
  });
  const [bug, refusal] = exporter.getFinishedSpans();
  assert.deepEqual(bug!.attributes, { 'error.type': 'TypeError' });
  assert.deepEqual(bug!.status, { code: SpanStatusCode.ERROR });
  assert.deepEqual(bug!.events, []);
  assert.deepEqual(refusal!.attributes, { 'espalier.refusal': 'FORBIDDEN' });
  assert.deepEqual(refusal!.status, { code: SpanStatusCode.UNSET });
});

test('starts one shared span for several calls', async () => {
  const key = {};
  await inTrace(() => {
    inSharedSpan(key, field, statement);
    inSharedSpan(key, field, statement);
  });
  assert.deepEqual(endedSpans(), [
    ['statement', 'field'],
    ['statement', 'field'],
    ['field', 'root'],
    ['root', undefined],
  ]);
});

test('starts no shared span if no span is started inside it', async () => {
  await inTrace(() => inSharedSpan({}, field, () => 7));
  assert.deepEqual(endedSpans(), [['root', undefined]]);
});

test('attaches a span to the closest ancestor that has not ended', async () => {
  let late = () => {};
  await inTrace(() => {
    void inSpan('ended', {}, () => void (late = context.bind(context.active(), () => statement())));
    late();
  });
  late();
  assert.deepEqual(endedSpans().slice(1), [
    ['statement', 'root'],
    ['root', undefined],
  ]);
});

test('runs queued work in the context in which it was queued, with or without a span', async () => {
  const untraced = context.with(ROOT_CONTEXT, () => bindActive(statement));
  let traced: (argument?: undefined) => void = () => {};
  await inTrace(() => {
    traced = bindActive(() => statement());
    untraced(undefined);
    context.with(ROOT_CONTEXT, traced);
  });
  assert.deepEqual(endedSpans(), [
    ['statement', 'root'],
    ['root', undefined],
  ]);
});
