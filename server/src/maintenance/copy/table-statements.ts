/** The statements by which the rows of any table are read and written. */

import type { Part, Statement } from '../../database/statement.ts';
import type { CopiedTable } from './tables.ts';

export type Value = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, Value>>;

/** Pages of rows in the order of the key: the first, and what comes after a row. */
export interface Paging {
  readonly first: Statement<{ limit: number }, Row>;
  readonly next: Statement<Row & { limit: number }, Row>;
}

export interface TableStatements {
  readonly whole: Paging;
  /** Without inner references to rows that come later: so each row can be inserted when those before it are there. */
  readonly asInserted: Paging;
  readonly count: Statement<object, { count: number }>;
  readonly insert: Statement<Row, never>;
  /** Sets everything but the key. */
  readonly update: Statement<Row, never>;
  /** For the rows that refer to a later one: their key and the reference. */
  readonly references: { readonly ahead: Paging; readonly set: Statement<Row, never> } | undefined;
}

export function statementsFor(table: CopiedTable): TableStatements {
  const { name, key, columns, innerReference, where = 'true' } = table;
  const order = list(key);
  const paging = (selected: string, condition = where): Paging => {
    const select = `select ${selected} from ${name} where ${condition}`;
    const end: Part[] = [` order by ${order} limit `, parameter('limit')];
    return {
      first: { parts: [select, ...end] },
      next: { parts: [`${select} and (${order}) > (`, ...parameters(key), ')', ...end] },
    };
  };
  const updateOf = (changed: readonly string[]): Statement<Row, never> => ({
    parts: [`update ${name} set `, ...equations(changed, ', '), ' where ', ...equations(key, ' and ')],
  });
  const others = columns.filter((column) => column !== innerReference);
  const id = key[0]!;
  const back = `case when ${innerReference} < ${id} then ${innerReference} end as ${innerReference}`;
  return {
    whole: paging(list(columns)),
    asInserted: paging(innerReference ? `${list(others)}, ${back}` : list(columns)),
    count: { parts: [`select count(*) as count from ${name} where ${where}`] },
    insert: { parts: [`insert into ${name} (${list(columns)}) values (`, ...parameters(columns), ')'] },
    update: updateOf(columns.filter((column) => !key.includes(column))),
    references: innerReference
      ? {
          ahead: paging(list([...key, innerReference]), `${innerReference} > ${id}`),
          set: updateOf([innerReference]),
        }
      : undefined,
  };
}

/** Quoted: some of the names are words of SQL. */
function list(columns: readonly string[]): string {
  return columns.map((column) => `"${column}"`).join(', ');
}

function parameter(name: string): Part {
  return { kind: 'parameter', name };
}

function parameters(names: readonly string[]): Part[] {
  return names.flatMap((name, place) => [place === 0 ? '' : ', ', parameter(name)]);
}

function equations(columns: readonly string[], between: string): Part[] {
  return columns.flatMap((column, place) => [
    `${place === 0 ? '' : between}"${column}" = `,
    parameter(column),
  ]);
}
