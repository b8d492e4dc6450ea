/**
 * The operations that run on one socket. Each sends an answer, waits until that is on its way, and only then asks for
 * the next: a slow reader slows its own operations, and nobody else's.
 */

import type { GraphRequest } from '@espalier/contract';
import type { GraphQLFormattedError } from 'graphql';
import { isPromise } from '../../concurrency/promise-or-value.ts';
import type { Graph, GraphLimits, GraphResult, GraphStream } from '../../graph/graph.ts';
import type { Viewer } from '../../sessions/viewer.ts';
import { Refusal } from '../../refusal.ts';
import { toGraphError } from '../errors.ts';
import {
  startOfResult,
  writeMessage,
  writeResult,
  type ClientMessage,
  type SocketProtocol,
} from './protocols.ts';
import type { Admission } from '../guards/overload.ts';
import { ResponseSlot, type ConnectionBackpressure } from '../guards/backpressure.ts';
import type { SocketPeer } from './peer.ts';
import type { RequestTracing } from '../request-tracing.ts';

export interface SocketOperationsOptions {
  readonly graph: Graph;
  readonly dialect: SocketProtocol;
  readonly peer: SocketPeer;
  readonly pressure: Admission;
  /** Where the responses of subscriptions wait for room; there is one as soon as operations can be started. */
  readonly room: () => ConnectionBackpressure;
  /** Undefined if nothing is traced. */
  readonly tracing: RequestTracing | undefined;
  /** How many may run at a time. */
  readonly most: number;
  /** Told of what concerns the whole connection. */
  readonly onFailure: (error: unknown) => void;
}

interface Operation {
  readonly id: string;
  readonly request: GraphRequest;
  /** Aborted when the operation is stopped. */
  readonly stopping: AbortController;
  readonly slot: ResponseSlot;
  /** How its messages with results begin. */
  readonly start: Buffer;
  stream?: GraphStream;
  /** The last answer of the stream is on its way to the client. */
  isSent: boolean;
  /** Nothing more of it is sent. */
  isOver: boolean;
}

export class SocketOperations {
  readonly #options: SocketOperationsOptions;
  readonly #open = new Map<string, Operation>();
  /** With those that were stopped and have not come to their end: otherwise starting and stopping would be free. */
  #running = 0;

  constructor(options: SocketOperationsOptions) {
    this.#options = options;
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  /** Whether an answer is on its way that comes only once. */
  get isAnswerDue(): boolean {
    return [...this.#open.values()].some(({ stream }) => !stream);
  }

  /** Where the client may go on with each of its subscriptions; several, as long as they have not come equally far. */
  get cursors(): ReadonlySet<string> {
    const found = [...this.#open.values()].map(({ stream, isSent }) => stream?.cursorAfter(isSent));
    return new Set(found.filter((cursor) => cursor !== undefined));
  }

  /** Amid changes each would be somewhere else at every look: those behind come up to the first, which waits for them. */
  gather(): void {
    const streams = [...this.#open.values()].flatMap(({ stream }) => stream ?? []);
    const furthest = Math.max(...streams.map(({ reached }) => reached));
    for (const stream of streams) stream.stopAfter(furthest);
  }

  start({ id, request, length }: ClientMessage & { kind: 'start' }, viewer: Viewer): void {
    const { most, pressure, room, dialect } = this.#options;
    let forgetRequest: () => void;
    try {
      if (this.#running >= most) {
        const text = `This socket has ${most} open operations, as many as it may. Complete one first, or open another socket.`;
        throw new Refusal('TOO_EXPENSIVE', text);
      }
      pressure.checkOperation(viewer.userId);
      forgetRequest = pressure.reserveRequest(viewer.userId, length);
    } catch (error) {
      this.#refuse(id, request, error);
      return;
    }
    const stopping = new AbortController();
    const slot = new ResponseSlot(room(), stopping.signal);
    const start = startOfResult(id, dialect);
    const operation: Operation = { id, request, stopping, slot, start, isSent: false, isOver: false };
    this.#open.set(id, operation);
    this.#running++;
    this.#run(operation, viewer)
      .catch((error: unknown) => this.#fail(operation, error))
      .finally(() => {
        this.#running--;
        slot.release();
        forgetRequest();
      });
  }

  stop(id: string): void {
    const operation = this.#open.get(id);
    if (operation) this.#end(operation);
  }

  stopAll(): void {
    for (const id of [...this.#open.keys()]) this.stop(id);
  }

  async #run(operation: Operation, viewer: Viewer): Promise<void> {
    const { graph, pressure, tracing, dialect } = this.#options;
    const { request, stopping, slot } = operation;
    const limits: GraphLimits = {
      mayBegin: () => pressure.checkStart(viewer.userId),
      signal: stopping.signal,
      whenRoom: slot.compute,
    };
    const open = async () => graph.open(request, viewer, limits);
    const opening = tracing ? tracing.traceOperation(dialect.name, viewer.userId, open) : open();
    const opened = await pressure.countOperation(viewer.userId, opening);
    if ('next' in opened) await this.#follow(operation, opened);
    else if (!operation.isOver) await this.#answer(operation, opened);
  }

  /**
   * Resolves when the stream has ended. What is in memory is sent without a promise: one change may be for thousands of
   * sockets.
   */
  #follow(operation: Operation, stream: GraphStream): Promise<unknown> {
    operation.stream = stream;
    if (operation.isOver) return stream.return();
    const ended = Promise.withResolvers<void>();
    const send = ({ done, value }: IteratorResult<GraphResult, undefined>) => {
      // It may have been stopped meanwhile.
      if (operation.isOver) return ended.resolve();
      if (done) return ended.resolve(this.#complete(operation));
      operation.isSent = true;
      this.#options.peer.write(writeResult(operation.start, value), askForNext);
      operation.slot.release();
    };
    const askForNext = () => {
      if (operation.isOver) return ended.resolve();
      operation.isSent = false;
      try {
        const next = stream.next();
        if (isPromise(next)) next.then(send).catch(ended.reject);
        else send(next);
      } catch (error) {
        ended.reject(error);
      }
    };
    askForNext();
    return ended.promise;
  }

  #answer(operation: Operation, result: GraphResult): Promise<void> {
    if (!result.isExecuted) {
      this.#finish(operation);
      return this.#sendErrors(operation.id, result.errors ?? []);
    }
    void this.#options.peer.send(writeResult(operation.start, result));
    return this.#complete(operation);
  }

  /** The id is free before the client can know it. */
  #complete(operation: Operation): Promise<void> {
    this.#finish(operation);
    return this.#send({ id: operation.id, type: 'complete' });
  }

  /** Of an operation that was not begun. Its text is not parsed for it: there is too much to do already. */
  #refuse(id: string, { query }: GraphRequest, error: unknown): void {
    if (!(error instanceof Refusal)) return this.#options.onFailure(error);
    // After a close, clients come back with their last cursor; see #isOfConnection.
    if (error.code === 'UNAVAILABLE' && query.includes('subscription')) this.#options.onFailure(error);
    else void this.#sendErrors(id, [toGraphError(error)]);
  }

  #fail(operation: Operation, error: unknown): void {
    if (operation.isOver) return;
    this.#end(operation);
    const isOfOperation = error instanceof Refusal && !this.#isOfConnection(operation, error);
    if (isOfOperation) void this.#sendErrors(operation.id, [toGraphError(error)]);
    else this.#options.onFailure(error);
  }

  /** An error would end a subscription for good; after a close, clients come back with their last cursor. */
  #isOfConnection({ request }: Operation, { code }: Refusal): boolean {
    if (code === 'UNAVAILABLE') return this.#options.graph.isSubscription(request);
    return code === 'INVALID_AUTH_TOKEN';
  }

  #end(operation: Operation): void {
    this.#finish(operation);
    // With a reason: otherwise Node makes an error with a stack, for each of thousands when a user leaves.
    operation.stopping.abort('stopped');
    operation.stream?.return().catch((error: unknown) => this.#options.onFailure(error));
  }

  #finish(operation: Operation): void {
    operation.isOver = true;
    if (this.#open.get(operation.id) === operation) this.#open.delete(operation.id);
  }

  /** Instead of a result; nothing follows. */
  #sendErrors(id: string, errors: readonly GraphQLFormattedError[]): Promise<void> {
    return this.#send({ id, type: 'error', payload: this.#options.dialect.toErrorPayload(errors) });
  }

  #send(message: { id: string; type: string; payload?: unknown }): Promise<void> {
    return this.#options.peer.send(writeMessage(message));
  }
}
