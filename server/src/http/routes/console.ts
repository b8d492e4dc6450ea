/**
 * Serves the web console at `/console`: static files without secrets, for anyone. Only files that are listed at the start
 * are ever opened. Its pages are the only responses of the service that may run scripts.
 */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../refusal.ts';
import type { HttpServices } from '../http-services.ts';
import { refuseOtherMethods, varyBy } from './endpoint.ts';

const address = '/console';
/** The console's own address below the API root. */
export const consoleRoot = `${address}/`;
const methods = ['GET', 'HEAD'];
const yearSeconds = 31_536_000;
const notBuilt =
  'The console has not been built. Build it with npm run build --workspace console, and start the server again.';

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
/** The editor of the explorer creates style elements. No other page may do this. */
const explorerPolicy = policy("'self' 'unsafe-inline'");
const isExplorer = (path: string) => /^explorer(?:\/|$)/.test(path);

export function addConsole(app: FastifyInstance, { consoleFolder, settings }: HttpServices): void {
  if (consoleFolder === undefined) return;
  const root = settings.basePath + consoleRoot;
  const files = consoleFolder === null ? undefined : listFiles(consoleFolder, root);
  app.route({ url: address, method: methods, handler: (_, reply) => reply.redirect(root, 308) });
  app.route({
    url: `${address}/*`,
    method: methods,
    handler: (request, reply) => {
      if (!files) throw new Refusal('NOT_FOUND', notBuilt);
      if (isOtherCase(request.originalUrl, root)) return reply.redirect(request.url, 308);
      return sendFile(files, (request.params as { '*': string })['*'], request, reply);
    },
  });
  for (const url of [address, `${address}/*`]) refuseOtherMethods(app, { url }, methods);
}

/** The page compares its own address with the base path case-sensitively, so it is served at one address only. */
function isOtherCase(url: string, root: string): boolean {
  const start = url.toLowerCase().indexOf(root.toLowerCase());
  return start >= 0 && !url.startsWith(root, start);
}

function sendFile(
  { page, cached, assets }: ConsoleFiles,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | Promise<FastifyReply> {
  const asset = assets.get(path);
  if (asset) return sendAsset(asset, request, reply);
  const file = cached.get(path) ?? (isPage(path) ? page : undefined);
  if (!file) throw fileNotFound();
  return sendCached(file, isExplorer(path) ? explorerPolicy : consolePolicy, request, reply);
}

/** The single page has many addresses. An address with a file extension belongs to a file. */
function isPage(path: string): boolean {
  return !path.startsWith(assetFolder) && !/\.[^/]*$/.test(path);
}

function sendCached(
  { type, encodings }: CachedFile,
  pagePolicy: string,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const encoding = selectEncoding(encodings, headers['accept-encoding']);
  const { content, entityTag } = encodings.get(encoding)!;
  setEncoding(reply, encoding);
  reply
    .header('content-security-policy', pagePolicy)
    .header('cache-control', 'no-cache')
    .header('etag', entityTag);
  if (headers['if-none-match']?.includes(entityTag)) return reply.code(304).send();
  return reply.header('content-type', type).send(content);
}

async function sendAsset(
  { type, paths }: Asset,
  { method, headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const encoding = selectEncoding(paths, headers['accept-encoding']);
  const { file, bytes } = await openAsset(paths.get(encoding)!);
  setEncoding(reply, encoding);
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

/** The file is missing if the console was built again while the server runs. */
async function openAsset(path: string): Promise<{ file: FileHandle; bytes: number }> {
  try {
    const file = await open(path);
    return { file, bytes: (await file.stat()).size };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw fileNotFound();
    throw error;
  }
}

function setEncoding(reply: FastifyReply, encoding: Encoding): void {
  varyBy(reply, 'accept-encoding');
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
}

/** The smallest encoding that the client accepts (RFC 9110 §12.5.3). */
function selectEncoding(encodings: ReadonlyMap<Encoding, unknown>, header = ''): Encoding {
  const accepted = new Set(
    header
      .toLowerCase()
      .split(',')
      .filter((each) => !/;\s*q=0(?:\.0*)?\s*$/.test(each))
      .map((each) => each.split(';', 1)[0]!.trim()),
  );
  const isPossible = (encoding: Encoding) => encodings.has(encoding) && accepted.has(encoding);
  return isPossible('br') ? 'br' : isPossible('gzip') ? 'gzip' : 'identity';
}

function fileNotFound(): Refusal {
  return new Refusal('NOT_FOUND', 'The console does not contain this file.');
}

type Encoding = 'br' | 'gzip' | 'identity';

/** A page or an icon, in memory. */
interface CachedFile {
  readonly type: string;
  readonly encodings: ReadonlyMap<Encoding, { readonly content: Buffer; readonly entityTag: string }>;
}

/** A file whose name contains a digest of its content, so that it never changes. It is read for each request. */
interface Asset {
  readonly type: string;
  readonly paths: ReadonlyMap<Encoding, string>;
}

interface ConsoleFiles {
  readonly page: CachedFile;
  /** By their paths below the console. */
  readonly cached: ReadonlyMap<string, CachedFile>;
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
const assetFolder = 'assets/';

/** `root` is the path of the console, with a slash at its end. */
function listFiles(folder: string, root: string): ConsoleFiles {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) =>
      join(parentPath, name)
        .slice(folder.length + 1)
        .replaceAll(sep, '/'),
    );
  const found = new Set(names);
  const served = names.filter((name) => extname(name) in types && name !== pageName);
  const read = (name: string) => readFileSync(join(folder, name));
  const assets = served.filter((name) => name.startsWith(assetFolder));
  const others = served.filter((name) => !name.startsWith(assetFolder));
  return {
    page: encodeFile(pageName, Buffer.from(setRoot(read(pageName).toString(), root))),
    cached: new Map(others.map((name) => [name, encodeFile(name, read(name))])),
    assets: new Map(assets.map((name) => [name, listEncodings(folder, name, found)])),
  };
}

/** The page is served at every depth, so the addresses of its files must be absolute. */
function setRoot(page: string, root: string): string {
  return page.replaceAll(/(?<=(?:src|href)=")(?:\.\/|\/console\/)/g, root);
}

function encodeFile(name: string, content: Buffer): CachedFile {
  const digest = createHash('sha256').update(content).digest('base64url');
  const encode = (encoding: Encoding, bytes: Buffer) =>
    [encoding, { content: bytes, entityTag: `"${digest}-${encoding}"` }] as const;
  return {
    type: types[extname(name)]!,
    encodings: new Map([
      encode('br', brotliCompressSync(content)),
      encode('gzip', gzipSync(content)),
      encode('identity', content),
    ]),
  };
}

function listEncodings(folder: string, name: string, found: ReadonlySet<string>): Asset {
  const compressed = Object.entries(endings)
    .filter(([, ending]) => found.has(name + ending))
    .map(([encoding, ending]) => [encoding as Encoding, join(folder, name + ending)] as const);
  return { type: types[extname(name)]!, paths: new Map([...compressed, ['identity', join(folder, name)]]) };
}
