/**
 * `npm run fixture`: makes the databases of this version that later ones are tested with, on SQLite and on PostgreSQL. To be
 * run once for each release, and never again for the same.
 */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import BetterSqlite from 'better-sqlite3';
import { postgres } from '../databases.ts';
import { withPostgres } from '../postgres/provided-postgres.ts';
import { fillInstallation, type Facts } from './fill-installation.ts';
import { toSqlText } from './sql-text.ts';

const folder = join(import.meta.dirname, 'fixtures');
const manifest = join(import.meta.dirname, '../../server/package.json');
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
const name = process.argv[2] ?? version;

if (existsSync(join(folder, `${name}.sqlite.gz`))) {
  console.error(
    `There is a fixture of ${name} already, and databases of a release do not change: delete it first.`,
  );
  process.exitCode = 1;
} else {
  await makeFile();
  await withPostgres(makeText);
}

async function makeFile(): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'espalier-fixture-'));
  try {
    const file = join(place, 'espalier.db');
    const facts = await fillInstallation(`sqlite:${file}`);
    const connection = new BetterSqlite(file);
    connection.pragma('journal_mode = delete');
    connection.exec('vacuum');
    connection.close();
    keep('sqlite', readFileSync(file), facts);
  } finally {
    rmSync(place, { recursive: true });
  }
}

async function makeText(): Promise<void> {
  const [filled, empty] = [await postgres.create(), await postgres.create()];
  try {
    const facts = await fillInstallation(filled.url);
    keep('sql', Buffer.from(await toSqlText(filled.url, empty.url)), facts);
  } finally {
    await filled.remove();
    await empty.remove();
  }
}

function keep(kind: 'sqlite' | 'sql', contents: Buffer, facts: Facts): void {
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
