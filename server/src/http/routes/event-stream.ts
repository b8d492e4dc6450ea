/** GraphQL over Server-Sent Events: https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md (distinct connections) */

import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { GraphResult, GraphStream } from '../../graph/graph.ts';
import { Refusal } from '../../refusal.ts';
import type { Viewer } from '../../sessions/auth-token.ts';
import { describeFinished } from '../access-log.ts';
import { clientAddress } from '../request-context.ts';
import { onFinished } from '../tcp-connections.ts';
import { toGraphError } from '../errors.ts';
import type { ConnectionBackpressure, ResponseSlot } from '../guards/backpressure.ts';
import { limitStall } from '../guards/timeouts.ts';
import type { HttpServices } from '../http-services.ts';
import type { LiveConnection } from '../live-connections.ts';
import { TokenLease } from '../token-lease.ts';

const startOfEvent = Buffer.from('event: next\ndata: ');
const endOfEvent = Buffer.from('\n\n');
const completeEvent = Buffer.from('event: complete\ndata:\n\n');
/** A heartbeat. Also sent at the start, because some clients do not process the headers before the first byte of the body. */
const comment = ':\n\n';

interface EventServices extends HttpServices {
  readonly backpressure: ConnectionBackpressure;
  readonly slot: ResponseSlot;
  /** The length of the request, which stays in memory with the stream. */
  readonly requestBytes: number;
}

export function sendEvents(
  reply: FastifyReply,
  opened: GraphResult | GraphStream,
  viewer: Viewer,
  services: EventServices,
): FastifyReply {
  reply
    .header('content-type', 'text/event-stream; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no');
  if (!('next' in opened)) return reply.send(Buffer.concat([nextEvent(opened), completeEvent]));
  try {
    onFinished(reply.raw, services.admission.reserveRequest(viewer.userId, services.requestBytes));
    services.liveConnections.reserve(viewer.userId);
  } catch (error) {
    void opened.return();
    throw error;
  }
  // The span ends with the first event: the stream can last for days.
  services.tracing?.endRequest({ ...describeFinished(reply), status: 200 });
  limitStall(reply.raw, services.times);
  return reply.send(new EventStream(opened, viewer, reply, services));
}

function nextEvent({ text, bytes }: Pick<GraphResult, 'text' | 'bytes'>): Buffer {
  return Buffer.concat([startOfEvent, bytes?.() ?? Buffer.from(text), endOfEvent]);
}

/** Requests the next result when the previous event has been read. */
class EventStream extends Readable implements LiveConnection {
  readonly #stream: GraphStream;
  readonly #lease: TokenLease;
  readonly #reply: FastifyReply;
  readonly #services: EventServices;
  #isPulling = false;
  /** Whether the latest result of the stream has been sent. */
  #isSent = false;
  #isOver = false;

  constructor(stream: GraphStream, viewer: Viewer, reply: FastifyReply, services: EventServices) {
    // Buffers one event; the response buffers the events before it.
    super({ highWaterMark: 1 });
    this.#stream = stream;
    this.#lease = new TokenLease(viewer, services);
    this.#reply = reply;
    this.#services = services;
    services.liveConnections.add(this);
    this.push(comment);
  }

  check(): void {
    this.#countUnsent();
    if (this.#lease.hasEnded) this.#finish(this.#lease.refusal);
  }

  /** Sends a comment, unless an event waits to be sent. */
  heartbeat(): void {
    if (this.#isOver) return;
    if (this.readableLength === 0) this.push(comment);
    this.#services.sessions.recordApiKeyUse(this.#lease.viewer, clientAddress(this.#reply.request));
  }

  /** Sends no `complete`, because a client would regard the subscription as ended and not reconnect. */
  end(): boolean {
    if (this.#isOver) return true;
    const cursor = this.#stream.cursorAfter(this.#isSent);
    this.#stop();
    if (cursor !== undefined) this.push(`: cursor=${cursor}\n\n`);
    this.push(null);
    return true;
  }

  terminate(): void {
    this.destroy();
  }

  override _read(): void {
    this.#countUnsent();
    // A comment that is sent meanwhile causes another call.
    if (this.#isPulling || this.#isOver) return;
    this.#isPulling = true;
    this.#pull().catch((error: unknown) => this.#fail(this.#toRefusal(error)));
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#stop();
    this.#services.backpressure.setUnsent(0);
    this.#services.liveConnections.remove(this);
    this.#services.liveConnections.release(this.#lease.viewer.userId);
    done(error);
  }

  async #pull(): Promise<void> {
    try {
      this.#isSent = false;
      const { done, value } = await this.#stream.next();
      if (this.#isOver) return;
      if (done) return this.#finish();
      const event = nextEvent(value);
      this.#isPulling = false;
      this.#isSent = true;
      this.push(event);
      this.#countUnsent();
    } finally {
      this.#services.slot.release();
    }
  }

  #countUnsent(): void {
    if (this.destroyed) return;
    this.#services.backpressure.setUnsent(this.readableLength + this.#reply.raw.writableLength);
  }

  /** A temporary failure does not end the subscription: the client reconnects with its last cursor. */
  #fail(refusal: Refusal): void {
    if (refusal.code === 'UNAVAILABLE') this.end();
    else this.#finish(refusal);
  }

  #finish(refusal?: Refusal): void {
    if (this.#isOver) return;
    this.#stop();
    if (refusal) {
      const error = toGraphError(refusal, this.#reply.request.id);
      this.push(nextEvent({ text: JSON.stringify({ errors: [error] }) }));
    }
    this.push(completeEvent);
    this.push(null);
  }

  #stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stream.return().catch((error: unknown) => this.#toRefusal(error));
  }

  #toRefusal(error: unknown): Refusal {
    if (error instanceof Refusal) return error;
    this.#services.log.error(
      { requestId: this.#reply.request.id, err: error },
      'An event stream failed. This is a bug.',
    );
    return new Refusal('INTERNAL');
  }
}
