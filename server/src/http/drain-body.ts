/**
 * Lets a client finish sending before it is refused. An answer while the body is still on its way is often lost: the
 * connection ends under the client's hands, and it never learns why.
 */

import type { IncomingMessage } from 'node:http';
import type { ReceivedRequest } from './received-request.ts';

/** Enough for any body that another request could have been allowed; beyond it, the connection may break. */
const mostBytes = 64 * 1024 * 1024;

/** The rest of a longer body is read slowly, one chunk of up to 64 KiB at a time, so that refused clients do not keep the server busy. */
const mostBytesAtOnce = 1024 * 1024;
const pauseMs = 4;

/** Reads and forgets what is left of the body, then goes on; at once if there is nothing left. Tells whether all was read. */
export function drainBody(raw: IncomingMessage, next: (isRead: boolean) => void): void {
  const request = raw as ReceivedRequest;
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  const hasBody = encoding !== undefined || (length !== undefined && length !== '0');
  if (!hasBody || request.isRead || request.destroyed) {
    next(request.isRead);
    return;
  }
  let received = 0;
  let timer: NodeJS.Timeout | undefined;
  const onData = (chunk: Buffer) => {
    received += chunk.length;
    if (received > mostBytes) finish();
    else if (received > mostBytesAtOnce) {
      request.pause();
      timer = setTimeout(() => request.resume(), pauseMs);
    }
  };
  const finish = () => {
    clearTimeout(timer);
    request.off('data', onData).off('end', finish).off('close', finish).off('error', finish);
    next(request.isRead);
  };
  request.on('data', onData).on('end', finish).on('close', finish).on('error', finish);
  // It was paused, if somebody had begun to read it.
  request.resume();
}
