/** Serves the web console at `/console`. Its pages are the only answers of the service that may run scripts. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../refusal.ts';
import { refuseOtherMethods, varyBy } from './endpoint.ts';
import { createHash } from 'crypto';
import { readdirSync, readFileSync } from 'fs';
import { type FileHandle, open } from 'fs/promises';
import { join, sep, extname } from 'path/posix';
import { brotliCompressSync, gzipSync } from 'zlib';

export interface ConsoleOptions {
  /** Where the built files are; null if they have not been built. */
  readonly folder: string | null;
  /** Without a slash at its end. */
  readonly basePath: string;
}

const address = '/console';
/** The console's own address below the API root. */
export const consoleRoot = `${address}/`;
const methods = ['GET', 'HEAD'];
const yearSeconds = 31_536_000;

const policy = (styles: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const consolePolicy = policy("'self'");
/** The editor of the explorer writes style elements as it goes. No other page may. */
const explorerPolicy = policy("'self' 'unsafe-inline'");
const isExplorer = (path: string) => /^explorer(?:\/|$)/.test(path);

export function addConsole(app: FastifyInstance, { folder, basePath }: ConsoleOptions): void {
  const files = folder === null ? undefined : listConsole(folder, basePath + consoleRoot);

  app.route({
    url: address,
    method: methods,
    handler: (_, reply) => reply.redirect(basePath + consoleRoot, 308),
  });
  app.route({
    url: `${address}/*`,
    method: methods,
    handler: (request, reply) => {
      if (!files) {
        throw new Refusal(
          'NOT_FOUND',
          'The console has not been built. Build it with npm run build --workspace console, and start the server again.',
        );
      }
      if (isOtherCase(request.originalUrl, basePath + consoleRoot)) return reply.redirect(request.url, 308);
      return answerFile(files, (request.params as { '*': string })['*'], request, reply);
    },
  });
  for (const url of [address, `${address}/*`]) refuseOtherMethods(app, { url }, methods);
}

function answerFile(
  { page, kept, assets }: ConsoleFiles,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | Promise<FastifyReply> {
  const asset = assets.get(path);
  if (asset) return answerAsset(asset, request, reply);
  const file = kept.get(path) ?? (isPage(path) ? page : undefined);
  if (!file) throw nothingHere();
  return answerKept(file, isExplorer(path) ? explorerPolicy : consolePolicy, request, reply);
}

/** The page compares its own address with the base path letter by letter, and so it is served at one address only. */
function isOtherCase(url: string, root: string): boolean {
  const start = url.toLowerCase().indexOf(root.toLowerCase());
  return start >= 0 && !url.startsWith(root, start);
}

/** The page knows what to show at each of its addresses; those of files end like files. */
function isPage(path: string): boolean {
  return !path.startsWith(assetFolder) && !/\.[^/]*$/.test(path);
}

function answerKept(
  { type, forms }: KeptFile,
  pagePolicy: string,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const encoding = bestOf(forms, headers['accept-encoding']);
  const { content, entityTag } = forms.get(encoding)!;
  describeForm(reply, encoding);
  reply
    .header('content-security-policy', pagePolicy)
    .header('cache-control', 'no-cache')
    .header('etag', entityTag);
  if (headers['if-none-match']?.includes(entityTag)) return reply.code(304).send();
  return reply.header('content-type', type).send(content);
}

async function answerAsset(
  { type, paths }: Asset,
  { method, headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const encoding = bestOf(paths, headers['accept-encoding']);
  const opened = await openAsset(paths.get(encoding)!);
  if (!opened) throw nothingHere();
  const { file, bytes } = opened;
  describeForm(reply, encoding);
  reply
    // A worker runs under the policy of its own script.
    .header('content-security-policy', consolePolicy)
    .header('cache-control', `public, max-age=${yearSeconds}, immutable`)
    .header('content-type', type)
    .header('content-length', bytes);
  if (method !== 'HEAD') return reply.send(file.createReadStream());
  await file.close();
  return reply.send();
}

function describeForm(reply: FastifyReply, encoding: Encoding): void {
  varyBy(reply, 'accept-encoding');
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
}

/** The smallest that the client takes (RFC 9110 §12.5.3). */
function bestOf(forms: ReadonlyMap<Encoding, unknown>, accepted = ''): Encoding {
  const taken = new Set(
    accepted
      .toLowerCase()
      .split(',')
      .filter((each) => !/;\s*q=0(?:\.0*)?\s*$/.test(each))
      .map((each) => each.split(';', 1)[0]!.trim()),
  );
  const isTaken = (encoding: Encoding) => forms.has(encoding) && taken.has(encoding);
  return isTaken('br') ? 'br' : isTaken('gzip') ? 'gzip' : 'identity';
}

function nothingHere(): Refusal {
  return new Refusal('NOT_FOUND', 'There is no such file of the console.');
}
export type Encoding = 'br' | 'gzip' | 'identity';
/** Of a page or an icon, in memory; its tag tells one state of it from another. */

export interface KeptFile {
  readonly type: string;
  readonly forms: ReadonlyMap<Encoding, { readonly content: Buffer; readonly entityTag: string }>;
}
/** Its name tells its content, so that it never changes. It is read when it is asked for. */

export interface Asset {
  readonly type: string;
  readonly paths: ReadonlyMap<Encoding, string>;
}

export interface ConsoleFiles {
  readonly page: KeptFile;
  /** By their paths below the console. */
  readonly kept: ReadonlyMap<string, KeptFile>;
  readonly assets: ReadonlyMap<string, Asset>;
}
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.ttf': 'font/ttf',
  '.wasm': 'application/wasm',
};
const endings: Readonly<Record<Exclude<Encoding, 'identity'>, string>> = { br: '.br', gzip: '.gz' };
const pageName = 'index.html';
export const assetFolder = 'assets/';
/** `at` is the path of the console, with a slash at its end. */

export function listConsole(folder: string, at: string): ConsoleFiles {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) =>
      join(parentPath, name)
        .slice(folder.length + 1)
        .replaceAll(sep, '/'),
    );
  const found = new Set(names);
  const plain = names.filter((name) => extname(name) in types && name !== pageName);
  const read = (name: string) => readFileSync(join(folder, name));
  const assets = plain.filter((name) => name.startsWith(assetFolder));
  const others = plain.filter((name) => !name.startsWith(assetFolder));
  return {
    page: keep(pageName, Buffer.from(atPath(read(pageName).toString(), at))),
    kept: new Map(others.map((name) => [name, keep(name, read(name))])),
    assets: new Map(assets.map((name) => [name, assetOf(folder, name, found)])),
  };
}
/** Undefined if it is there no more: the console has been built anew under a running server. */

export async function openAsset(path: string): Promise<{ file: FileHandle; bytes: number } | undefined> {
  try {
    const file = await open(path);
    return { file, bytes: (await file.stat()).size };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
/** The page is the answer at every depth: what it loads must be named from the top. */
function atPath(page: string, at: string): string {
  return page.replaceAll(/(?<=(?:src|href)=")(?:\.\/|\/console\/)/g, at);
}
function keep(name: string, content: Buffer): KeptFile {
  const digest = createHash('sha256').update(content).digest('base64url');
  const form = (encoding: Encoding, bytes: Buffer) =>
    [encoding, { content: bytes, entityTag: `"${digest}-${encoding}"` }] as const;
  return {
    type: types[extname(name)]!,
    forms: new Map([
      form('br', brotliCompressSync(content)),
      form('gzip', gzipSync(content)),
      form('identity', content),
    ]),
  };
}
function assetOf(folder: string, name: string, found: ReadonlySet<string>): Asset {
  const compressed = Object.entries(endings)
    .filter(([, ending]) => found.has(name + ending))
    .map(([encoding, ending]) => [encoding as Encoding, join(folder, name + ending)] as const);
  return { type: types[extname(name)]!, paths: new Map([...compressed, ['identity', join(folder, name)]]) };
}
