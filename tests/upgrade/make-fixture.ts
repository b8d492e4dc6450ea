/**
 * `npm run fixture`: creates the SQLite and PostgreSQL databases of this version for the upgrade tests of later versions.
 * Run it once for each release. Run `npm run fixture schema-<number>` before you add a migration to an unreleased schema.
 */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import BetterSqlite from 'better-sqlite3';
import { postgres } from '../support/databases.ts';
import { withPostgres } from '../postgres/provided-postgres.ts';
import { sql } from '../../server/src/database/statement.ts';
import { storeSignInRows } from '../copy/sign-in-rows.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { fillInstallation, type Facts } from './fill-installation.ts';
import { dumpAsSql } from './sql-text.ts';

const folder = join(import.meta.dirname, 'fixtures');
const manifest = join(import.meta.dirname, '../../server/package.json');
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
const name = process.argv[2] ?? version;

const findSession = sql<object, { userId: string; sessionId: string }>`
  select users.id as "userId", sessions.id as "sessionId" from users join sessions on sessions.user_id = users.id
  where users.username = ${'username'} order by sessions.id limit 1`;

if (existsSync(join(folder, `${name}.sqlite.gz`))) {
  console.error(
    `A fixture of ${name} already exists. The database of a release must not change. To replace another fixture, delete its files first.`,
  );
  process.exitCode = 1;
} else {
  await makeSqliteFixture();
  await withPostgres(makePostgresFixture);
}

async function makeSqliteFixture(): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'espalier-fixture-'));
  try {
    const file = join(temporary, 'espalier.db');
    const facts = await fillCompletely(`sqlite:${file}`);
    const connection = new BetterSqlite(file);
    connection.pragma('journal_mode = delete');
    connection.exec('vacuum');
    connection.close();
    save('sqlite', readFileSync(file), facts);
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

/** Also stores rows of tables that only a provider or an authenticator fills. */
async function fillCompletely(url: string): Promise<Facts> {
  const facts = await fillInstallation(url);
  const { username } = facts.people.reader;
  const session = await withDatabase(url, async (database) => database.get(findSession, { username }));
  await storeSignInRows(url, { ...session!, now: facts.madeAt });
  return facts;
}

async function makePostgresFixture(): Promise<void> {
  const [filled, empty] = [await postgres.create(), await postgres.create()];
  try {
    const facts = await fillCompletely(filled.url);
    save('sql', Buffer.from(await dumpAsSql(filled.url, empty.url)), facts);
  } finally {
    await filled.remove();
    await empty.remove();
  }
}

function save(kind: 'sqlite' | 'sql', contents: Buffer, facts: Facts): void {
  const files = {
    [`${name}.${kind}.gz`]: contents,
    [`${name}.${kind}.facts.gz`]: JSON.stringify(facts, null, 2),
  };
  for (const [file, text] of Object.entries(files)) {
    const bytes = gzipSync(text, { level: 9 });
    writeFileSync(join(folder, file), bytes);
    console.log(`${file}: ${bytes.length} bytes`);
  }
}
