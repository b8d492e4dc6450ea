/** Reads the query plans of both databases, and finds out whether a statement uses an index. */

import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { postgres, sqlite, type DatabaseKind } from '../support/databases.ts';

export interface Plan {
  /** Full scans of structures that may be long. */
  readonly scans: readonly string[];
  /** The steps that select the rows of a page: names of indexes, or other operations. */
  readonly pageSteps: readonly string[];
}

export function readPlan(kind: DatabaseKind, url: string, statement: string): Plan | Promise<Plan> {
  return kind === sqlite ? planOfSqlite(url, statement) : planOfPostgres(url, statement);
}

/** Updates the statistics before reading plans, for databases that use them. */
export async function updateStatistics(kind: DatabaseKind, url: string): Promise<void> {
  if (kind === postgres) await withClient(url, (client) => client.query('analyze'));
}

/** Scans of list parameters, intermediate results and tables with one row. */
const allowedScan =
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
    // The statement reads the list of one parent, so its top-level steps choose the rows.
    const pageSteps = steps.filter(({ parent }) => parent === 0).map(({ detail }) => detail);
    // A recursive query that is materialized reads everything below a folder, whatever the limit is.
    const scans = steps
      .map(({ detail }) => detail)
      .filter((detail) => /^(SCAN |MATERIALIZE visible)/.test(detail));
    return {
      scans: scans.filter((detail) => !allowedScan.test(detail)),
      pageSteps: pageSteps.map(
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

/** Tables with one row, or with too few rows in this test for an index. */
const shortTables = ['journal_counter', 'folder_numbers', 'users', 'group_members', 'grants'];

/** A generic plan for any values: https://www.postgresql.org/docs/current/sql-explain.html */
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
      pageSteps: choices.map((node) => (isByIndex(node) ? node['Index Name']! : node['Node Type'])),
    };
  });
}

/** A partial index may be read completely if the statement has the same condition. */
function isScan(node: Node): boolean {
  const isIndexUnused =
    node['Index Name'] !== undefined && node['Index Cond'] === undefined && node.Filter !== undefined;
  return node['Node Type'] === 'Seq Scan' || isIndexUnused;
}

/** Reads in the order of the index without filtering rows afterwards. */
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
