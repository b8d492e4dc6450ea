/** Loads the databases of earlier versions from `fixtures/`, with the data that a test must find in them. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { sqlite, type DatabaseKind, type TestDatabase } from '../support/databases.ts';
import { TestClock } from '../support/testbed.ts';
import type { Facts } from './fill-installation.ts';

const folder = join(import.meta.dirname, 'fixtures');

/** Each fixture exists for every kind of database. */
export const fixtureNames: readonly string[] = readdirSync(folder)
  .filter((file) => file.endsWith('.sqlite.gz'))
  .map((file) => file.replace('.sqlite.gz', ''))
  .toSorted();

export class Fixture {
  readonly facts: Facts;
  readonly #contents: Buffer;
  readonly #kind: DatabaseKind;

  constructor(name: string, kind: DatabaseKind) {
    const extension = kind === sqlite ? 'sqlite' : 'sql';
    this.#kind = kind;
    this.#contents = read(`${name}.${extension}.gz`);
    const facts = JSON.parse(read(`${name}.${extension}.facts.gz`).toString()) as Facts;
    this.facts = { ...facts, asked: facts.asked.map(toCurrentSchema) };
  }

  /** Creates a database with the contents of the fixture. */
  async load(): Promise<TestDatabase> {
    const database = await this.#kind.create();
    if (this.#kind === sqlite) {
      const file = database.url.slice('sqlite:'.length);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, this.#contents, { mode: 0o600 });
    } else {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      await client.query(this.#contents.toString());
      await client.end();
    }
    return database;
  }

  /** Returns a clock with the time at which the fixture was made. */
  clock(): TestClock {
    const clock = new TestClock();
    clock.advanceMs(this.facts.madeAt - clock.now());
    return clock;
  }
}

type RecordedQuery = Facts['asked'][number];

/** Before the first release, `Folder.access` and `User.groups` were lists; now they are connections. */
function toCurrentSchema({ as, query, data }: RecordedQuery): RecordedQuery {
  const isConnection = (key: string) => key === 'access' || key === 'groups';
  return {
    as,
    query: query
      .replace(/access\{(user\{username\} group\{name\} level grantedAt)\}/, 'access{items{$1}}')
      .replace('groups{id name}', 'groups{items{id name}}'),
    data: JSON.parse(JSON.stringify(data), (key, value: unknown) =>
      isConnection(key) && Array.isArray(value) ? { items: value as unknown[] } : value,
    ) as unknown,
  };
}

function read(file: string): Buffer {
  return gunzipSync(readFileSync(join(folder, file)));
}
