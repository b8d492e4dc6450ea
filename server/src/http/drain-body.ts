/**
 * Lets a client finish sending before it is refused. A response while the body is still arriving is often lost: the
 * connection is closed, and the client never reads the reason.
 */

import type { IncomingMessage } from 'node:http';

/** Larger than any body that a route accepts. Beyond it, the connection may break. */
const maxBytes = 64 * 1024 * 1024;

/** The rest of a longer body is read slowly, one chunk of up to 64 KiB at a time, so that refused clients do not keep the server busy. */
const maxBytesAtOnce = 1024 * 1024;
const pauseMs = 4;

/** Reads and discards the rest of the body, then calls `next`: at once if there is none. Passes whether the whole body was read. */
export function drainBody(request: IncomingMessage, next: (isRead: boolean) => void): void {
  if (!hasBody(request) || request.readableEnded || request.destroyed) {
    next(request.readableEnded);
    return;
  }
  let received = 0;
  let timer: NodeJS.Timeout | undefined;
  const onData = (chunk: Buffer) => {
    received += chunk.length;
    if (received > maxBytes) finish();
    else if (received > maxBytesAtOnce) {
      request.pause();
      timer = setTimeout(() => request.resume(), pauseMs);
    }
  };
  const finish = () => {
    clearTimeout(timer);
    request.off('data', onData).off('end', finish).off('close', finish).off('error', finish);
    next(request.readableEnded);
  };
  request.on('data', onData).on('end', finish).on('close', finish).on('error', finish);
  // Paused if a route has begun to read it.
  request.resume();
}

/** By the request's headers. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return (length !== undefined && length !== '0') || headers['transfer-encoding'] !== undefined;
}
