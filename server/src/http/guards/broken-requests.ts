/**
 * Refuses requests that cannot be parsed or do not arrive in time, and closes their connections. Each is reported once, like
 * every request, under the id that its response contains. Responses and reports never repeat anything that the client sent.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { FinishedRequest, ReportRequest } from '../access-log.ts';
import { isFinished, latestResponse } from '../tcp-connections.ts';
import { lingerMs, sendBrokenRequest } from '../errors.ts';

interface BrokenRequestsOptions {
  readonly nextRequestId: () => string;
  readonly report: ReportRequest | undefined;
}

/** A response that was written to the socket instead of the route's response. */
interface SocketResponse {
  readonly requestId: string;
  readonly status: number;
  readonly address: string | undefined;
}

/** Node's error code for a request that did not arrive in time. */
export const lateCode = 'ERR_HTTP_REQUEST_TIMEOUT';

const refusalCode = 'BAD_INPUT';
/** The method of a request that cannot be parsed. */
const unknownMethod = 'none';

export class BrokenRequests {
  readonly #options: BrokenRequestsOptions;
  /** Connections with a broken request, which is refused after the responses to earlier requests. */
  readonly #waitingSockets = new WeakSet<Socket>();
  readonly #socketResponses = new WeakMap<IncomingMessage, SocketResponse>();

  constructor(options: BrokenRequestsOptions) {
    this.#options = options;
  }

  /** Called with Node's error code, often several times for the same request. */
  refuse({ code = '' }: { readonly code?: string }, socket: Socket): void {
    // Ignores the rest of a request that was already refused.
    if ((socket.writableEnded && !socket.destroyed) || this.#waitingSockets.has(socket)) return;
    const isUnreadable = code === 'ECONNRESET' || code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS');
    if (isUnreadable || !socket.writable) {
      socket.destroy();
      return;
    }
    const isLate = code === lateCode;
    const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : isLate ? 408 : 400;
    const response = latestResponse(socket);
    if (!response || (response.req.complete && isFinished(response))) this.#refuseUnknown(socket, status);
    // The client closed the connection during the request and does not wait for a response.
    else if (code === 'HPE_INVALID_EOF_STATE') socket.destroy();
    else if (!response.req.complete) this.#refuseBody(response, socket, status);
    // The client would take the refusal for the response to the earlier request. A late request must not be executed.
    else if (isLate) socket.destroy();
    else this.#refuseAfter(response, socket, status);
  }

  /** Whether this class has sent the response, because the body was broken or late. */
  hasRefused(request: IncomingMessage): boolean {
    return this.#socketResponses.has(request);
  }

  /** Corrects the report of a request if this class has sent the response. */
  correctReport(finished: FinishedRequest, request: FastifyRequest): FinishedRequest {
    const socketResponse = this.#socketResponses.get(request.raw);
    if (!socketResponse) return finished;
    const { requestId, status } = socketResponse;
    // `ip` is the client's address behind proxies, if it is still known.
    const address = request.ip ?? socketResponse.address;
    return { ...finished, requestId, status, refusal: { code: refusalCode, address } };
  }

  #refuseUnknown(socket: Socket, status: number): void {
    const startedAt = performance.now();
    const requestId = this.#options.nextRequestId();
    const address = socket.remoteAddress;
    sendBrokenRequest(socket, status, requestId);
    this.#options.report?.({
      requestId,
      method: unknownMethod,
      route: undefined,
      status,
      ms: performance.now() - startedAt,
      userId: undefined,
      traceparent: undefined,
      refusal: { code: refusalCode, address },
    });
  }

  /** The body is broken or late. Its route gets an error from the stream, and the request is reported then. */
  #refuseBody(response: ServerResponse, socket: Socket, status: number): void {
    if (response.socket === socket && !response.headersSent) {
      const requestId = this.#options.nextRequestId();
      // The address is unknown once the connection is closed.
      this.#socketResponses.set(response.req, { requestId, status, address: socket.remoteAddress });
      sendBrokenRequest(socket, status, requestId);
      return;
    }
    const hasResponse = isFinished(response) || (response.socket === socket && response.writableEnded);
    if (!hasResponse || status === 408) socket.destroy();
    else {
      socket.end();
      setTimeout(() => socket.destroy(), lingerMs).unref();
    }
  }

  #refuseAfter(response: ServerResponse, socket: Socket, status: number): void {
    this.#waitingSockets.add(socket);
    response.once('close', () => {
      if (socket.writable) this.#refuseUnknown(socket, status);
    });
  }
}
