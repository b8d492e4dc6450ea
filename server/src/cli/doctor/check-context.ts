/** What the checks look at: the settings, the database, and a server if there is one. Each is asked once. */

import type { Clock } from '../../clock.ts';
import { databaseOptionsFrom, type Settings } from '../../config/config.ts';
import { sqliteFilePath } from '../../database/open-database.ts';
import { readServerInfo, type ServerInfo } from '../../database/postgres/server-info.ts';
import { ask, type Answer } from './http-request.ts';

export interface Examined {
  readonly clock: Clock;
  readonly flags: Readonly<Record<string, string>>;
  readonly settings: Settings;
  /** Of the database file; undefined for a PostgreSQL. */
  readonly file: string | undefined;
  readonly postgres: () => Promise<ServerInfo & { readonly readAtMs: number }>;
  readonly server: ExaminedServer;
}

export interface ExaminedServer {
  /** Undefined if the settings do not define its address. */
  readonly url: string | undefined;
  /** The user named this server explicitly. */
  readonly isGiven: boolean;
  /** What `/livez` says; throws if nothing does. */
  readonly alive: () => Promise<Answer>;
}

export function examine(given: {
  readonly clock: Clock;
  readonly flags: Readonly<Record<string, string>>;
  readonly settings: Settings;
  readonly url: string | undefined;
}): Examined {
  const { clock, flags, settings } = given;
  const url = given.url ?? usualUrl(settings);
  return {
    clock,
    flags,
    settings,
    file: sqliteFilePath(settings.databaseUrl),
    postgres: once(async () => {
      const facts = await readServerInfo(settings.databaseUrl, databaseOptionsFrom(settings));
      return { ...facts, readAtMs: clock.now() };
    }),
    server: { url, isGiven: given.url !== undefined, alive: once(() => ask(clock, `${url}/livez`)) },
  };
}

/** Whether anything answers where the server is looked for. */
export async function answers({ url, alive }: ExaminedServer): Promise<boolean> {
  return url !== undefined && (await alive().catch(() => undefined)) !== undefined;
}

/** Where a server with these settings can be reached from this machine. */
function usualUrl({ host, port, basePath, tlsCertFile }: Settings): string | undefined {
  if (port === 0) return undefined;
  return `${tlsCertFile ? 'https' : 'http'}://${placeOf(host, port)}${basePath}`;
}

/** Who listens on all addresses is reached on this machine's own. */
export function placeOf(host: string, port: number): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${name.includes(':') ? `[${name}]` : name}:${port}`;
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let begun: Promise<T> | undefined;
  return () => (begun ??= work());
}
