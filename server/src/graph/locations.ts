/**
 * Lines and columns of errors. For each error, graphql-js searches the text from its start, and a response may have thousands of
 * errors. So the text is removed from a parsed document. Its columns are then offsets, which are converted with an index of lines.
 */

import {
  Location,
  parse,
  Source,
  type DocumentNode,
  type GraphQLFormattedError,
  type ParseOptions,
} from 'graphql';

export function parseWithoutText(query: string, options: ParseOptions): DocumentNode {
  const source = new Source(query);
  const document = parse(source, options);
  source.body = '';
  return document;
}

/**
 * A copy for the cache, without the tokens that the parser links to all nodes. Only the copy is cached: so V8 learns that the
 * parser's objects die young. Otherwise V8 allocates every document as a long-lived object, and a client that always sends new
 * texts causes garbage collector pauses of 50 ms (measured with `npm run bench -- abuse`).
 */
export function copyForCache(document: DocumentNode): DocumentNode {
  const copy = copyNode(document) as DocumentNode;
  // graphql-js defines it as a property that is not enumerable.
  return Object.defineProperty(copy, 'tokenCount', { value: document.tokenCount });
}

function copyNode(node: object): object {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(node)) {
    if (value instanceof Location) copy[name] = { start: value.start, end: value.end, source: value.source };
    else if (Array.isArray(value)) copy[name] = value.map(copyNode);
    else copy[name] = typeof value === 'object' && value !== null ? copyNode(value as object) : value;
  }
  return copy;
}

const maxLocations = 5;

/** Replaces the offsets in errors of such a document by lines and columns. */
export function withLocations(
  errors: readonly GraphQLFormattedError[],
  query: string,
): readonly GraphQLFormattedError[] {
  const starts = lineStarts(query);
  return errors.map((error) => {
    const locations = error.locations?.slice(0, maxLocations).map(({ column }) => {
      const line = linesUntil(starts, column - 1);
      return { line, column: column - starts[line - 1]! };
    });
    return locations ? { ...error, locations } : error;
  });
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(/\r\n|[\n\r]/g)) starts.push(index + end.length);
  return starts;
}

/** How many lines start at or before an offset. */
function linesUntil(starts: readonly number[], offset: number): number {
  let low = 1;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle - 1]! <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
