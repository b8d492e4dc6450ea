import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { acceptedMediaType, acceptsEventStream, prefersHtml } from './media-types.ts';

const json = 'application/json';
const graph = 'application/graphql-response+json';

const assertType = (expected: string | undefined, accepts: (string | undefined)[]) => {
  for (const accept of accepts) assert.equal(acceptedMediaType(accept), expected, accept);
};

test('selects plain JSON without a header or for a wildcard', () => {
  assertType(json, [undefined, '*/*', 'application/*', 'text/html, */*;q=0.1', '*/*;q=0.001']);
});

test('selects the named media type', () => {
  assertType(json, [json, 'application/json;charset=utf-8', 'text/html, application/json']);
  assertType(graph, [graph, `${graph}; charset=utf-8`, `text/html, ${graph}`]);
});

test('selects the first of two media types with equal weights', () => {
  assertType(graph, [`${graph}, ${json}`, `${graph}, */*`, `${graph};q=0.5, ${json};q=0.5`]);
  assertType(json, [`${json}, ${graph}`]);
});

test('selects the media type with the greater weight at any position', () => {
  assertType(graph, [
    `${json};q=0.9, ${graph}`,
    `${graph};q=0.9, ${json};q=0.8`,
    `*/*;q=0.1, ${graph};q=0.2`,
  ]);
  assertType(json, [`${graph};q=0.9, ${json}`, `${json};q=0.9, ${graph};q=0.8`]);
});

test('refuses a media type with weight zero', () => {
  assertType(undefined, [`${json};q=0`, `${graph};q=0.000`, '*/*;q=0']);
  assertType(graph, [`${json};q=0, ${graph}`]);
  assertType(json, [`${graph};q=0, ${json}`, `${graph};q=0, */*`]);
});

test('uses the weight of the most specific range', () => {
  assertType(graph, [`${json};q=0, */*`, `${json};q=0.5, */*;q=0.8`, `application/*;q=0.2, ${graph};q=0.3`]);
  assertType(json, [`${graph};q=0.5, */*;q=0.8`]);
});

test('treats a weight above one as one', () => {
  assertType(json, [`${json}, ${graph};q=7`]);
});

test('refuses a media type whose weight is not a number', () => {
  assertType(undefined, [`${json};q=high`, `${graph};q=0.5x`]);
});

test('ignores case and spaces', () => {
  assertType(graph, ['APPLICATION/GraphQL-Response+JSON', ` ${graph} ;  Q=1 ,text/html`]);
  assertType(json, ['Application/JSON; Charset="UTF-8"', `text/html,${json}`]);
});

test('refuses character sets other than UTF-8', () => {
  assertType(undefined, [`${json};charset=iso-8859-1`, `${graph}; charset=utf-16`]);
  assertType(graph, [`${json};charset=utf-16, ${graph};q=0.1`]);
});

test('selects nothing if neither media type is accepted', () => {
  assertType(undefined, [
    'text/html',
    'text/*',
    'application/xml',
    'json',
    'application/jsonp',
    'image/*, text/*',
  ]);
});

test('acceptsEventStream() requires the exact media type', () => {
  const events = 'text/event-stream';
  for (const accept of [
    events,
    `${json}, ${events}`,
    `TEXT/Event-Stream ; q=0.1`,
    `${events};charset=utf-8`,
  ]) {
    assert.ok(acceptsEventStream(accept), accept);
  }
  for (const accept of [undefined, '', '*/*', 'text/*', json, `${events};q=0`, `${events}s`, `x${events}`]) {
    assert.ok(!acceptsEventStream(accept), accept);
  }
});

test('selects one of the two media types or none for any header', () => {
  const part = fc.constantFrom(
    json,
    graph,
    '*/*',
    'application/*',
    'text/*',
    ';q=',
    '0.5',
    '1',
    '=',
    ';',
    ',',
    '"',
    ' ',
  );
  const accepts = fc.oneof(
    fc.string(),
    fc.array(part).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(accepts, (accept) => {
      const selected = acceptedMediaType(accept);
      assert.ok(selected === undefined || selected === json || selected === graph);
      // A header that names JSON may refuse it, for example with an empty weight.
      const isNamed = [graph, json].some((name) => accept.includes(name));
      if (selected === graph) assert.ok(isNamed, 'wildcards alone select plain JSON');
    }),
  );
});

test('prefersHtml() requires HTML with at least the weight of JSON', () => {
  const browsers = [
    'text/html',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'TEXT/HTML; charset=utf-8, application/json;q=0.5',
  ];
  for (const accept of browsers) assert.equal(prefersHtml(accept), true, accept);
  const programs = [undefined, '', '*/*', 'text/*', json, `${json}, text/html;q=0.9`, 'text/html;q=0'];
  for (const accept of programs) assert.equal(prefersHtml(accept), false, accept);
});
