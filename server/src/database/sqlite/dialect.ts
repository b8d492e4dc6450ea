/** Writes, prepares and runs statements in the SQL of SQLite, and defines its search index. */

import type { Database as Connection, Statement as Prepared } from 'better-sqlite3';
import type { DatabaseOptions, Dialect } from '../database.ts';
import { findListPart, toJsonRows, writeListQuery, type Part, type Statement } from '../statement.ts';

type PreparedStatement = ReturnType<typeof prepare>;

type Row = Record<string, unknown>;

interface RunnerOptions extends Pick<DatabaseOptions, 'onStatement' | 'onDuration'> {
  readonly toRefusal?: (error: unknown) => unknown;
}

export type StatementRunner = ReturnType<typeof createStatementRunner>;

/** Runs statements on a connection, and prepares each statement once. */
export function createStatementRunner(connection: Connection, options: RunnerOptions = {}) {
  const { onStatement, onDuration, toRefusal = (error) => error } = options;
  // A weak map, because some statements are created for one query.
  const cache = new WeakMap<Statement, PreparedStatement>();
  const execute = (kind: 'all' | 'get' | 'run' | 'runEach', statement: Statement, parameters: unknown) => {
    const startedAt = onDuration && performance.now();
    try {
      let prepared = cache.get(statement);
      if (!prepared) cache.set(statement, (prepared = prepare(connection, statement)));
      onStatement?.(prepared.text);
      return prepared[kind](parameters as never);
    } catch (error) {
      throw toRefusal(error);
    } finally {
      if (startedAt !== undefined) onDuration!('statement', performance.now() - startedAt);
    }
  };
  return {
    all: <P, R>(statement: Statement<P, R>, parameters: P) => execute('all', statement, parameters) as R[],
    get: <P, R>(statement: Statement<P, R>, parameters: P) =>
      execute('get', statement, parameters) as R | undefined,
    run: <P>(statement: Statement<P, never>, parameters: P) =>
      execute('run', statement, parameters) as number,
    runEach: <P>(statement: Statement<P, never>, parameterSets: readonly P[]) =>
      void execute('runEach', statement, parameterSets),
  };
}

export function readTableNames(connection: Connection): string[] {
  return connection.prepare(`select name from sqlite_schema where type = 'table'`).pluck().all() as string[];
}

function prepare(connection: Connection, statement: Statement) {
  const { text, placeholders } = toSqlite(statement);
  const prepared: Prepared<unknown[]> = connection.prepare(text);
  const valuesOf = (parameters: unknown) => {
    const values: unknown[] = [];
    for (const { name, toValue } of placeholders) {
      const value = (parameters as Row)[name];
      values.push(toValue ? toValue(value as never) : value);
    }
    return values;
  };
  const run = (parameters: unknown) => prepared.run(valuesOf(parameters)).changes;
  const runEach = (parameterSets: readonly unknown[]) => parameterSets.forEach(run);
  const lists = findListPart(statement);
  const reader = lists
    ? createListReader(prepared, lists.name, valuesOf, placeholders.indexOf(listedId))
    : createRowReader(prepared, valuesOf);
  return { text, run, runEach, ...reader };
}

/** The values, in the order of the placeholders. */
type Placeholders = { name: string; toValue?: (parameter: never) => unknown }[];

/** The id whose list is read; `listForEach` refers to it once. */
const listedId: Placeholders[number] = { name: 'listed id' };

export function toSqlite({ parts }: Statement): {
  readonly text: string;
  readonly placeholders: Placeholders;
} {
  const placeholders: Placeholders = [];
  const write = (part: Part): string => {
    if (typeof part === 'string') return part;
    if (part.kind === 'parameter') return addPlaceholder({ name: part.name });
    if (part.kind === 'possible-matches') {
      return `(select rowid as number from folder_trigrams
        where folder_trigrams match ${addPlaceholder({ name: part.text, toValue: toTrigramQuery })}
          and rowid > ${addPlaceholder({ name: part.after })} order by rowid limit ${addPlaceholder({ name: part.limit })}) as possible`;
    }
    // No lock is needed, because only one transaction writes at a time.
    if (part.kind === 'for-update' || part.kind === 'for-key-share') return '';
    if (part.kind === 'children') return 'folders';
    if (part.kind === 'json-rows') return `json_group_array(json_array(${part.columns}))`;
    if (part.kind === 'hex') return `hex(${part.column})`;
    if (part.kind === 'list') {
      return `(select key as position, value from json_each(${addPlaceholder({ name: part.name, toValue: JSON.stringify })})) as each`;
    }
    if (part.kind === 'rows') {
      const columns = Object.keys(part.columns).map((name) => `value ->> '${name}' as "${name}"`);
      const rows = addPlaceholder({ name: part.name, toValue: toJsonRows(part.columns) });
      return `(select ${columns.join(', ')} from json_each(${rows})) as each`;
    }
    const writeInner = (inner: Part) =>
      typeof inner === 'string'
        ? inner.replaceAll('each.value', () => addPlaceholder(listedId))
        : write(inner);
    return writeListQuery(part, (statement) => statement.parts.map(writeInner).join(''));
  };
  return { text: hideLimits(parts.map(write).join('')), placeholders };

  function addPlaceholder(value: Placeholders[number]): string {
    placeholders.push(value);
    return '?';
  }
}

/** Runs the statement once for each id, to read the list of that id. */
function createListReader(
  prepared: Prepared<unknown[]>,
  name: string,
  valuesOf: (parameters: unknown) => unknown[],
  idIndex: number,
) {
  prepared.raw();
  const all = (parameters: unknown) => {
    const ids = (parameters as Row)[name] as readonly string[];
    const values = valuesOf(parameters);
    return ids.map((id, position) => {
      values[idIndex] = id;
      return { position, list: prepared.all(values) };
    });
  };
  return { all, get: (parameters: unknown) => all(parameters)[0] };
}

/** Rows are read as arrays: for objects, better-sqlite3 would compile a function with almost every call. */
function createRowReader(prepared: Prepared<unknown[]>, valuesOf: (parameters: unknown) => unknown[]) {
  const names = prepared.reader ? prepared.columns().map(({ name }) => name) : [];
  if (prepared.reader) prepared.raw();
  const toRow = rowCreator(names);
  return {
    all: (parameters: unknown) => (prepared.all(valuesOf(parameters)) as unknown[][]).map(toRow),
    get: (parameters: unknown) => {
      const values = prepared.get(valuesOf(parameters)) as unknown[] | undefined;
      return values && toRow(values);
    },
  };
}

/** Creates each row by one literal, so that all rows of a statement have one shape: a loop takes several times as long. */
function rowCreator(names: readonly string[]): (values: readonly unknown[]) => Row {
  const members = names.map((name, index) => `${JSON.stringify(name)}: values[${index}]`);
  // The names of columns are ours: no input is part of a statement's text.
  // oxlint-disable-next-line typescript/no-implied-eval
  return new Function('values', `return { ${members.join(', ')} };`) as (values: readonly unknown[]) => Row;
}

/**
 * SQLite reads the value of a limit parameter and plans the statement again for each new value. That costs three times as
 * much as reading a page of a list. SQLite does not do so for an expression.
 */
function hideLimits(text: string): string {
  return text.replace(/\b(limit|offset)\s+\?/g, '$1 (? + 0)');
}

/**
 * Trigrams of the folded texts (https://www.sqlite.org/fts5.html#the_trigram_tokenizer). Without positions, the
 * index is a fraction of the size, and still preselects the rows.
 */
const searchIndex = [
  `create virtual table folder_trigrams using fts5(
    text, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1')`,
  // Small pages: a search skips through the lists of frequent trigrams, and a merge, which some changes cause, writes a fixed
  // number of pages.
  `insert into folder_trigrams (folder_trigrams, rank) values ('pgsz', 250)`,
  // This trigger runs once for many rows, because each run of a trigger makes FTS5 write out its pending entries.
  `create trigger folder_trigrams_insert after update of last on folder_numbers begin
    insert into folder_trigrams (rowid, text)
    select number, folded_name || char(10) || coalesce(folded_title, '') from folders
    where number > old.last and number <= new.last;
  end`,
  `create trigger folder_trigrams_update after update of folded_name, folded_title on folders
  when old.number is not null
    and (new.folded_name is not old.folded_name or new.folded_title is not old.folded_title) begin
    delete from folder_trigrams where rowid = old.number;
    insert into folder_trigrams (rowid, text)
    values (old.number, new.folded_name || char(10) || coalesce(new.folded_title, ''));
  end`,
  `create trigger folder_trigrams_delete after delete on folders when old.number is not null begin
    delete from folder_trigrams where rowid = old.number;
  end`,
];

const maxTrigrams = 16;

/**
 * A query for every third trigram of a text and the last one, which together contain all of its letters. Further trigrams
 * would cost as much again, and exclude hardly any rows.
 */
function toTrigramQuery(text: string): string {
  const letters = [...text];
  const last = letters.length - 3;
  const trigrams = new Set<string>();
  for (let start = 0; start < last && trigrams.size < maxTrigrams; start += 3) add(start);
  add(last);
  return [...trigrams].join(' AND ');

  function add(start: number): void {
    const trigram = letters.slice(start, start + 3).join('');
    trigrams.add(`"${trigram.replaceAll('"', '""')}"`);
  }
}

export const sqliteDialect: Dialect = {
  id: 'text',
  text: 'text',
  bytes: 'blob',
  integer: 'integer',
  tableEnd: 'strict, without rowid',
  searchIndex,
  // Trigrams of FTS5 contain spaces.
  searchIndexWithSpaces: [[], []],
  listIndex: [
    `drop index folders_in_order`,
    `create index folders_in_order on folders (parent_id, sort_key, id, name, title)`,
  ],
  renameIndex: (from, to, definition) => [`drop index ${from}`, `create index ${to} on ${definition}`],
  afterLoading: [],
};
