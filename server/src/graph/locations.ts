/**
 * Lines and columns of errors. graphql-js searches the text from its start for each of them, and an answer may hold
 * thousands. So the text is taken away from a document once it is parsed: then what stands for a column is the place in the
 * text, and only the errors that are sent are looked up, in an index of the lines.
 */

import { parse, Source, type DocumentNode, type GraphQLFormattedError, type ParseOptions } from 'graphql';

export function parseWithoutText(query: string, options: ParseOptions): DocumentNode {
  const source = new Source(query);
  const document = parse(source, options);
  source.body = '';
  return document;
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
