/** What there is to know of a PostgreSQL server before anything is done with it, also of one that cannot be used. */

import pg from 'pg';
import { redactPassword } from '../../config/url-password.ts';
import type { DatabaseOptions } from '../database.ts';
import { oldestVersion, selectServer, type ServerFacts } from './checks.ts';
import { connectionConfig } from './connections.ts';
import { asFault, toStartError } from './errors.ts';

export interface PostgresFacts extends ServerFacts {
  readonly isTooOld: boolean;
  /** As people say it: 18.4. */
  readonly shownVersion: string;
  readonly nowMs: number;
  readonly synchronousCommit: string | null;
  /** Of the database, if its letters are told apart by the operating system; otherwise null. */
  readonly ctype: string | null;
  readonly mostConnections: number | null;
  readonly usedConnections: number | null;
  /** Whether the extension for search can be had. */
  readonly hasTrigrams: boolean;
}

const selectMore = `
  select current_setting('server_version') as "shownVersion", extract(epoch from clock_timestamp()) * 1000 as "nowMs",
    current_setting('synchronous_commit', true) as "synchronousCommit",
    (select datctype from pg_database where datname = current_database()
      and coalesce(to_jsonb(pg_database) ->> 'datlocprovider', 'c') = 'c') as ctype,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as "mostConnections",
    (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as "usedConnections",
    exists (select 1 from pg_available_extensions where name = 'pg_trgm') as "hasTrigrams"`;

export async function readPostgresFacts(url: string, options: DatabaseOptions): Promise<PostgresFacts> {
  const { poolMode = 'session', timeoutSeconds = 30 } = options;
  const shown = redactPassword(url);
  const keepsSessions = poolMode === 'session';
  const client = new pg.Client({
    ...connectionConfig(url, { keepsSessions, timeoutSeconds, shown }),
    connectionTimeoutMillis: 15_000,
  });
  // One that breaks tells so to whoever asks next.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const server = (await client.query<ServerFacts>(selectServer)).rows[0]!;
    const more = (await client.query<Omit<PostgresFacts, keyof ServerFacts | 'isTooOld'>>(selectMore))
      .rows[0]!;
    return {
      ...server,
      ...more,
      nowMs: Number(more.nowMs),
      isTooOld: Number(server.version) < oldestVersion,
    };
  } catch (error) {
    throw toStartError(asFault(error), shown);
  } finally {
    await client.end().catch(() => undefined);
  }
}
