/**
 * Refuses what cannot be read, or does not come: its connection ends with it. It is told of as every request is, once, and by
 * the id that its sender was told. Never says anything of what was sent.
 */

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { answerBrokenRequest, lingerMs } from './answers.ts';
import { isOver, latestResponse } from './open-connections.ts';
import type { ReceivedRequest } from './received-request.ts';
import type { AnsweredRequest, TellRequest } from './request-log.ts';

export interface BrokenRequestsOptions {
  readonly nextRequestId: () => string;
  /** Undefined if nobody wants to know of each request. */
  readonly tell: TellRequest | undefined;
}

/** The code with which Node says that something has not come in time. */
export const lateCode = 'ERR_HTTP_REQUEST_TIMEOUT';

const refusalCode = 'BAD_INPUT';
/** Nobody can say what it was meant to be. */
const unknownMethod = 'none';

export class BrokenRequests {
  readonly #options: BrokenRequestsOptions;
  /** What is wrong with them is said after the answers that are due. */
  readonly #waiting = new WeakSet<Socket>();

  constructor(options: BrokenRequestsOptions) {
    this.#options = options;
  }

  /** For whatever is wrong with what comes, by the code that Node has for it; often several times for the same. */
  refuse({ code = '' }: { readonly code?: string }, socket: Socket): void {
    // More of what was answered already.
    if ((socket.writableEnded && !socket.destroyed) || this.#waiting.has(socket)) return;
    const isUnheard = code === 'ECONNRESET' || code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS');
    if (isUnheard || !socket.writable) {
      socket.destroy();
      return;
    }
    const isLate = code === lateCode;
    const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : isLate ? 408 : 400;
    const response = latestResponse(socket);
    if (!response || (response.req.complete && isOver(response))) this.#refuseUnknown(socket, status);
    // Its sender has hung up amid it, and waits for nothing.
    else if (code === 'HPE_INVALID_EOF_STATE') socket.destroy();
    else if (!response.req.complete) this.#breakOff(response, socket, status);
    // It would be taken for the answer that is due. What comes too late must not be done after all.
    else if (isLate) socket.destroy();
    else this.#refuseAfter(response, socket, status);
  }

  #refuseUnknown(socket: Socket, status: number): void {
    const startedAt = performance.now();
    const requestId = this.#options.nextRequestId();
    const address = socket.remoteAddress;
    answerBrokenRequest(socket, status, requestId);
    this.#options.tell?.({
      requestId,
      method: unknownMethod,
      route: undefined,
      status,
      ms: performance.now() - startedAt,
      userId: undefined,
      traceparent: undefined,
      refused: { code: refusalCode, address },
    });
  }

  /** Its body is broken, or does not come: whoever handles it learns that from its end, and tells of it then. */
  #breakOff(response: ServerResponse<ReceivedRequest>, socket: Socket, status: number): void {
    if (response.socket === socket && !response.headersSent) {
      const requestId = this.#options.nextRequestId();
      // Node keeps the address once it was asked for: proxies are looked at when the connection is gone.
      response.req.toldInstead = { requestId, status, address: socket.remoteAddress };
      answerBrokenRequest(socket, status, requestId);
      return;
    }
    const isAnswered = isOver(response) || (response.socket === socket && response.writableEnded);
    if (!isAnswered || status === 408) socket.destroy();
    else {
      socket.end();
      setTimeout(() => socket.destroy(), lingerMs).unref();
    }
  }

  #refuseAfter(response: ServerResponse<ReceivedRequest>, socket: Socket, status: number): void {
    this.#waiting.add(socket);
    response.once('close', () => {
      if (socket.writable) this.#refuseUnknown(socket, status);
    });
  }
}

/** What to tell of a request in the end: what its sender was told, if that was not said by whoever handled it. */
export function asTold(
  answered: AnsweredRequest,
  { toldInstead }: ReceivedRequest,
  /** Through proxies, if it is known still. */
  address: string | undefined,
): AnsweredRequest {
  if (!toldInstead) return answered;
  const { requestId, status } = toldInstead;
  const refused = { code: refusalCode, address: address ?? toldInstead.address };
  return { ...answered, requestId, status, refused };
}
