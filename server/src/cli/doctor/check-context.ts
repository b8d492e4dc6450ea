/** The input and the results of the checks. The database and the server are queried only once. */

import { type IncomingHttpHeaders, type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { Clock } from '../../clock.ts';
import { databaseOptionsFrom } from '../../config/config.ts';
import type { Settings } from '../../config/settings-table.ts';
import { sqliteFilePath } from '../../database/open-database.ts';
import { type ServerInfo, readServerInfo } from '../../database/postgres/server-info.ts';

export type State = 'ok' | 'skipped' | 'warning' | 'problem';

export interface Finding {
  readonly state: State;
  readonly text: string;
  /** How to solve the problem. */
  readonly fix?: string;
}

/** Yields each finding before the next check, so that it can be printed immediately. */
export type Findings = AsyncIterable<Finding>;

const findingOf =
  (state: State) =>
  (text: string, fix?: string): Finding => ({ state, text, ...(fix !== undefined && { fix }) });

/** Nothing could be checked, and this is not a problem. */
export const skipped = findingOf('skipped');
export const ok = findingOf('ok');
export const warning = findingOf('warning');
export const problem = findingOf('problem');

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
  /** Whether the user named this server explicitly. */
  readonly isExplicit: boolean;
  /** The response of `/livez`. Rejects if there is none. */
  readonly readLiveness: () => Promise<HttpResponse>;
}

export function createCheckContext(
  input: Pick<CheckContext, 'clock' | 'flags' | 'settings'> & Pick<CheckedServer, 'url'>,
): CheckContext {
  const { clock, flags, settings } = input;
  const url = input.url ?? usualUrl(settings);
  return {
    clock,
    flags,
    settings,
    file: sqliteFilePath(settings.databaseUrl),
    postgres: memoize(async () => {
      const facts = await readServerInfo(settings.databaseUrl, databaseOptionsFrom(settings));
      return { ...facts, readAtMs: clock.now() };
    }),
    server: {
      url,
      isExplicit: input.url !== undefined,
      readLiveness: memoize(() => sendRequest(clock, `${url}/livez`)),
    },
  };
}

export function isEspalierAlive({ body }: HttpResponse): boolean {
  return jsonOf<{ status: string }>(body)?.status === 'ok';
}

/** Whether the URL of the server responds, even if it is not Espalier. */
export async function responds({ url, readLiveness }: CheckedServer): Promise<boolean> {
  return url !== undefined && (await readLiveness().catch(() => undefined)) !== undefined;
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

function memoize<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= work());
}

const responseTimeoutMs = 10_000;
const maxBodyBytes = 2 ** 20;

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The time of the response by the clock of this machine. */
  readonly atMs: number;
}

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Rejects a response if this machine does not trust the certificate. */
  readonly mustBeTrusted?: boolean;
}

export function sendRequest(
  clock: Clock,
  url: string,
  { method = 'GET', headers, body, mustBeTrusted = false }: RequestOptions = {},
): Promise<HttpResponse> {
  const request = url.startsWith('https:') ? requestSecure : requestPlain;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
      agent: false,
      rejectUnauthorized: mustBeTrusted,
      signal: AbortSignal.timeout(responseTimeoutMs),
    });
    sent.once('error', (error) => reject(describeError(error)));
    sent.once('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      const atMs = clock.now();
      readStart(response).then(
        (body) => resolve({ status, headers, body, atMs }),
        (error: NodeJS.ErrnoException) => reject(describeError(error)),
      );
    });
    sent.end(body);
  });
}

/** Reads the body up to a limit. The rest of a longer one is not needed. */
async function readStart(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part);
    if ((size += part.length) > maxBodyBytes) break;
  }
  return Buffer.concat(parts).subarray(0, maxBodyBytes).toString();
}

function describeError(error: NodeJS.ErrnoException): Error {
  if (error.name === 'AbortError' || error.name === 'TimeoutError') {
    return new Error(`no response within ${responseTimeoutMs / 1000} seconds`, { cause: error });
  }
  if (error.code === 'ECONNREFUSED') return new Error('no program listens on the port', { cause: error });
  if (error.code === 'ENOTFOUND') return new Error('the host does not exist', { cause: error });
  return new Error(error.message || error.code || 'the connection failed', { cause: error });
}

/** Returns undefined if the body is not JSON. Another program may return any JSON. */
export function jsonOf<T extends object>(body: string): Partial<T> | null | undefined {
  try {
    return JSON.parse(body) as Partial<T> | null;
  } catch {
    return undefined;
  }
}
