/** `/graphql` over HTTP, by https://graphql.github.io/graphql-over-http/draft/ */

import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { endpoints, type GraphRequest } from '@espalier/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isPromise, whenDone, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import type { ExecutionOptions, GraphResult } from '../../graph/graph.ts';
import { clientGone, Refusal } from '../../refusal.ts';
import type { Viewer } from '../../sessions/auth-token.ts';
import { cachedBearer, clientAddress, viewTokenOf } from '../request-context.ts';
import { onFinished } from '../tcp-connections.ts';
import { ResponseSlot } from '../guards/backpressure.ts';
import { limitLargeBody } from '../guards/body-limits.ts';
import { smallBodyBytes } from '../guards/overload.ts';
import { limitStall } from '../guards/timeouts.ts';
import { bodyOf } from '../json-body.ts';
import { acceptedMediaType, acceptsEventStream, type GraphMediaType } from '../media-types.ts';
import type { HttpServices } from '../http-services.ts';
import { addEndpoint } from './endpoint.ts';
import { sendEvents } from './event-stream.ts';
import { GraphBodies, parseGraphUrl, toIdempotencyKey } from './graphql-request.ts';

/** A folder has five fields and properties. An import never has more values than this for each folder. */
const valuesPerFolder = 20;
const minValues = 2_000_000;
const maxNames = 200_000;
/** A shorter response fits into the buffers of the operating system, even if the client does not read it. */
const longResponse = smallBodyBytes;

export function addGraphRoute(app: FastifyInstance, services: HttpServices): void {
  const { sessions, admission } = services;
  const route = new GraphRoute(services);
  addEndpoint(
    app,
    endpoints.graph,
    (request, reply) =>
      acceptsEventStream(request.headers.accept) ? route.open(request, reply) : route.run(request, reply),
    {
      // Runs before the body is read, because only an authenticated client may send 32 MiB.
      onRequest: (request, reply, done) => {
        const admit = (viewer: Viewer) => {
          request.viewer = viewer;
          reply.setUser(viewer.userId);
          admission.checkOperation(viewer.userId);
        };
        const viewer = sessions.authenticateRequest(cachedBearer(request.raw), {
          viewToken: viewTokenOf(request.raw),
          address: () => clientAddress(request),
        });
        // Only the first request with an API key waits for the database.
        if (isPromise(viewer)) {
          viewer.then(admit).then(() => done(), done);
          return;
        }
        admit(viewer);
        done();
      },
      preParsing: (_request, reply, payload, done) =>
        done(null, limitLargeBody(reply, payload as Readable, services)),
    },
  );
}

class GraphRoute {
  readonly #services: HttpServices;
  readonly #bodies: GraphBodies;

  constructor(services: HttpServices) {
    this.#services = services;
    this.#bodies = new GraphBodies({
      values: Math.max(minValues, valuesPerFolder * services.settings.maxImportFolders),
      names: maxNames,
    });
  }

  run(request: FastifyRequest, reply: FastifyReply): PromiseOrValue<undefined> {
    const mediaType = acceptedMediaType(request.headers.accept);
    if (!mediaType) {
      throw new Refusal(
        'NOT_ACCEPTABLE',
        'Accept application/json, application/graphql-response+json or text/event-stream.',
      );
    }
    const viewer = request.viewer!;
    const options = this.#optionsOf(request, reply.raw);
    const result = whenDone(this.#readRequest(request), (graphRequest) =>
      this.#services.graph.run(graphRequest, viewer, options),
    );
    return whenDone(this.#services.admission.countOperation(viewer.userId, result), (done) =>
      this.#send(reply, done, mediaType),
    );
  }

  /** If the client also accepts JSON, only a subscription gets an event stream. */
  open(request: FastifyRequest, reply: FastifyReply): PromiseOrValue<FastifyReply | undefined> {
    const mediaType = acceptedMediaType(request.headers.accept);
    const viewer = request.viewer!;
    const options = this.#optionsOf(request, reply.raw);
    const backpressure = this.#services.admission.connect(viewer.userId);
    const slot = new ResponseSlot(backpressure, options.signal);
    const requestBytes = bodyOf(request)?.length ?? 0;
    const opening = whenDone(this.#readRequest(request), (graphRequest) =>
      this.#services.graph.open(graphRequest, viewer, { ...options, waitForCapacity: slot.compute }),
    );
    return whenDone(this.#services.admission.countOperation(viewer.userId, opening), (opened) => {
      if (!('next' in opened)) {
        if (mediaType) return this.#send(reply, opened, mediaType);
        this.#limitLong(reply, opened.text);
      }
      return sendEvents(reply, opened, viewer, { ...this.#services, backpressure, slot, requestBytes });
    });
  }

  #readRequest(request: FastifyRequest): PromiseOrValue<GraphRequest> {
    if (request.method === 'GET') return parseGraphUrl(request.raw);
    const body = bodyOf(request);
    if (!body || body.length <= smallBodyBytes) return this.#bodies.read(request);
    return this.#services.graph.scheduleRead(request.viewer!, () => {
      if (request.socket.destroyed) throw clientGone();
      return this.#bodies.read(request);
    });
  }

  #optionsOf(request: FastifyRequest, response: ServerResponse): ExecutionOptions & { signal: AbortSignal } {
    const { id: requestId, method, socket, headers } = request;
    const { userId } = request.viewer!;
    return {
      requestId,
      queriesOnly: method === 'GET',
      idempotencyKey: method === 'POST' ? toIdempotencyKey(headers['idempotency-key']) : undefined,
      checkBeforeStart: () => {
        // Node closes only the first response of a connection with pipelined requests.
        if (socket.destroyed) throw clientGone();
        this.#services.admission.checkStart(userId);
      },
      signal: abortOnClose(response),
    };
  }

  /** Returns nothing, because Fastify would wait for a returned reply. */
  #send(reply: FastifyReply, result: GraphResult, mediaType: GraphMediaType): undefined {
    const { isExecuted, text, bytes, retryAfterSeconds } = result;
    const payload = bytes?.() ?? text;
    this.#limitLong(reply, payload);
    if (retryAfterSeconds !== undefined) {
      reply.code(503).header('retry-after', String(retryAfterSeconds));
    } else if (!isExecuted && mediaType !== 'application/json') reply.code(400);
    reply
      .header('content-type', `${mediaType}; charset=utf-8`)
      .header('cache-control', 'no-store')
      .send(payload);
  }

  /** Counts a long response until it is sent or its connection is closed, and limits how long the client may pause. */
  #limitLong(reply: FastifyReply, { length }: string | Buffer): void {
    if (length <= longResponse) return;
    limitStall(reply.raw, this.#services.times);
    onFinished(reply.raw, this.#services.admission.countResponse(reply.request.viewer!.userId, length));
  }
}

/** Returns a signal that is aborted if the connection closes before the whole response is sent. */
function abortOnClose(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort('closed');
  });
  return controller.signal;
}
