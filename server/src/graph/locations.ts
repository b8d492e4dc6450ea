/**
 * Lines and columns of errors. graphql-js searches the text from its start for each of them, and an answer may hold
 * thousands. So the text is taken away from a document once it is parsed: then what stands for a column is the place in the
 * text, and only the errors that are sent are looked up, in an index of the lines.
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
 * A copy to keep, without the tokens that the parser links to all nodes. Only the copy is kept: V8 learns that what the
 * parser allocates dies young. Otherwise it allocates every document as if it were kept, and a client that sends new texts
 * all the time causes pauses of 50 ms for the garbage collector (measured with `npm run bench -- abuse`).
 */
export function copyToKeep(document: DocumentNode): DocumentNode {
  const copy = copyNode(document) as DocumentNode;
  // As graphql-js defines it.
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

const mostLocations = 5;

/** Errors about such a document, with lines and columns of the query's text. */
export function withLocations(
  errors: readonly GraphQLFormattedError[],
  query: string,
): readonly GraphQLFormattedError[] {
  const starts = lineStarts(query);
  return errors.map((error) => {
    const locations = error.locations?.slice(0, mostLocations).map(({ column }) => {
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

/** How many lines start at or before a place. */
function linesUntil(starts: readonly number[], place: number): number {
  let low = 1;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle - 1]! <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}
