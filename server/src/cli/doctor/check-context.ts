/** The input of the checks: the settings, the database and the server. The database and the server are queried only once. */

import type { Clock } from '../../clock.ts';
import { databaseOptionsFrom, type Settings } from '../../config/config.ts';
import { sqliteFilePath } from '../../database/open-database.ts';
import { readServerInfo, type ServerInfo } from '../../database/postgres/server-info.ts';
import { sendRequest, type HttpResponse } from './http-request.ts';

export interface CheckContext {
  readonly clock: Clock;
  readonly flags: Readonly<Record<string, string>>;
  readonly settings: Settings;
  /** The path of the database file; undefined for PostgreSQL. */
  readonly file: string | undefined;
  readonly postgres: () => Promise<ServerInfo & { readonly readAtMs: number }>;
  readonly server: CheckedServer;
}

export interface CheckedServer {
  /** Undefined if the settings do not define its address. */
  readonly url: string | undefined;
  /** The user named this server explicitly. */
  readonly isExplicit: boolean;
  /** The response of `/livez`. Rejects if there is none. */
  readonly alive: () => Promise<HttpResponse>;
}

export function createCheckContext(input: {
  readonly clock: Clock;
  readonly flags: Readonly<Record<string, string>>;
  readonly settings: Settings;
  readonly url: string | undefined;
}): CheckContext {
  const { clock, flags, settings } = input;
  const url = input.url ?? usualUrl(settings);
  return {
    clock,
    flags,
    settings,
    file: sqliteFilePath(settings.databaseUrl),
    postgres: once(async () => {
      const facts = await readServerInfo(settings.databaseUrl, databaseOptionsFrom(settings));
      return { ...facts, readAtMs: clock.now() };
    }),
    server: {
      url,
      isExplicit: input.url !== undefined,
      alive: once(() => sendRequest(clock, `${url}/livez`)),
    },
  };
}

/** Whether the URL of the server responds, even if it is not Espalier. */
export async function responds({ url, alive }: CheckedServer): Promise<boolean> {
  return url !== undefined && (await alive().catch(() => undefined)) !== undefined;
}

/** The URL of a server with these settings, as seen from this machine. */
function usualUrl({ host, port, basePath, tlsCertFile }: Settings): string | undefined {
  if (port === 0) return undefined;
  return `${tlsCertFile ? 'https' : 'http'}://${formatAddress(host, port)}${basePath}`;
}

/** A server that listens on all addresses is reached at the loopback address. */
export function formatAddress(host: string, port: number): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${name.includes(':') ? `[${name}]` : name}:${port}`;
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let begun: Promise<T> | undefined;
  return () => (begun ??= work());
}
