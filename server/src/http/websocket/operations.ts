/** The operations of one socket. Each operation requests its next result after the previous one was sent, so a slow client delays only itself. */

import type { GraphRequest } from '@espalier/contract';
import type { GraphQLFormattedError } from 'graphql';
import { isPromise } from '../../concurrency/promise-or-value.ts';
import type { ExecutionOptions, GraphResult, GraphStream } from '../../graph/graph.ts';
import { Refusal } from '../../refusal.ts';
import type { Viewer } from '../../sessions/auth-token.ts';
import { toGraphError } from '../errors.ts';
import { ResponseSlot, type ConnectionBackpressure } from '../guards/backpressure.ts';
import type { HttpServices } from '../http-services.ts';
import type { FlowControlledSocket } from './flow-controlled-socket.ts';
import {
  startOfResult,
  writeMessage,
  writeResult,
  type ClientMessage,
  type SocketProtocol,
} from './protocols.ts';

interface SocketOperationsOptions {
  readonly services: HttpServices;
  readonly protocol: SocketProtocol;
  readonly socket: FlowControlledSocket;
  /** The id of the request that opened the socket. */
  readonly requestId: string;
  /** Called with errors that concern the whole connection. */
  readonly onFailure: (error: unknown) => void;
}

interface Operation {
  readonly id: string;
  readonly request: GraphRequest;
  /** Aborted when the operation is stopped. */
  readonly stopping: AbortController;
  readonly slot: ResponseSlot;
  /** The beginning of each message with a result. */
  readonly start: Buffer;
  stream?: GraphStream;
  /** Whether the latest result of the stream has been sent. */
  isSent: boolean;
  /** If true, nothing more is sent for the operation. */
  isOver: boolean;
}

export class SocketOperations {
  readonly #options: SocketOperationsOptions;
  readonly #openOperations = new Map<string, Operation>();
  /** Includes stopped operations that have not ended. Otherwise starting and stopping would have no limit. */
  #runningCount = 0;

  constructor(options: SocketOperationsOptions) {
    this.#options = options;
  }

  has(id: string): boolean {
    return this.#openOperations.has(id);
  }

  /** Whether a query or mutation is running, so that the client expects a response. */
  get isResponsePending(): boolean {
    return [...this.#openOperations.values()].some(({ stream }) => !stream);
  }

  /** The cursors from which the client can continue its subscriptions. */
  get cursors(): ReadonlySet<string> {
    const cursors = [...this.#openOperations.values()].map(({ stream, isSent }) =>
      stream?.cursorAfter(isSent),
    );
    return new Set(cursors.filter((cursor) => cursor !== undefined));
  }

  /** Ends all subscriptions at the furthest cursor. Otherwise, their cursors would keep differing while changes arrive. */
  alignCursors(): void {
    const streams = [...this.#openOperations.values()].flatMap(({ stream }) => stream ?? []);
    const furthest = Math.max(...streams.map(({ reached }) => reached));
    for (const stream of streams) stream.endAfter(furthest);
  }

  start(
    { id, request, length }: ClientMessage & { kind: 'start' },
    viewer: Viewer,
    backpressure: ConnectionBackpressure,
  ): void {
    const { services, protocol } = this.#options;
    const { maxSubscriptions: maxOperations } = services.settings;
    let releaseRequest: () => void;
    try {
      if (this.#runningCount >= maxOperations) {
        const text = `This socket has reached the limit of ${maxOperations} open operations. Complete one first, or open another socket.`;
        throw new Refusal('TOO_EXPENSIVE', text);
      }
      services.admission.checkOperation(viewer.userId);
      releaseRequest = services.admission.reserveRequest(viewer.userId, length);
    } catch (error) {
      this.#refuse(id, request, error);
      return;
    }
    const stopping = new AbortController();
    const slot = new ResponseSlot(backpressure, stopping.signal);
    const start = startOfResult(id, protocol);
    const operation: Operation = { id, request, stopping, slot, start, isSent: false, isOver: false };
    this.#openOperations.set(id, operation);
    this.#runningCount++;
    this.#run(operation, viewer)
      .catch((error: unknown) => this.#fail(operation, error))
      .finally(() => {
        this.#runningCount--;
        slot.release();
        releaseRequest();
      });
  }

  stop(id: string): void {
    const operation = this.#openOperations.get(id);
    if (operation) this.#end(operation);
  }

  stopAll(): void {
    for (const id of [...this.#openOperations.keys()]) this.stop(id);
  }

  async #run(operation: Operation, viewer: Viewer): Promise<void> {
    const { graph, admission, tracing } = this.#options.services;
    const { request, stopping, slot } = operation;
    const options: ExecutionOptions = {
      requestId: this.#options.requestId,
      checkBeforeStart: () => admission.checkStart(viewer.userId),
      signal: stopping.signal,
      waitForCapacity: slot.compute,
    };
    const open = async () => graph.open(request, viewer, options);
    const pendingResult = tracing
      ? tracing.traceOperation(this.#options.protocol.name, viewer.userId, open)
      : open();
    const result = await admission.countOperation(viewer.userId, pendingResult);
    if ('next' in result) await this.#sendStream(operation, result);
    else if (!operation.isOver) await this.#sendResponse(operation, result);
  }

  /**
   * Resolves when the stream has ended. A result in memory is sent without a promise, because a change can concern thousands of
   * sockets.
   */
  #sendStream(operation: Operation, stream: GraphStream): Promise<unknown> {
    operation.stream = stream;
    if (operation.isOver) return stream.return();
    const streamEnd = Promise.withResolvers<void>();
    const send = ({ done, value }: IteratorResult<GraphResult, undefined>) => {
      // The operation may have been stopped meanwhile.
      if (operation.isOver) return streamEnd.resolve();
      if (done) return streamEnd.resolve(this.#complete(operation));
      operation.isSent = true;
      this.#options.socket.write(writeResult(operation.start, value), requestNext);
      operation.slot.release();
    };
    const requestNext = () => {
      if (operation.isOver) return streamEnd.resolve();
      operation.isSent = false;
      try {
        const next = stream.next();
        if (isPromise(next)) next.then(send).catch(streamEnd.reject);
        else send(next);
      } catch (error) {
        streamEnd.reject(error);
      }
    };
    requestNext();
    return streamEnd.promise;
  }

  #sendResponse(operation: Operation, result: GraphResult): Promise<void> {
    if (!result.isExecuted) {
      this.#finish(operation);
      return this.#sendErrors(operation.id, result.errors ?? []);
    }
    void this.#options.socket.send(writeResult(operation.start, result));
    return this.#complete(operation);
  }

  /** The id is free before the client receives `complete`. */
  #complete(operation: Operation): Promise<void> {
    this.#finish(operation);
    return this.#send({ id: operation.id, type: 'complete' });
  }

  /** Refuses an operation before it starts. Does not parse its text, because the server may be overloaded. */
  #refuse(id: string, { query }: GraphRequest, error: unknown): void {
    if (!(error instanceof Refusal)) return this.#options.onFailure(error);
    // After a close, clients reconnect with their last cursor; see #concernsConnection.
    if (error.code === 'UNAVAILABLE' && query.includes('subscription')) this.#options.onFailure(error);
    else void this.#sendErrors(id, [toGraphError(error, this.#options.requestId)]);
  }

  #fail(operation: Operation, error: unknown): void {
    if (operation.isOver) return;
    this.#end(operation);
    const isOfOperation = error instanceof Refusal && !this.#concernsConnection(operation, error);
    if (isOfOperation) {
      void this.#sendErrors(operation.id, [toGraphError(error, this.#options.requestId)]);
    } else this.#options.onFailure(error);
  }

  /** An error message would end a subscription permanently. After a close, clients reconnect with their last cursor. */
  #concernsConnection({ request }: Operation, { code }: Refusal): boolean {
    if (code === 'UNAVAILABLE') return this.#options.services.graph.isSubscription(request);
    return code === 'INVALID_AUTH_TOKEN' || code === 'INVALID_VIEW_TOKEN';
  }

  #end(operation: Operation): void {
    this.#finish(operation);
    // Passes a reason, because otherwise Node creates an error with a stack for each of possibly thousands of operations.
    operation.stopping.abort('stopped');
    operation.stream?.return().catch((error: unknown) => this.#options.onFailure(error));
  }

  #finish(operation: Operation): void {
    operation.isOver = true;
    if (this.#openOperations.get(operation.id) === operation) this.#openOperations.delete(operation.id);
  }

  /** Sent instead of a result. Nothing follows. */
  #sendErrors(id: string, errors: readonly GraphQLFormattedError[]): Promise<void> {
    return this.#send({ id, type: 'error', payload: this.#options.protocol.toErrorPayload(errors) });
  }

  #send(message: { id: string; type: string; payload?: unknown }): Promise<void> {
    return this.#options.socket.send(writeMessage(message));
  }
}
