/** How each database means to find the rows of a statement, as far as it says whether an index answers. */

import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { postgres, sqlite, type DatabaseKind } from '../support/databases.ts';

export interface Plan {
  /** What is read from end to end, although it may be long. */
  readonly scans: readonly string[];
  /** How the rows of a page are chosen: by the indexes with these names, or whatever else is done. */
  readonly choice: readonly string[];
}

export function planOf(kind: DatabaseKind, url: string, statement: string): Plan | Promise<Plan> {
  return kind === sqlite ? planOfSqlite(url, statement) : planOfPostgres(url, statement);
}

/** Before plans are asked for: a database that keeps statistics for them is to know the rows. */
export async function noteStatistics(kind: DatabaseKind, url: string): Promise<void> {
  if (kind === postgres) await withClient(url, (client) => client.query('analyze'));
}

/** Lists that were given, what was found just before, and tables of one row. */
const scannable =
  /^SCAN (each|json_each|folder_trigrams) VIRTUAL TABLE|^SCAN (up|walk|possible|visible|open|journal_counter|folder_numbers|\(subquery-\d+\))$/;

/** https://www.sqlite.org/eqp.html */
function planOfSqlite(url: string, statement: string): Plan {
  const database = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true });
  try {
    const steps = database.prepare(`explain query plan ${statement}`).all() as unknown as readonly {
      id: number;
      parent: number;
      detail: string;
    }[];
    // The list of one parent is a statement of its own. Its rows are chosen by the steps at the top.
    const choice = steps.filter(({ parent }) => parent === 0).map(({ detail }) => detail);
    const scans = steps.map(({ detail }) => detail).filter((detail) => detail.startsWith('SCAN '));
    return {
      scans: scans.filter((detail) => !scannable.test(detail)),
      choice: choice.map(
        (text) => /^SEARCH folders USING (?:COVERING )?INDEX (\S+) /.exec(text)?.[1] ?? text,
      ),
    };
  } finally {
    database.close();
  }
}

interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Filter?: string;
  readonly Plans?: readonly Node[];
}

/** Of one row, or of so few here that an index would not pay. */
const shortTables = ['journal_counter', 'folder_numbers', 'users', 'group_members', 'grants'];

/** https://www.postgresql.org/docs/current/sql-explain.html, whatever the values may be. */
function planOfPostgres(url: string, statement: string): Promise<Plan> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
      `explain (generic_plan, format json) ${statement}`,
    );
    const [top, ...below] = nodesOf(rows[0]!['QUERY PLAN'][0].Plan);
    const choices = below.filter((node) => node['Node Type'] === 'Limit').flatMap(({ Plans = [] }) => Plans);
    return {
      scans: [top!, ...below]
        .filter((node) => isScan(node) && !shortTables.includes(node['Relation Name']!))
        .map((node) => `${node['Node Type']} of ${node['Relation Name']}`),
      choice: choices.map((node) => (isByIndex(node) ? node['Index Name']! : node['Node Type'])),
    };
  });
}

/** An index with a condition of its own may be read as it is, if it is meant for the statement's very condition. */
function isScan(node: Node): boolean {
  const isIndexUnused =
    node['Index Name'] !== undefined && node['Index Cond'] === undefined && node.Filter !== undefined;
  return node['Node Type'] === 'Seq Scan' || isIndexUnused;
}

/** In the order of the index, and with nothing left out afterwards. */
const isByIndex = (node: Node) =>
  node['Node Type'] === 'Index Scan' && node['Index Cond'] !== undefined && node.Filter === undefined;

function nodesOf(node: Node): Node[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
