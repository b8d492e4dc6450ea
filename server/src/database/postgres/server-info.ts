/** Checks that a PostgreSQL server meets the requirements when a database is opened, and reads more facts for `espalier doctor`. */

import pg from 'pg';
import { StartError } from '../../config/start-error.ts';
import type { DatabaseOptions } from '../database.ts';
import { connectionConfig, sessionOptions } from './connections.ts';
import { toStartError, toPostgresError } from './faults.ts';
import { send } from './transaction.ts';

const minVersion = 130_000;

interface BasicServerInfo {
  readonly encoding: string;
  readonly version: string;
  readonly isStandby: boolean;
  /** Null if the server has no such setting: other databases use the protocol of PostgreSQL. */
  readonly fsync: string | null;
  readonly fullPageWrites: string | null;
}

const selectServer = `
  select current_setting('server_encoding') as encoding, current_setting('server_version_num') as version,
    pg_is_in_recovery() as "isStandby", current_setting('fsync', true) as fsync,
    current_setting('full_page_writes', true) as "fullPageWrites"`;

export async function checkServer(
  client: pg.ClientBase,
  log: NonNullable<DatabaseOptions['log']>,
): Promise<void> {
  const { rows } = (await send(client, selectServer)) as pg.QueryResult<BasicServerInfo>;
  const { encoding, version, isStandby, fsync, fullPageWrites } = rows[0]!;
  if (encoding !== 'UTF8') {
    throw new StartError(
      `The database has the encoding ${encoding}; Espalier needs a database with UTF8. Create one with ENCODING 'UTF8' TEMPLATE template0.`,
    );
  }
  if (Number(version) < minVersion) {
    throw new StartError(
      `The database server is PostgreSQL ${Math.floor(Number(version) / 10_000)}; Espalier needs ${minVersion / 10_000} or newer.`,
    );
  }
  if (isStandby) {
    throw new StartError(
      'The PostgreSQL server is a standby, which is read-only. Set ESPALIER_DATABASE_URL to the URL of the primary server.',
    );
  }
  const off = [fsync === 'off' && 'fsync', fullPageWrites === 'off' && 'full_page_writes'].filter(Boolean);
  if (off.length > 0) {
    log(
      'warn',
      `PostgreSQL runs with ${off.join(' and ')} off: a crash of its machine may lose or damage everything. Turn on ${off.join(' and ')} in postgresql.conf.`,
    );
  }
}

export interface ServerInfo extends BasicServerInfo {
  /** For example 18.4. */
  readonly displayVersion: string;
  readonly nowMs: number;
  readonly synchronousCommit: string | null;
  /** The locale of the database, or null if the operating system is not its provider (`datlocprovider`, from PostgreSQL 15). */
  readonly ctype: string | null;
  readonly maxConnections: number | null;
  readonly usedConnections: number | null;
  /** The extension for search is available. */
  readonly hasTrigrams: boolean;
}

const selectDetails = `
  select current_setting('server_version') as "displayVersion", extract(epoch from clock_timestamp()) * 1000 as "nowMs",
    current_setting('synchronous_commit', true) as "synchronousCommit",
    (select datctype from pg_database where datname = current_database()
      and coalesce(to_jsonb(pg_database) ->> 'datlocprovider', 'c') = 'c') as ctype,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as "maxConnections",
    (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as "usedConnections",
    exists (select 1 from pg_available_extensions where name = 'pg_trgm') as "hasTrigrams"`;

export async function readServerInfo(url: string, options: DatabaseOptions): Promise<ServerInfo> {
  const session = sessionOptions(url, options);
  const client = new pg.Client({ ...connectionConfig(url, session), connectionTimeoutMillis: 15_000 });
  // The next query on a broken connection fails with the error.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const basicInfo = (await client.query<BasicServerInfo>(selectServer)).rows[0]!;
    const details = (await client.query<Omit<ServerInfo, keyof BasicServerInfo>>(selectDetails)).rows[0]!;
    return { ...basicInfo, ...details, nowMs: Number(details.nowMs) };
  } catch (error) {
    throw toStartError(toPostgresError(error), session.safeUrl);
  } finally {
    await client.end().catch(() => undefined);
  }
}
