/**
 * Sends an import with progress. If the user stops it, the import is complete or was not made at all, and the command reports
 * which.
 */

import {
  EspalierError,
  type Client,
  type ImportOptions,
  type ImportResult,
  type PathToImport,
} from '@espalier/client';
import { Stopped } from '../../api/connection.ts';
import type { Progress } from '../../terminal/progress.ts';

export type ImportInput = Pick<ImportOptions, 'parentId' | 'onExisting'> & {
  readonly list: readonly PathToImport[];
};

const chunkBytes = 64 * 1024;
const kilobyte = 1_000;
/** A large import takes the server much longer than other changes. */
export const importTimeoutSeconds = 3_600;
const keyHeader = 'idempotency-key';

/**
 * Cancels the import by using its idempotency key for a change without effect. If the import was made, the server refuses this
 * one with BAD_INPUT; otherwise it refuses the import from now on. The alias `importFolders` is required, because the digest of
 * a key includes the path of the change in the response.
 */
const cancelMutation = `mutation($input: UpdateFolderInput!) { importFolders: updateFolder(input: $input) { folder { id } } }`;

export class ImportUpload {
  readonly #progress: Progress;
  #phase: 'before' | 'sending' | 'stopping' = 'before';
  /** The server may have received everything. */
  #isSent = false;
  #key: string | undefined;

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  /** The `fetch` of the client. It adds progress and the idempotency key. */
  readonly fetch: typeof fetch = (input, init) => {
    const isGraph = new URL(input instanceof Request ? input.url : input).pathname.endsWith('/graphql');
    if (!isGraph || this.#phase === 'before' || typeof init?.body !== 'string') return fetch(input, init);
    const headers = new Headers(init.headers);
    if (this.#phase === 'stopping') {
      if (this.#key !== undefined) headers.set(keyHeader, this.#key);
      return fetch(input, { ...init, headers });
    }
    this.#key = headers.get(keyHeader) ?? undefined;
    return fetch(input, {
      ...init,
      headers,
      body: this.#streamWithProgress(Buffer.from(init.body)),
      duplex: 'half',
    });
  };

  async send(client: Client, { list, ...input }: ImportInput, signal: AbortSignal): Promise<ImportResult> {
    signal.throwIfAborted();
    this.#phase = 'sending';
    const leaving = new AbortController();
    const options = { ...input, signal: leaving.signal, timeoutSeconds: importTimeoutSeconds };
    const importing = client.folders.importList(list, options);
    const stopped = new Promise<undefined>((resolve) => {
      signal.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    const made = await Promise.race([importing, stopped]);
    if (made !== undefined) return made;
    importing.catch(() => undefined);
    this.#phase = 'stopping';
    try {
      if (this.#isSent) await this.#stop(client, input.parentId!);
    } finally {
      leaving.abort();
    }
    throw new Stopped('Nothing was imported.');
  }

  async #stop(client: Client, parentId: string): Promise<void> {
    this.#progress.wait('Stopping the import');
    try {
      type Answer = { importFolders: object | null } | null;
      const taken = await client.mutate<Answer, object>(cancelMutation, { input: { id: parentId } });
      if (!taken?.importFolders) throw new Error('The response is empty.');
    } catch (error) {
      const isMade = error instanceof EspalierError && error.code === 'BAD_INPUT';
      throw new Stopped(
        isMade
          ? 'The import was completed before it could be stopped. To undo it, run espalier folder delete -r.'
          : 'The stop request failed. The server imports all folders or none. Check whether the import was made.',
      );
    }
  }

  #streamWithProgress(body: Buffer): ReadableStream<Uint8Array> {
    const total = Math.ceil(body.length / kilobyte);
    let sent = 0;
    return new ReadableStream({
      pull: (controller) => {
        this.#progress.show('Sending kB', Math.min(Math.ceil(sent / kilobyte), total), total);
        if (sent < body.length) {
          controller.enqueue(body.subarray(sent, sent + chunkBytes));
          sent += chunkBytes;
          return;
        }
        this.#isSent = true;
        this.#progress.wait('The server is importing');
        controller.close();
      },
    });
  }
}
