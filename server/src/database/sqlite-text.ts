/** Statements in the dialect of SQLite, and the index for search. */

import type { Database as Connection, Statement as Prepared } from 'better-sqlite3';
import type { Dialect } from './database.ts';
import { columnEnd, literal, rowsOfEach, type Part, type Statement } from './statement.ts';

/** A statement as a connection has prepared it. */
export interface Ready {
  readonly text: string;
  readonly all: (parameters: unknown) => unknown[];
  readonly get: (parameters: unknown) => unknown;
  /** The first column of the first row. */
  readonly getText: (parameters: unknown) => string | undefined;
  /** How many rows were changed. */
  readonly run: (parameters: unknown) => number;
}

type Row = Record<string, unknown>;

export function prepare(connection: Connection, statement: Statement): Ready {
  const { text, order } = toSqlite(statement);
  const prepared: Prepared<unknown[]> = connection.prepare(text);
  const valuesOf = (parameters: unknown) => {
    const values: unknown[] = [];
    for (const { name, toValue } of order) {
      const value = (parameters as Row)[name];
      values.push(toValue ? toValue(value as never) : value);
    }
    return values;
  };
  const run = (parameters: unknown) => prepared.run(valuesOf(parameters)).changes;
  return { text, run, ...readingOf(prepared, valuesOf) };
}

/** Where each value goes, in the order of the text. */
type Order = { name: string; toValue?: (given: never) => unknown }[];

export function toSqlite({ parts }: Statement): { readonly text: string; readonly order: Order } {
  const order: Order = [];
  const write = (part: Part): string => {
    if (typeof part === 'string') return part;
    if (part.kind === 'parameter') {
      order.push({ name: part.name });
      return '?';
    }
    if (part.kind === 'possible-matches') {
      order.push({ name: part.text, toValue: trigramQuery }, { name: part.after }, { name: part.limit });
      return `(select rowid as number from folder_trigrams
        where folder_trigrams match ? and rowid > ? order by rowid limit ?) as possible`;
    }
    if (part.kind === 'json-text') return `json_quote(${part.column})`;
    if (part.kind === 'json-texts') {
      // Much faster than to quote each.
      return `replace(trim(json_group_array(${part.column}), '[]'), '","', ${literal(`"${part.between}"`)})`;
    }
    // There is one that writes at a time.
    if (part.kind === 'kept-from-others') return '';
    if (part.kind === 'children') return 'folders';
    if (part.kind === 'list') {
      order.push({ name: part.name, toValue: JSON.stringify });
      return '(select key as place, value from json_each(?)) as each';
    }
    const rows = rowsOfEach(part, ({ parts: inner }) => inner.map(write).join(''));
    order.push({ name: part.name, toValue: JSON.stringify });
    const values = part.columns.map((_, place) => `c${place}`);
    const row = values.length === 1 ? values[0]! : `json_array(${values.join(', ')})`;
    const byColumn = values.map((value) => `json_group_array(${value})`);
    const list = part.isByColumn
      ? byColumn.join(` || char(${columnEnd.charCodeAt(0)}) || `)
      : `json_group_array(${row})`;
    return `select each.key as place, (select ${list} from (${rows})) as list from json_each(?) as each`;
  };
  return { text: withBareLimits(parts.map(write).join('')), order };
}

/** Rows come as lists: else a function that makes objects of them would be compiled anew with almost every call. */
function readingOf(prepared: Prepared<unknown[]>, valuesOf: (parameters: unknown) => unknown[]) {
  const names = prepared.reader ? prepared.columns().map(({ name }) => name) : [];
  // It is read as one or the other, and hardly ever as both.
  let isPlucked: boolean | undefined;
  const read = (pluck: boolean): Prepared<unknown[]> => {
    if (isPlucked !== pluck) {
      if (pluck) prepared.pluck();
      else prepared.raw();
      isPlucked = pluck;
    }
    return prepared;
  };
  const toRow = (values: readonly unknown[]): Row => {
    const row: Row = {};
    for (let place = 0; place < names.length; place++) row[names[place]!] = values[place];
    return row;
  };
  return {
    all: (parameters: unknown) => (read(false).all(valuesOf(parameters)) as unknown[][]).map(toRow),
    get: (parameters: unknown) => {
      const values = read(false).get(valuesOf(parameters)) as unknown[] | undefined;
      return values && toRow(values);
    },
    getText: (parameters: unknown) => read(true).get(valuesOf(parameters)) as string | undefined,
  };
}

/**
 * SQLite looks at the value of a parameter that is a limit, and plans the statement anew whenever it is bound again: three
 * times what a page costs. At what is worked out it does not look.
 */
function withBareLimits(text: string): string {
  return text.replace(/\b(limit|offset)\s+\?/g, '$1 (? + 0)');
}

/**
 * Trigrams of the folded texts (https://www.sqlite.org/fts5.html#the_trigram_tokenizer). Without their positions the
 * index is a fraction of the size, and enough to preselect.
 */
const searchIndex = [
  `create virtual table folder_trigrams using fts5(
    text, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1')`,
  // Small pages: a search leaps through the lists of frequent trigrams, and merging, which now and then comes with a
  // change, takes so many pages at a time.
  `insert into folder_trigrams (folder_trigrams, rank) values ('pgsz', 250)`,
  // Not for each row: a trigger that writes to this index makes it write out all that it has gathered so far.
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

const mostTrigrams = 16;

/**
 * A query that asks for some of the trigrams of a text: every other one and the last hold all of its letters. Each
 * more would cost as much again, and leave out hardly anything.
 */
function trigramQuery(text: string): string {
  const letters = [...text];
  const last = letters.length - 3;
  const trigrams = new Set<string>();
  for (let start = 0; start < last && trigrams.size < mostTrigrams; start += 2) add(start);
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
  listIndex: [
    `drop index folders_in_order`,
    `create index folders_in_order on folders (parent_id, sort_key, id, name, title)`,
  ],
  afterLoading: [],
};
