/** The databases on which every promise is tested. */

import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { databaseFolder } from './database-folder.ts';
import { providedPostgresUrl, providedTemplate } from './postgres/provided-postgres.ts';

export interface TestDatabase {
  readonly url: string;
  remove(): Promise<void>;
}

/** Titles of tests and suites that run on one say so: `sessions on SQLite`. By that they are counted. */
export interface DatabaseKind {
  readonly name: string;
  /** A new and empty one. */
  create(): Promise<TestDatabase>;
  /** A new one for a server that is about to start; it may have the schema already, which saves time. */
  createForServer(): Promise<TestDatabase>;
}

/** Names a file with the schema and nothing in it, if there is one. */
export const sqliteTemplateVariable = 'ESPALIER_TEST_SQLITE_TEMPLATE';

export const sqlite: DatabaseKind = {
  name: 'SQLite',
  create: () => createFile(),
  createForServer: () => createFile(process.env[sqliteTemplateVariable]),
};

export const postgres: DatabaseKind = {
  name: 'PostgreSQL',
  create: () => copyDatabase(emptyTemplate),
  createForServer: () => copyDatabase(providedTemplate() ?? emptyTemplate),
};

export const databaseKinds: readonly DatabaseKind[] = [sqlite, postgres];

/** Of tests that go on for a number of rounds: a database elsewhere takes several times as long for each. */
export function roundsOn(kind: DatabaseKind, rounds: number): number {
  return kind === sqlite ? rounds : rounds / 5;
}

function createFile(template?: string): Promise<TestDatabase> {
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

/** Every server has it. */
const emptyTemplate = 'template0';

async function copyDatabase(template: string): Promise<TestDatabase> {
  const name = `espalier_test_${randomBytes(8).toString('hex')}`;
  const url = new URL(providedPostgresUrl());
  url.pathname = name;
  await ask(`create database ${name} template ${template} encoding 'UTF8' ${await fastStrategy()}`);
  return { url: url.href, remove: () => drop(name) };
}

/** Copying files takes half the time of the usual way, which writes all of it to the log; older servers copy anyhow. */
async function fastStrategy(): Promise<string> {
  const [row] = await ask<{ server_version_num: string }>('show server_version_num');
  return Number(row!.server_version_num) >= 150_000 ? 'strategy file_copy' : '';
}

/** With the sessions that are still there. Who is no superuser may not end a vacuum like that, but in the usual way. */
async function drop(name: string): Promise<void> {
  try {
    await ask(`drop database ${name} with (force)`);
  } catch (error) {
    if ((error as pg.DatabaseError).code !== insufficientPrivilege) throw error;
    await ask(`drop database ${name}`);
  }
}

const insufficientPrivilege = '42501';

let connections: pg.Pool | undefined;

/** Asks the server itself, over a connection that is kept for the next question. */
async function ask<Row extends pg.QueryResultRow>(question: string): Promise<Row[]> {
  if (!connections) {
    connections = new pg.Pool({ connectionString: providedPostgresUrl(), max: 2, allowExitOnIdle: true });
    // One that breaks while it is idle is replaced.
    connections.on('error', () => undefined);
  }
  return (await connections.query<Row>(question)).rows;
}
