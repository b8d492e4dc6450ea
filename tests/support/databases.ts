/** The databases on which every test of the contract runs. */

import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { databaseFolder } from '../runner/database-folder.ts';
import { providedPostgresUrl, providedTemplate } from '../postgres/provided-postgres.ts';

export interface TestDatabase {
  readonly url: string;
  remove(): Promise<void>;
}

/**
 * Titles of tests and suites name their database, for example `sessions on SQLite`. The reporter counts tests by that
 * name.
 */
export interface DatabaseKind {
  readonly name: string;
  /** Creates an empty database. */
  create(): Promise<TestDatabase>;
  /** Creates a database for a server. It may contain the schema already, which saves time. */
  createForServer(): Promise<TestDatabase>;
}

/** Names an optional file that contains the schema and no rows. */
export const sqliteTemplateVariable = 'ESPALIER_TEST_SQLITE_TEMPLATE';

export const sqlite: DatabaseKind = {
  name: 'SQLite',
  create: () => createDatabaseFile(),
  createForServer: () => createDatabaseFile(process.env[sqliteTemplateVariable]),
};

export const postgres: DatabaseKind = {
  name: 'PostgreSQL',
  create: () => copyDatabase(emptyTemplate),
  createForServer: () => copyDatabase(providedTemplate() ?? emptyTemplate),
};

export const databaseKinds: readonly DatabaseKind[] = [sqlite, postgres];

/** Reduces the number of rounds on PostgreSQL, where each round takes several times as long. */
export function scaleRounds(kind: DatabaseKind, rounds: number): number {
  return kind === sqlite ? rounds : rounds / 5;
}

function createDatabaseFile(template?: string): Promise<TestDatabase> {
  const folder = mkdtempSync(join(databaseFolder(), 'espalier-test-'));
  const file = join(folder, 'espalier.db');
  if (template !== undefined) copyFileSync(template, file);
  return Promise.resolve({
    url: `sqlite:${file}`,
    remove() {
      rmSync(folder, { recursive: true });
      return Promise.resolve();
    },
  });
}

/** Every PostgreSQL server has this template. */
const emptyTemplate = 'template0';

async function copyDatabase(template: string): Promise<TestDatabase> {
  const name = `espalier_test_${randomBytes(8).toString('hex')}`;
  const url = new URL(providedPostgresUrl());
  url.pathname = name;
  await runStatement(`create database ${name} template ${template} encoding 'UTF8' ${await fastStrategy()}`);
  return { url: url.href, remove: () => drop(name) };
}

/**
 * Copying files takes half the time of the default strategy, which writes the copy to the WAL. Servers before version
 * 15 copy files anyway.
 */
async function fastStrategy(): Promise<string> {
  const [row] = await runStatement<{ server_version_num: string }>('show server_version_num');
  return Number(row!.server_version_num) >= 150_000 ? 'strategy file_copy' : '';
}

/**
 * Drops the database and ends its open sessions. If a vacuum runs, only a superuser may end it. Other users
 * then drop the database without force.
 */
async function drop(name: string): Promise<void> {
  try {
    await runStatement(`drop database ${name} with (force)`);
  } catch (error) {
    if ((error as pg.DatabaseError).code !== insufficientPrivilege) throw error;
    await runStatement(`drop database ${name}`);
  }
}

const insufficientPrivilege = '42501';

let connections: pg.Pool | undefined;

/** Runs a statement on the server over a pooled connection. */
async function runStatement<Row extends pg.QueryResultRow>(statement: string): Promise<Row[]> {
  if (!connections) {
    connections = new pg.Pool({ connectionString: providedPostgresUrl(), max: 2, allowExitOnIdle: true });
    // The pool replaces a connection that breaks while it is idle.
    connections.on('error', () => undefined);
  }
  return (await connections.query<Row>(statement)).rows;
}
