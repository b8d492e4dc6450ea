/**
 * A request whose body can be had as it comes: not by the events of a stream, which for a short body cost as much as all
 * that is done with it. Whoever does not ask for that reads it as a stream, as ever.
 */

import type { IncomingMessage } from 'node:http';
import type { OpenSpan } from '../tracer.ts';
import { IncomingMessage as NodeRequest } from './node-http.ts';

export interface BodyTaker {
  takeChunk(chunk: Buffer): void;
  /** The body has come whole. */
  takeEnd(): void;
  /** The connection broke off, before or after that: nothing more comes. */
  takeError(error: Error): void;
}

/** Notes who asks, as soon as that is known. */
export function noteUser(request: IncomingMessage, userId: string): void {
  (request as ReceivedRequest).userId = userId;
}

/** For the `IncomingMessage` option of a server. */
export class ReceivedRequest extends NodeRequest {
  /** Of the connection, when this request had come whole; whatever came later is of the next one. */
  bytesAtEnd: number | undefined = undefined;
  /** By `performance.now()`; known if somebody wants to know how long it took. */
  startedAt: number | undefined = undefined;
  /** Who asks, as far as that came out; for the log, and for what only they are told. */
  userId: string | undefined = undefined;
  /** If it is traced. */
  trace: OpenSpan | undefined = undefined;
  /** If its sender was answered by others than who handles it, because it did not come whole. Most have no such field. */
  declare toldInstead?: {
    readonly requestId: string;
    readonly status: number;
    readonly address: string | undefined;
  };
  #taker: BodyTaker | undefined = undefined;

  /** All of the body, by whichever of the two ways. */
  get isRead(): boolean {
    return this.#taker === undefined ? this.readableEnded : this.complete;
  }

  /** Before any of it has come: in the turn of the event `request`. */
  takeBody(taker: BodyTaker): void {
    this.#taker = taker;
    // Else Node would see to it that what nobody reads is read.
    this._read(0);
  }

  /** In place of a listener for errors, which each request would have to be given. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    super._destroy(error, (left) => {
      done(left);
      if (error) this.#taker?.takeError(error);
    });
  }

  /**
   * Node's parser hands over the body by it, and null when there is no more; which is not documented, and what would fail
   * without it are all the tests of the quick way.
   */
  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    if (chunk === null) this.bytesAtEnd = this.socket.bytesRead;
    const taker = this.#taker;
    if (taker === undefined) return super.push(chunk, encoding);
    if (chunk === null) taker.takeEnd();
    else taker.takeChunk(chunk as Buffer);
    return true;
  }
}
