/**
 * Sends an import with progress. If the user stops the import, the server has imported everything or nothing, and the
 * command reports which.
 */

import {
  newIdempotencyKey,
  type Client,
  type ImportOptions,
  type ImportResult,
  type PathToImport,
} from '@espalier/client';
import { cancelImport } from '@espalier/client/files';
import { StoppedError } from '../../api/connection.ts';
import type { Progress } from '../../terminal/progress.ts';

export type ImportInput = Pick<ImportOptions, 'parentId' | 'onExisting'> & {
  readonly list: readonly PathToImport[];
};

const chunkBytes = 64 * 1024;
const kilobyte = 1_000;
/** A large import takes the server much longer than other changes. */
export const importTimeoutSeconds = 3_600;

export class ImportUpload {
  readonly #progress: Progress;
  #isSending = false;
  /** The server may have received everything. */
  #isSent = false;
  readonly #key = newIdempotencyKey();

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  /** The `fetch` for the client, which shows the progress of the upload. */
  readonly fetch: typeof fetch = (input, init) => {
    const isGraph = new URL(input instanceof Request ? input.url : input).pathname.endsWith('/graphql');
    if (!isGraph || !this.#isSending || typeof init?.body !== 'string') return fetch(input, init);
    const body = this.#streamWithProgress(Buffer.from(init.body));
    return fetch(input, { ...init, body, duplex: 'half' });
  };

  async send(client: Client, { list, ...input }: ImportInput, signal: AbortSignal): Promise<ImportResult> {
    signal.throwIfAborted();
    this.#isSending = true;
    const requestAbort = new AbortController();
    const options = {
      ...input,
      signal: requestAbort.signal,
      idempotencyKey: this.#key,
      timeoutSeconds: importTimeoutSeconds,
    };
    const importing = client.folders.importList(list, options);
    const stopped = new Promise<undefined>((resolve) => {
      signal.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    const result = await Promise.race([importing, stopped]);
    if (result !== undefined) return result;
    importing.catch(() => undefined);
    this.#isSending = false;
    try {
      if (this.#isSent) await this.#stop(client, input.parentId!);
    } finally {
      requestAbort.abort();
    }
    throw new StoppedError('Nothing was imported.');
  }

  async #stop(client: Client, parentId: string): Promise<void> {
    this.#progress.wait('Stopping the import');
    const options = { idempotencyKey: this.#key, parentId };
    const isCanceled = await cancelImport(client, options).catch((cause: unknown) => {
      const text = 'The stop request failed. The server imports all folders or none.';
      throw new StoppedError(`${text} Check whether the import was completed.`, { cause });
    });
    if (isCanceled) return;
    throw new StoppedError(
      "The import was completed before it could be stopped. To undo it, run 'espalier folder delete -r'.",
    );
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
