/** Writes statements in the SQL of PostgreSQL: numbered parameters, arrays for lists, and a trigram index for search. */

import pg from 'pg';
import type { Dialect } from '../database.ts';
import { findListPart, toJsonRows, writeListQuery, type Part, type Statement } from '../statement.ts';

export interface PostgresStatement {
  readonly text: string;
  /** The name under which a connection prepares the statement. */
  readonly name: string;
  readonly valueCount: number;
  /** The query plan depends on the values, so the values must be part of the text. */
  readonly isPlannedByValue?: boolean;
  readonly valuesOf: (parameters: unknown) => unknown[];
  /** Each row has a `list` as JSON text. */
  readonly hasLists?: boolean;
}

interface Value {
  readonly name: string;
  readonly toValue?: (parameter: never) => unknown;
}

const cache = new Map<Statement, PostgresStatement>();
const multiRowCache = new Map<Statement, PostgresStatement | undefined>();
/** Combined statements by the names of their parts. The code decides which writes are queued together, so there are few combinations. */
const combinedCache = new Map<string, PostgresStatement>();

export function toPostgres(statement: Statement): PostgresStatement {
  let found = cache.get(statement);
  if (!found) cache.set(statement, (found = write(statement, `espalier_${cache.size}`)));
  return found;
}

/** The number of rows in one multi-row insert. */
export const rowsPerInsert = 50;

/** Turns an insert of one row into an insert of `rowsPerInsert` rows; undefined for any other statement. */
export function toMultiRowInsert(statement: Statement): PostgresStatement | undefined {
  if (!multiRowCache.has(statement)) {
    multiRowCache.set(statement, writeMultiRow(toPostgres(statement), `espalier_many_${multiRowCache.size}`));
  }
  return multiRowCache.get(statement);
}

function writeMultiRow({ text, valuesOf }: PostgresStatement, name: string): PostgresStatement | undefined {
  const [, start, row] = /^(\s*insert into [^$]*\bvalues\s*)(\([^)]*\))\s*$/.exec(text) ?? [];
  if (start === undefined || row === undefined) return undefined;
  const count = new Set(row.match(/\$\d+/g)).size;
  const rows = Array.from({ length: rowsPerInsert }, (_, index) => shiftParameters(row, index * count));
  return {
    text: start + rows.join(', '),
    name,
    valueCount: count * rowsPerInsert,
    valuesOf: (parameters) => (parameters as unknown[]).flatMap(valuesOf),
  };
}

function shiftParameters(text: string, by: number): string {
  return text.replace(/\$(\d+)/g, (_, number) => `$${Number(number) + by}`);
}

export interface QueuedWrite {
  readonly statement: PostgresStatement;
  readonly parameters: unknown;
  /** Creates the error if no row is changed. */
  readonly refuse: (() => Error) | undefined;
}

/**
 * Combines several writes into one `with` query. Its parameter is a list with the parameters of each write. It returns one
 * row with the number of rows that each write changed: `c0`, `c1`, …
 */
export function combineWrites(writes: readonly QueuedWrite[]): PostgresStatement {
  const key = writes.map(({ statement: { name } }) => name).join(' ');
  let found = combinedCache.get(key);
  if (!found) {
    const statements = writes.map(({ statement }) => statement);
    combinedCache.set(key, (found = writeCombined(statements, `espalier_writes_${combinedCache.size}`)));
  }
  return found;
}

function writeCombined(statements: readonly PostgresStatement[], name: string): PostgresStatement {
  let valueCount = 0;
  const parts = statements.map((statement, index) => {
    const text = shiftParameters(statement.text, valueCount);
    valueCount += statement.valueCount;
    return `w${index} as (${text} returning 1)`;
  });
  const counts = statements.map((_, index) => `(select count(*) from w${index})::int as c${index}`);
  return {
    text: `with ${parts.join(', ')} select ${counts.join(', ')}`,
    name,
    valueCount,
    valuesOf: (parameters) =>
      statements.flatMap(({ valuesOf }, index) => valuesOf((parameters as unknown[])[index])),
  };
}

function write({ parts }: Statement, name: string): PostgresStatement {
  const values: Value[] = [];
  /** A parameter has one number throughout a statement: PostgreSQL infers its type from one of its uses. */
  const parameter = (value: Value): string => {
    const index = values.findIndex((each) => each.name === value.name && each.toValue === value.toValue);
    return `$${index < 0 ? values.push(value) : index + 1}`;
  };
  const text = parts.map((part) => writePart(part, parameter)).join('');
  const isPlannedByValue = parts.some((part) => typeof part === 'object' && part.kind === 'possible-matches');
  return {
    text,
    name,
    valueCount: values.length,
    isPlannedByValue,
    hasLists: findListPart({ parts }) !== undefined,
    valuesOf: (parameters) =>
      values.map((value) => {
        const parameter = (parameters as Record<string, unknown>)[value.name];
        return value.toValue ? value.toValue(parameter as never) : parameter;
      }),
  };
}

function writePart(part: Part, parameter: (value: Value) => string): string {
  if (typeof part === 'string') return part;
  if (part.kind === 'parameter') return parameter(part);
  if (part.kind === 'list') return listTable(parameter(part), part.of === 'ids' ? 'uuid' : 'text');
  if (part.kind === 'rows') {
    const columns = Object.entries(part.columns).map(([name, type]) => `"${name}" ${columnTypes[type]}`);
    const rows = parameter({ name: part.name, toValue: toJsonRows(part.columns) });
    return `json_to_recordset(${rows}::json) as each (${columns.join(', ')})`;
  }
  if (part.kind === 'list-for-each') {
    const rows = writeListQuery(part, ({ parts }) =>
      parts.map((inner) => writePart(inner, parameter)).join(''),
    );
    const row = `json_build_array(${part.columns.map((_, index) => `c${index}`).join(', ')})`;
    return `select each.position, (select json_agg(${row})::text from (${rows}) as chosen) as list
      from ${listTable(parameter({ name: part.name }), 'uuid')}`;
  }
  if (part.kind === 'for-update') return 'for update';
  if (part.kind === 'for-key-share') return 'for key share';
  if (part.kind === 'json-rows') return `json_agg(json_build_array(${part.columns}))`;
  if (part.kind === 'hex') return `upper(encode(${part.column}, 'hex'))`;
  if (part.kind === 'children') {
    return `lateral (select * from folders where parent_id = ${part.of}.id offset 0) as folders`;
  }
  const pattern = parameter({ name: part.text, toValue: toLikePattern });
  return `(select number from folders where ${searchedText} like ${pattern} and number > ${parameter({ name: part.after })}
      order by number limit ${parameter({ name: part.limit })}) as possible`;
}

const columnTypes = { id: 'uuid', text: 'text', integer: 'bigint' };

function listTable(parameter: string, type: string): string {
  return `(select position - 1 as position, value
    from unnest(${parameter}::${type}[]) with ordinality as listed (value, position)) as each`;
}

/** Without `keepsSessions`, a connection pooler may use another connection each time, so statements cannot be prepared by name. */
export function toQuery(
  { text, name, isPlannedByValue, valuesOf }: PostgresStatement,
  parameters: unknown,
  keepsSessions: boolean,
): pg.QueryConfig {
  const values = valuesOf(parameters);
  // Connections use generic plans, which do not consider the values of parameters.
  if (isPlannedByValue)
    return { text: text.replace(/\$(\d+)/g, (_, number) => toLiteral(values[number - 1])) };
  return keepsSessions ? { text, values, name } : { text, values };
}

function toLiteral(value: unknown): string {
  return typeof value === 'number' ? String(value) : pg.escapeLiteral(value as string);
}

const nameAndTitle = `(folded_name || chr(10) || coalesce(folded_title, ''))`;
const letterForSpace = 'q';
/**
 * pg_trgm makes no trigram of letters with a space in between: the text "of the rack" would also select every title with
 * these words elsewhere in it. With the letter `q` in place of each space, the index selects few other folders. A real `q` also
 * matches, which does no harm, because the search compares the texts.
 */
const searchedText = `replace(${nameAndTitle}, ' ', '${letterForSpace}')`;

function toLikePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&').replaceAll(' ', letterForSpace)}%`;
}

export const postgresDialect: Dialect = {
  id: 'uuid',
  text: 'text collate "C"',
  bytes: 'bytea',
  integer: 'bigint',
  tableEnd: '',
  /** https://www.postgresql.org/docs/current/pgtrgm.html */
  searchIndex: [
    `create extension if not exists pg_trgm`,
    `create index folders_trigrams on folders using gin (${nameAndTitle} gin_trgm_ops)`,
  ],
  // Other nodes use the old index meanwhile, so a second transaction drops it.
  searchIndexWithSpaces: [
    [`create index folders_searched on folders using gin (${searchedText} gin_trgm_ops)`, `analyze folders`],
    [`drop index folders_trigrams`],
  ],
  // An index entry may have at most 2,704 bytes, and a title can have more.
  listIndex: [],
  renameIndex: (from, to) => [`alter index ${from} rename to ${to}`],
  afterLoading: ['analyze'],
};
