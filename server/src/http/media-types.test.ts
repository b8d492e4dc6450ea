import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { acceptedMediaType, acceptsEventStream, prefersHtml } from './media-types.ts';

const json = 'application/json';
const graph = 'application/graphql-response+json';

const assertAnswer = (answer: string | undefined, accepts: (string | undefined)[]) => {
  for (const accept of accepts) assert.equal(acceptedMediaType(accept), answer, accept);
};

test('who says nothing, or takes anything, gets plain JSON', () => {
  assertAnswer(json, [undefined, '*/*', 'application/*', 'text/html, */*;q=0.1', '*/*;q=0.001']);
});

test('who names one of the two media types gets it', () => {
  assertAnswer(json, [json, 'application/json;charset=utf-8', 'text/html, application/json']);
  assertAnswer(graph, [graph, `${graph}; charset=utf-8`, `text/html, ${graph}`]);
});

test('of two equally wanted media types the first named is answered', () => {
  assertAnswer(graph, [`${graph}, ${json}`, `${graph}, */*`, `${graph};q=0.5, ${json};q=0.5`]);
  assertAnswer(json, [`${json}, ${graph}`]);
});

test('a greater weight wins, wherever it stands', () => {
  assertAnswer(graph, [
    `${json};q=0.9, ${graph}`,
    `${graph};q=0.9, ${json};q=0.8`,
    `*/*;q=0.1, ${graph};q=0.2`,
  ]);
  assertAnswer(json, [`${graph};q=0.9, ${json}`, `${json};q=0.9, ${graph};q=0.8`]);
});

test('a weight of nothing refuses the media type', () => {
  assertAnswer(undefined, [`${json};q=0`, `${graph};q=0.000`, '*/*;q=0']);
  assertAnswer(graph, [`${json};q=0, ${graph}`]);
  assertAnswer(json, [`${graph};q=0, ${json}`, `${graph};q=0, */*`]);
});

test('the most specific range decides', () => {
  assertAnswer(graph, [
    `${json};q=0, */*`,
    `${json};q=0.5, */*;q=0.8`,
    `application/*;q=0.2, ${graph};q=0.3`,
  ]);
  assertAnswer(json, [`${graph};q=0.5, */*;q=0.8`]);
});

test('a weight above one counts as one', () => {
  assertAnswer(json, [`${json}, ${graph};q=7`]);
});

test('a weight that is not a number refuses the media type', () => {
  assertAnswer(undefined, [`${json};q=high`, `${graph};q=0.5x`]);
});

test('case and space do not matter', () => {
  assertAnswer(graph, ['APPLICATION/GraphQL-Response+JSON', ` ${graph} ;  Q=1 ,text/html`]);
  assertAnswer(json, ['Application/JSON; Charset="UTF-8"', `text/html,${json}`]);
});

test('another character set than UTF-8 is not served', () => {
  assertAnswer(undefined, [`${json};charset=iso-8859-1`, `${graph}; charset=utf-16`]);
  assertAnswer(graph, [`${json};charset=utf-16, ${graph};q=0.1`]);
});

test('who takes neither gets neither', () => {
  assertAnswer(undefined, [
    'text/html',
    'text/*',
    'application/xml',
    'json',
    'application/jsonp',
    'image/*, text/*',
  ]);
});

test('who names events takes them, and nobody else does', () => {
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

test('whatever a client sends, the answer is one of the two media types or none', () => {
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
      const answer = acceptedMediaType(accept);
      assert.ok(answer === undefined || answer === json || answer === graph);
      if (answer === graph) assert.ok(accept.includes(graph), 'nobody gets the newer type unasked');
    }),
  );
});

test('HTML is preferred only if it is named with at least the weight of JSON', () => {
  const browsers = [
    'text/html',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'TEXT/HTML; charset=utf-8, application/json;q=0.5',
  ];
  for (const accept of browsers) assert.equal(prefersHtml(accept), true, accept);
  const programs = [undefined, '', '*/*', 'text/*', json, `${json}, text/html;q=0.9`, 'text/html;q=0'];
  for (const accept of programs) assert.equal(prefersHtml(accept), false, accept);
});
