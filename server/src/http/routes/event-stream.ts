/**
 * GraphQL over Server-Sent Events, in the distinct connections mode:
 * https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md
 */

import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { GraphResult, GraphStream } from '../../graph/graph.ts';
import type { Viewer } from '../../sessions/viewer.ts';
import { Refusal } from '../../refusal.ts';
import { toGraphError } from '../errors.ts';
import { whenOver } from '../guards/body-limits.ts';
import type { LiveConnection, LiveServices } from '../websocket/live-connections.ts';
import { TokenLease } from '../websocket/token-lease.ts';
import { finishedRequest } from '../access-log.ts';
import type { ConnectionBackpressure, ResponseSlot } from '../guards/backpressure.ts';

/** For a client that takes nothing in for so long, nothing is kept. */
const mostStalledMs = 60_000;

const startOfEvent = Buffer.from('event: next\ndata: ');
const endOfEvent = Buffer.from('\n\n');
const completeEvent = Buffer.from('event: complete\ndata:\n\n');
/** Also sent first: without a byte of the body, some would not see the head. */
const comment = ':\n\n';

/** Where the responses of an event stream wait for room. */
export interface EventRoom {
  readonly room: ConnectionBackpressure;
  readonly slot: ResponseSlot;
  /** What is kept of the request. */
  readonly requestBytes: number;
}

export function answerEvents(
  reply: FastifyReply,
  opened: GraphResult | GraphStream,
  viewer: Viewer,
  services: LiveServices & EventRoom,
): FastifyReply {
  reply
    .header('content-type', 'text/event-stream; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no');
  if (!('next' in opened)) return reply.send(Buffer.concat([nextEvent(opened), completeEvent]));
  try {
    whenOver(reply.raw, services.pressure.reserveRequest(viewer.userId, services.requestBytes));
    services.connections.enter(viewer.userId);
  } catch (error) {
    void opened.return();
    throw error;
  }
  // The span ends with the first event: the stream can last for days.
  services.tracing?.endRequest({ ...finishedRequest(reply.request, reply), status: 200 });
  reply.raw.setTimeout(mostStalledMs, () => reply.raw.destroy());
  const { raw: response, request } = reply;
  return reply.send(new EventStream(opened, viewer, { ...services, response, requestId: request.id }));
}

function nextEvent({ text, bytes }: Pick<GraphResult, 'text' | 'bytes'>): Buffer {
  return Buffer.concat([startOfEvent, bytes?.() ?? Buffer.from(text), endOfEvent]);
}

interface EventServices extends LiveServices, EventRoom {
  readonly response: ServerResponse;
  readonly requestId: string;
}

/** Asks for the next answer when what it gave before was taken. */
class EventStream extends Readable implements LiveConnection {
  readonly #stream: GraphStream;
  readonly #presence: TokenLease;
  readonly #services: EventServices;
  #isPulling = false;
  /** The last answer of the stream is on its way to the client. */
  #isSent = false;
  #isOver = false;

  constructor(stream: GraphStream, viewer: Viewer, services: EventServices) {
    // It holds one event; the response holds those before.
    super({ highWaterMark: 1 });
    this.#stream = stream;
    this.#presence = new TokenLease(viewer, services);
    this.#services = services;
    services.connections.add(this);
    this.push(comment);
  }

  check(): void {
    this.#countUnsent();
    if (this.#presence.isOver) this.#finish(this.#presence.refusal);
  }

  /** A comment, unless something is on its way anyhow. */
  heartbeat(): void {
    if (!this.#isOver && this.readableLength === 0) this.push(comment);
  }

  /** Without `complete`: a client takes that for the end of the subscription, and would not come back. */
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
    // A comment in between makes it be called again.
    if (this.#isPulling || this.#isOver) return;
    this.#isPulling = true;
    this.#pull().catch((error: unknown) => this.#fail(this.#toRefusal(error)));
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#stop();
    this.#services.room.setUnsent(0);
    this.#services.connections.remove(this);
    this.#services.connections.leave(this.#presence.viewer.userId);
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
    const { room, response } = this.#services;
    if (!this.destroyed) room.setUnsent(this.readableLength + response.writableLength);
  }

  /** What may pass is no end: the client comes back with its last cursor. */
  #fail(refusal: Refusal): void {
    if (refusal.code === 'UNAVAILABLE') this.end();
    else this.#finish(refusal);
  }

  #finish(refusal?: Refusal): void {
    if (this.#isOver) return;
    this.#stop();
    if (refusal) this.push(nextEvent({ text: JSON.stringify({ errors: [toGraphError(refusal)] }) }));
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
    this.#services.log.error({ requestId: this.#services.requestId, err: error }, 'an event stream failed');
    return new Refusal('INTERNAL');
  }
}
