/** Reads a file or standard input, with progress. */

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { StartError } from '../../../config/start-error.ts';

/** Larger than any possible import, and smaller than the longest possible string. */
const maxBytes = 256 * 1024 * 1024;

export async function readBytes(
  path: string | undefined,
  name: string,
  { onRead, signal }: { onRead: (bytes: number, total?: number) => void; signal: AbortSignal },
): Promise<Uint8Array> {
  const cannotRead = (cause: unknown) =>
    new StartError(`Cannot read ${name}: ${(cause as Error).message}.`, { cause });
  try {
    const total = path === undefined ? undefined : (await stat(path)).size;
    const stream: Readable = path === undefined ? process.stdin : createReadStream(path);
    signal.addEventListener('abort', () => stream.destroy(new Error('stopped')), { once: true });
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of stream as AsyncIterable<Buffer>) {
      parts.push(part);
      bytes += part.length;
      if (bytes > maxBytes)
        throw new StartError(`${name} is too large for one import. Import it in several parts.`);
      onRead(bytes, total);
    }
    return Buffer.concat(parts);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof StartError ? error : cannotRead(error);
  }
}
