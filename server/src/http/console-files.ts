/**
 * The web console: static files that were built beforehand, for anybody, since they hold nothing secret. They are listed
 * once, and nothing that is not in the list is ever opened.
 */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

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
