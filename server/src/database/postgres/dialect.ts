/** Statements as PostgreSQL takes them: numbered parameters, arrays for lists, a trigram index for search. */

import pg from 'pg';
import { findListPart, writeListQuery, type Part, type Statement } from '../statement.ts';

export interface PostgresStatement {
  readonly text: string;
  /** By which a connection knows it once it has been prepared. */
  readonly name: string;
  readonly valueCount: number;
  /** Its plan depends on the values: they have to be part of the text. */
  readonly isPlannedByValue: boolean;
  readonly valuesOf: (parameters: unknown) => unknown[];
  /** Its rows have a `list` as JSON. */
  readonly hasLists: boolean;
}

interface Value {
  readonly name: string;
  readonly toValue?: (given: never) => unknown;
}

const known = new Map<Statement, PostgresStatement>();
const knownForMany = new Map<Statement, PostgresStatement | undefined>();

export function toPostgres(statement: Statement): PostgresStatement {
  let found = known.get(statement);
  if (!found) known.set(statement, (found = write(statement, `espalier_${known.size}`)));
  return found;
}

/** So many rows are inserted with one statement. */
export const rowsAtOnce = 50;

/** An insert of one row as one of many, whose parameters are a list of so many; undefined for what is none. */
export function toPostgresForMany(statement: Statement): PostgresStatement | undefined {
  if (!knownForMany.has(statement)) {
    knownForMany.set(statement, writeForMany(toPostgres(statement), `espalier_many_${knownForMany.size}`));
  }
  return knownForMany.get(statement);
}

function writeForMany({ text, valuesOf }: PostgresStatement, name: string): PostgresStatement | undefined {
  const [, start, row] = /^(\s*insert into [^$]*\bvalues\s*)(\([^)]*\))\s*$/.exec(text) ?? [];
  if (start === undefined || row === undefined) return undefined;
  const count = new Set(row.match(/\$\d+/g)).size;
  const rows = Array.from({ length: rowsAtOnce }, (_, place) =>
    row.replace(/\$(\d+)/g, (_all, number) => `$${Number(number) + place * count}`),
  );
  return {
    text: start + rows.join(', '),
    name,
    valueCount: count * rowsAtOnce,
    isPlannedByValue: false,
    hasLists: false,
    valuesOf: (parameters) => (parameters as unknown[]).flatMap(valuesOf),
  };
}

function write({ parts }: Statement, name: string): PostgresStatement {
  const values: Value[] = [];
  /** The same parameter has the same number wherever it stands: its type is told by one of the places. */
  const parameter = (value: Value): string => {
    const place = values.findIndex((each) => each.name === value.name && each.toValue === value.toValue);
    return `$${place < 0 ? values.push(value) : place + 1}`;
  };
  const eachOf = (list: string, type: string) =>
    `unnest(${parameter({ name: list })}::${type}[]) with ordinality as listed (value, place)`;
  const writePart = (part: Part): string => {
    if (typeof part === 'string') return part;
    if (part.kind === 'parameter') return parameter(part);
    if (part.kind === 'list') {
      const rows = eachOf(part.name, part.of === 'ids' ? 'uuid' : 'text');
      return `(select place - 1 as place, value from ${rows}) as each`;
    }
    if (part.kind === 'list-for-each') {
      const rows = writeListQuery(part, ({ parts: inner }) => inner.map(writePart).join(''));
      const values = part.columns.map((_, place) => `c${place}`);
      const row = `json_build_array(${values.join(', ')})`;
      return `select each.place, (select json_agg(${row})::text from (${rows}) as chosen) as list
        from (select place - 1 as place, value from ${eachOf(part.name, 'uuid')}) as each`;
    }
    if (part.kind === 'kept-from-others') return 'for update';
    if (part.kind === 'json-rows') return `json_agg(json_build_array(${part.columns}))`;
    if (part.kind === 'hex') return `upper(encode(${part.column}, 'hex'))`;
    if (part.kind === 'children') {
      return `lateral (select * from folders where parent_id = ${part.of}.id offset 0) as folders`;
    }
    const pattern = parameter({ name: part.text, toValue: containing });
    return `(select number from folders where ${searchedText} like ${pattern} and number > ${parameter({ name: part.after })}
      order by number limit ${parameter({ name: part.limit })}) as possible`;
  };
  const text = parts.map(writePart).join('');
  const isPlannedByValue = parts.some((part) => typeof part === 'object' && part.kind === 'possible-matches');
  return {
    text,
    name,
    valueCount: values.length,
    isPlannedByValue,
    hasLists: findListPart({ parts }) !== undefined,
    valuesOf: (parameters) =>
      values.map((value) => {
        const given = (parameters as Record<string, unknown>)[value.name];
        return value.toValue ? value.toValue(given as never) : given;
      }),
  };
}

/** The statement with values, for the driver. Without `keepsSessions`, a connection knows no statement by its name. */
export function toQuery(
  { text, name, isPlannedByValue, valuesOf }: PostgresStatement,
  parameters: unknown,
  keepsSessions: boolean,
): pg.QueryConfig {
  const values = valuesOf(parameters);
  // Connections use generic plans, which do not consider the values of parameters.
  if (isPlannedByValue)
    return { text: text.replace(/\$(\d+)/g, (_, number) => literalOf(values[number - 1])) };
  return keepsSessions ? { text, values, name } : { text, values };
}

function literalOf(value: unknown): string {
  return typeof value === 'number' ? String(value) : pg.escapeLiteral(value as string);
}

const nameAndTitle = `(folded_name || chr(10) || coalesce(folded_title, ''))`;
const letterForSpace = 'q';
/**
 * pg_trgm makes no trigram of letters with a space in between: the text "of the rack" would also select every title with
 * these words elsewhere in it. With a letter in place of the space, few other folders are selected. That the letter also
 * matches itself does no harm, because the search compares the texts.
 */
const searchedText = `replace(${nameAndTitle}, ' ', '${letterForSpace}')`;

/** https://www.postgresql.org/docs/current/pgtrgm.html */
export const searchIndex: readonly string[] = [
  `create extension if not exists pg_trgm`,
  `create index folders_trigrams on folders using gin (${nameAndTitle} gin_trgm_ops)`,
];

/** Other nodes read meanwhile: the index that they use is dropped in a transaction of its own. */
export const searchIndexWithSpaces: readonly (readonly string[])[] = [
  [`create index folders_searched on folders using gin (${searchedText} gin_trgm_ops)`, `analyze folders`],
  [`drop index folders_trigrams`],
];

function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&').replaceAll(' ', letterForSpace)}%`;
}
export interface QueuedWrite {
  readonly statement: PostgresStatement;
  readonly parameters: unknown;
  /** Creates the error if no row is changed. */
  readonly refuse: (() => Error) | undefined;
}
/** By the names of their statements. Only the code decides which are queued together: they are few. */
const known = new Map<string, PostgresStatement>();
/** Takes a list with the parameters of each write. Returns one row with the number of rows that each write changed: `c0`, `c1`, … */

export function toOneStatement(writes: readonly QueuedWrite[]): PostgresStatement {
  const key = writes.map(({ statement: { name } }) => name).join(' ');
  let found = known.get(key);
  if (!found) {
    const statements = writes.map(({ statement }) => statement);
    known.set(key, (found = writeTogether(statements, `espalier_writes_${known.size}`)));
  }
  return found;
}
function writeTogether(statements: readonly PostgresStatement[], name: string): PostgresStatement {
  let before = 0;
  const parts = statements.map(({ text, valueCount }, index) => {
    const start = before;
    before += valueCount;
    const numbered = text.replace(/\$(\d+)/g, (_, number) => `$${Number(number) + start}`);
    return `w${index} as (${numbered} returning 1)`;
  });
  const counts = statements.map((_, index) => `(select count(*) from w${index})::int as c${index}`);
  return {
    text: `with ${parts.join(', ')} select ${counts.join(', ')}`,
    name,
    valueCount: before,
    isPlannedByValue: false,
    hasLists: false,
    valuesOf: (parameters) =>
      statements.flatMap(({ valuesOf }, index) => valuesOf((parameters as unknown[])[index])),
  };
}
