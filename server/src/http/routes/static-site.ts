/**
 * Serves folders of built files without secrets, for anyone: the console and the documentation. Only files that are listed
 * at the start are ever opened. Their pages are the only responses of the service that may run scripts.
 */

import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../refusal.ts';
import { refuseOtherMethods, varyBy } from './endpoint.ts';

export interface StaticSite {
  /** Below the API root, for example `/console`. */
  readonly address: string;
  readonly basePath: string;
  readonly folder: string;
  readonly notFound: string;
  /** Returns the name of the file for a path below the address. Not called for a path that names a file. */
  readonly findPage: (path: string) => string | undefined;
  /** Whether the build wrote compressed copies of assets, and assets do not contain the address of the site. */
  readonly isPrecompressed: boolean;
  /** Replaces the address of the site in a text. `root` is its path with the base path and a slash at its end. */
  readonly setRoot: (text: string, root: string) => string;
  /** The Content Security Policy of the response. `text` is undefined for a file whose name contains its digest. */
  readonly policy: (path: string, text: string | undefined) => string;
}

const methods = ['GET', 'HEAD'];
const yearSeconds = 31_536_000;
const assetFolder = 'assets/';
const brotliQuality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** The rules of a Content Security Policy for pages that load only files of their own origin. */
export function pagePolicy({ scripts, styles }: { scripts: string; styles: string }): string {
  return [
    "default-src 'none'",
    `script-src ${scripts}`,
    `style-src ${styles}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

export function addStaticSite(app: FastifyInstance, site: StaticSite): void {
  const { address, basePath } = site;
  const root = `${basePath}${address}/`;
  const files = new StaticFiles(site, root);
  addSiteRoutes(app, address, root, (request, reply) => {
    if (isOtherCase(request.originalUrl, root)) return reply.redirect(request.url, 308);
    return files.send((request.params as { '*': string })['*'], request, reply);
  });
}

/** Adds the routes of a site that was not built. */
export function addMissingSite(app: FastifyInstance, address: string, root: string, reason: string): void {
  addSiteRoutes(app, address, root, () => {
    throw new Refusal('NOT_FOUND', reason);
  });
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>;

function addSiteRoutes(app: FastifyInstance, address: string, root: string, handler: Handler): void {
  app.route({ url: address, method: methods, handler: (_, reply) => reply.redirect(root, 308) });
  app.route({ url: `${address}/*`, method: methods, handler });
  for (const url of [address, `${address}/*`]) refuseOtherMethods(app, { url }, methods);
}

/** A page compares its own address with the base path case-sensitively, so it is served at one address only. */
function isOtherCase(url: string, root: string): boolean {
  const start = url.toLowerCase().indexOf(root.toLowerCase());
  return start >= 0 && !url.startsWith(root, start);
}

type Encoding = 'br' | 'gzip' | 'identity';

/** A file in memory. */
interface CachedFile {
  readonly text: string | undefined;
  readonly encodings: ReadonlyMap<Encoding, { readonly content: Buffer; readonly entityTag: string }>;
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

class StaticFiles {
  readonly #site: StaticSite;
  readonly #root: string;
  readonly #names: ReadonlySet<string>;
  /** Files are read at the first request, so that a large site does not delay the start. */
  readonly #cache = new Map<string, Promise<CachedFile>>();

  constructor(site: StaticSite, root: string) {
    this.#site = site;
    this.#root = root;
    this.#names = new Set(listNames(site.folder));
  }

  async send(path: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { findPage, isPrecompressed, notFound } = this.#site;
    const name = this.#isServed(path) ? path : findPage(path);
    if (name === undefined || !this.#isServed(name)) throw new Refusal('NOT_FOUND', notFound);
    try {
      return name.startsWith(assetFolder) && (isPrecompressed || !isText(name))
        ? await this.#sendAsset(name, request, reply)
        : await this.#sendCached(name, path, request, reply);
    } catch (error) {
      // The file is missing if the site was built again while the server runs.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new Refusal('NOT_FOUND', notFound);
      throw error;
    }
  }

  #isServed(name: string): boolean {
    return this.#names.has(name) && typeOf(name) !== undefined;
  }

  /** An asset has a digest of its content in its name, so it never changes. It is read for each request. */
  async #sendAsset(name: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const available = new Set<Encoding>(['identity']);
    for (const [encoding, ending] of Object.entries(endings))
      if (this.#names.has(name + ending)) available.add(encoding as Encoding);
    const encoding = selectEncoding(available, request.headers['accept-encoding']);
    const suffix = encoding === 'identity' ? '' : endings[encoding];
    const { file, bytes } = await openFile(join(this.#site.folder, name + suffix));
    setEncoding(reply, encoding);
    reply
      // A worker runs under the policy of its own script.
      .header('content-security-policy', this.#site.policy(name, undefined))
      .header('cache-control', cacheControl(name))
      .header('content-type', typeOf(name))
      .header('content-length', bytes);
    if (request.method !== 'HEAD') return reply.send(file.createReadStream());
    await file.close();
    return reply.send();
  }

  async #sendCached(
    name: string,
    path: string,
    { headers }: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const { text, encodings } = await this.#load(name);
    const encoding = selectEncoding(encodings, headers['accept-encoding']);
    const { content, entityTag } = encodings.get(encoding)!;
    setEncoding(reply, encoding);
    reply
      .header('content-security-policy', this.#site.policy(path, text))
      .header('cache-control', cacheControl(name))
      .header('etag', entityTag);
    if (headers['if-none-match']?.includes(entityTag)) return reply.code(304).send();
    return reply.header('content-type', typeOf(name)).send(content);
  }

  #load(name: string): Promise<CachedFile> {
    const loading = this.#cache.get(name) ?? this.#read(name);
    this.#cache.set(name, loading);
    loading.catch(() => this.#cache.delete(name));
    return loading;
  }

  async #read(name: string): Promise<CachedFile> {
    const { folder, setRoot } = this.#site;
    const content = await readFile(join(folder, name));
    if (!isText(name)) return { text: undefined, encodings: new Map([encode('identity', content)]) };
    return encodeText(setRoot(content.toString(), this.#root));
  }
}

function listNames(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) =>
      join(parentPath, name)
        .slice(folder.length + 1)
        .replaceAll(sep, '/'),
    );
}

/** Copies of files of the repository, for example configurations. */
const copyFolder = 'files/';

function typeOf(name: string): string | undefined {
  return types[extname(name)] ?? (name.startsWith(copyFolder) ? types['.txt'] : undefined);
}

function isText(name: string): boolean {
  return /^(text\/|application\/.*json|image\/svg)/.test(typeOf(name) ?? '');
}

function cacheControl(name: string): string {
  return name.startsWith(assetFolder) ? `public, max-age=${yearSeconds}, immutable` : 'no-cache';
}

async function openFile(path: string): Promise<{ file: FileHandle; bytes: number }> {
  const file = await open(path);
  return { file, bytes: (await file.stat()).size };
}

async function encodeText(text: string): Promise<CachedFile> {
  const content = Buffer.from(text);
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(content, brotliQuality),
    promisify(gzip)(content),
  ]);
  const encodings = new Map([encode('br', br), encode('gzip', zipped), encode('identity', content)]);
  return { text, encodings };
}

function encode(encoding: Encoding, content: Buffer): [Encoding, { content: Buffer; entityTag: string }] {
  const digest = createHash('sha256').update(content).digest('base64url');
  return [encoding, { content, entityTag: `"${digest}"` }];
}

function setEncoding(reply: FastifyReply, encoding: Encoding): void {
  varyBy(reply, 'accept-encoding');
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
}

/** The smallest encoding that the client accepts (RFC 9110 §12.5.3). */
function selectEncoding(available: { has(encoding: Encoding): boolean }, header = ''): Encoding {
  const accepted = new Set(
    header
      .toLowerCase()
      .split(',')
      .filter((each) => !/;\s*q=0(?:\.0*)?\s*$/.test(each))
      .map((each) => each.split(';', 1)[0]!.trim()),
  );
  const isPossible = (encoding: Encoding) => available.has(encoding) && accepted.has(encoding);
  return isPossible('br') ? 'br' : isPossible('gzip') ? 'gzip' : 'identity';
}
