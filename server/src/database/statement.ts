/**
 * SQL as text with named parameters, written once for every database. A statement is made once, at module level, and
 * each database prepares it once; what differs between dialects is a part that the dialect writes itself.
 */

export type Part =
  | string
  | { readonly kind: 'parameter'; readonly name: string }
  | { readonly kind: 'list'; readonly name: string; readonly of: 'ids' | 'texts' }
  | {
      readonly kind: 'chosen-for-each';
      readonly name: string;
      readonly table: string;
      readonly which: Statement;
      readonly passesOver: boolean;
    }
  | { readonly kind: 'kept-from-others' }
  | {
      readonly kind: 'possible-matches';
      readonly text: string;
      readonly after: string;
      readonly limit: string;
    };

export interface Statement<Parameters = unknown, Row = unknown> {
  readonly parts: readonly Part[];
  /** Types only; never there at run time. */
  readonly types?: { parameters: Parameters; row: Row };
}

/**
 * Interpolated strings are the names of parameters: sql<{ id: string }, Folder>`select … where id = ${'id'}`.
 * Interpolated statements and parts are written in place.
 */
export function sql<Parameters = object, Row = never>(
  texts: TemplateStringsArray,
  ...values: readonly (string | Part | Statement)[]
): Statement<Parameters, Row> {
  const parts: Part[] = [texts[0]!];
  values.forEach((value, index) => {
    if (typeof value === 'string') parts.push({ kind: 'parameter', name: value });
    else if ('parts' in value) parts.push(...value.parts);
    else parts.push(value);
    parts.push(texts[index + 1]!);
  });
  return { parts };
}

/** A table `each` with the column `value` and, in the list's order, `place`; from a parameter that is a list of ids. */
export function list(name: string): Part {
  return { kind: 'list', name, of: 'ids' };
}

/** The same, of any texts. */
export function textList(name: string): Part {
  return { kind: 'list', name, of: 'texts' };
}

/**
 * For each id of a list parameter, rows of `table`, which has a primary key `id`. Which ones, `which` says from `where`
 * on: it refers to the id as `each.value`, and may order and limit itself. Names the rows `chosen`. Where it passes over
 * many, an index tells which they are, and no row of theirs is read.
 */
export function chosenForEach(
  name: string,
  table: string,
  which: Statement,
  { passesOver = false }: { readonly passesOver?: boolean } = {},
): Part {
  return { kind: 'chosen-for-each', name, table, which, passesOver };
}

/**
 * A table `possible` with the column `number`: in ascending order the numbers of at most `limit` folders after the
 * number `after` whose folded name or title may hold `text`, which has at least three characters. An index answers,
 * and may name too many: the caller compares.
 */
export function possibleMatches(names: { text: string; after: string; limit: string }): Part {
  return { kind: 'possible-matches', ...names };
}

/** At the end of a select in a transaction: until it is over, no other one changes the rows, nor gets past this. */
export const keptFromOthers: Part = { kind: 'kept-from-others' };
