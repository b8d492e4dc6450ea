/** `/graphql` over HTTP, by https://graphql.github.io/graphql-over-http/draft/ */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { endpoints, type GraphRequest } from '@espalier/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { whenDone, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import { maxBytesWithoutWrite, type GraphLimits, type GraphResult } from '../../graph/graph.ts';
import { abandoned, Refusal } from '../../refusal.ts';
import { cachedBearer } from '../authorization.ts';
import { addEndpoint } from './endpoint.ts';
import { answerEvents } from './event-stream.ts';
import { GraphBodies } from './graphql-request.ts';
import { toGraphRequest, toIdempotencyKey } from './graphql-request.ts';
import type { HttpTimeouts } from '../guards/timeouts.ts';
import { bodyOf } from '../json-body.ts';
import { holdAsItComes, isLargeBody, whenOver } from '../guards/body-limits.ts';
import type { LiveServices } from '../websocket/live-connections.ts';
import { acceptedMediaType, acceptsEventStream, type GraphMediaType } from '../media-types.ts';
import { smallBodyBytes, type Admission } from '../guards/overload.ts';
import { ResponseSlot } from '../guards/backpressure.ts';

export interface GraphRouteOptions {
  readonly pressure: Admission;
  readonly times: HttpTimeouts;
  readonly maxImportFolders: number;
}

/** A folder has five fields and properties. An import never has more values than this for each folder. */
const valuesPerFolder = 20;
const minValues = 2_000_000;
const maxNames = 200_000;
/** The system's own buffers hold a shorter response, whether the client reads it or not. */
const longResponse = smallBodyBytes;

export function addGraphRoute(
  app: FastifyInstance,
  services: LiveServices,
  options: GraphRouteOptions,
): void {
  const { graph, sessions } = services;
  const { pressure } = options;
  const route = new GraphRoute(services, options);
  addEndpoint(
    app,
    endpoints.graph,
    (request, reply) =>
      acceptsEventStream(request.headers.accept) ? route.open(request, reply) : route.run(request, reply),
    {
      // Before the body is read: only an authenticated client may send 32 MiB.
      onRequest: (request, reply, done) => {
        const viewer = sessions.authenticate(cachedBearer(request.raw));
        request.viewer = viewer;
        reply.setUser(viewer.userId);
        pressure.checkOperation(viewer.userId);
        done();
      },
      preParsing: (request, reply, payload, done) => {
        if (!isLargeBody(request)) return done(null, payload);
        const admit = () => graph.admitLarge(request.viewer!);
        const holdOptions = { pressure, maxBytes: maxBytesWithoutWrite, admit };
        done(null, holdAsItComes(request, reply, payload as Readable, holdOptions));
      },
    },
  );
}

class GraphRoute {
  readonly #services: LiveServices;
  readonly #pressure: Admission;
  readonly #times: HttpTimeouts;
  readonly #bodies: GraphBodies;

  constructor(services: LiveServices, { pressure, times, maxImportFolders }: GraphRouteOptions) {
    this.#services = services;
    this.#pressure = pressure;
    this.#times = times;
    this.#bodies = new GraphBodies({
      values: Math.max(minValues, valuesPerFolder * maxImportFolders),
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
    const limits = this.#limitsOf(request, reply.raw);
    const result = whenDone(this.#readRequest(request), (given) =>
      this.#services.graph.run(given, viewer, limits),
    );
    return whenDone(this.#pressure.countOperation(viewer.userId, result), (done) =>
      this.#send(reply, done, mediaType),
    );
  }

  /** A client that also accepts JSON gets events only from a subscription. */
  open(request: FastifyRequest, reply: FastifyReply): PromiseOrValue<FastifyReply | undefined> {
    const mediaType = acceptedMediaType(request.headers.accept);
    const viewer = request.viewer!;
    const limits = this.#limitsOf(request, reply.raw);
    const room = this.#pressure.connect(viewer.userId);
    const slot = new ResponseSlot(room, limits.signal);
    const requestBytes = bodyOf(request)?.length ?? 0;
    const opening = whenDone(this.#readRequest(request), (given) =>
      this.#services.graph.open(given, viewer, { ...limits, whenRoom: slot.compute }),
    );
    return whenDone(this.#pressure.countOperation(viewer.userId, opening), (opened) => {
      if (!('next' in opened)) {
        if (mediaType) return this.#send(reply, opened, mediaType);
        this.#countLong(reply, opened.text);
      }
      return answerEvents(reply, opened, viewer, { ...this.#services, room, slot, requestBytes });
    });
  }

  #readRequest(request: FastifyRequest): PromiseOrValue<GraphRequest> {
    if (request.method === 'GET') return toGraphRequest(urlParameters(request.raw));
    const body = bodyOf(request);
    if (!body || body.length <= smallBodyBytes) return this.#bodies.read(request);
    return this.#services.graph.readInTurn(request.viewer!, () => {
      if (request.socket.destroyed) throw abandoned();
      return this.#bodies.read(request);
    });
  }

  #limitsOf(request: FastifyRequest, response: ServerResponse): GraphLimits & { signal: AbortSignal } {
    const { method, socket, headers } = request;
    const { userId } = request.viewer!;
    return {
      queriesOnly: method === 'GET',
      idempotencyKey: method === 'POST' ? toIdempotencyKey(headers['idempotency-key']) : undefined,
      mayBegin: () => {
        // Of several requests on one connection, only the first response is closed with it.
        if (socket.destroyed) throw abandoned();
        this.#pressure.checkStart(userId);
      },
      signal: whenAbandoned(response),
    };
  }

  /** Returns nothing: Fastify would wait for a reply that is returned. */
  #send(reply: FastifyReply, result: GraphResult, mediaType: GraphMediaType): undefined {
    const { isExecuted, text, bytes, retryAfterSeconds } = result;
    const payload = bytes?.() ?? text;
    this.#countLong(reply, payload);
    if (retryAfterSeconds !== undefined) {
      reply.code(503).header('retry-after', String(retryAfterSeconds));
    } else if (!isExecuted && mediaType !== 'application/json') reply.code(400);
    reply.header('content-type', contentTypes[mediaType]).header('cache-control', 'no-store').send(payload);
  }

  /** Counts a long response until it is sent or its connection is closed. */
  #countLong(reply: FastifyReply, { length }: string | Buffer): void {
    if (length <= longResponse) return;
    limitStall(reply.raw, this.#times.stalledResponseMs);
    whenOver(reply.raw, this.#pressure.countResponse(reply.request.viewer!.userId, length));
  }
}

const contentTypes: Readonly<Record<GraphMediaType, string>> = {
  'application/json': 'application/json; charset=utf-8',
  'application/graphql-response+json': 'application/graphql-response+json; charset=utf-8',
};

/** A client that reads nothing for so long is disconnected. */
function limitStall(response: ServerResponse, stalledMs: number): void {
  response.setTimeout(stalledMs, () => response.destroy());
  // Before Node sets the keep-alive timeout. A pipelined request that follows may take long.
  response.prependOnceListener('finish', () => response.setTimeout(0));
}

/** Aborted when the connection is closed before all of the response was sent. */
function whenAbandoned(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort('closed');
  });
  return controller.signal;
}

function urlParameters({ url = '' }: IncomingMessage): Record<string, unknown> {
  const start = url.indexOf('?');
  const given = new URLSearchParams(start < 0 ? '' : url.slice(start + 1));
  return {
    query: given.get('query'),
    operationName: given.get('operationName'),
    variables: jsonParameter(given, 'variables'),
    extensions: jsonParameter(given, 'extensions'),
  };
}

function jsonParameter(given: URLSearchParams, name: string): unknown {
  const text = given.get(name);
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal('BAD_INPUT', `The parameter ${name} must be JSON.`);
  }
}
