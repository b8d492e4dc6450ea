/** `/graphql` over HTTP, by https://graphql.github.io/graphql-over-http/draft/ */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { endpoints, type GraphRequest } from '@espalier/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { whenDone, type PromiseOrValue } from '../database/database.ts';
import { abandoned } from '../graph/graph-results.ts';
import { maxBytesWithoutWrite, type GraphLimits, type GraphResult } from '../graph/graph.ts';
import type { Viewer } from '../graph/viewer.ts';
import { Refusal } from '../refusal.ts';
import { repeatedBearer, viewerOf } from './bearer.ts';
import {
  answerHead,
  jsonHead,
  sendUsually,
  usualWay,
  type Answer,
  type AnswerHead,
  type AnswerTo,
  type Asked,
} from './endpoint-answer.ts';
import { addEndpoint } from './endpoint-route.ts';
import { answerEvents } from './event-stream.ts';
import { GraphBodies } from './graph-bodies.ts';
import { toGraphRequest, toIdempotencyKey } from './graph-request.ts';
import type { HttpTimes } from './http-times.ts';
import { bodyOf } from './json-body.ts';
import { holdAsItComes, isLargeBody, whenOver } from './large-bodies.ts';
import type { LiveServices } from './live-connections.ts';
import { acceptedMediaType, acceptsEventStream, type GraphMediaType } from './media-types.ts';
import { smallBodyBytes, type Pressure } from './pressure.ts';
import type { QuickWay } from './quick-way.ts';
import { noteUser } from './received-request.ts';
import { ResponseSlot } from './response-room.ts';

declare module 'fastify' {
  interface FastifyRequest {
    viewer: Viewer | null;
  }
}

export interface GraphRouteOptions {
  readonly pressure: Pressure;
  readonly times: HttpTimes;
  readonly maxImportFolders: number;
  readonly quickWay: QuickWay | undefined;
}

/** A folder has five fields and properties; an import that names more than so many for each is none. */
const valuesPerFolder = 20;
const leastValues = 2_000_000;
const mostNames = 200_000;
/** The system's own buffers take a shorter answer, whether it is read or not. */
const longAnswer = smallBodyBytes;

export function addGraphRoute(
  app: FastifyInstance,
  services: LiveServices,
  { pressure, times, maxImportFolders, quickWay }: GraphRouteOptions,
): void {
  const { graph, sessions } = services;
  const bodies = new GraphBodies({
    values: Math.max(leastValues, valuesPerFolder * maxImportFolders),
    names: mostNames,
  });
  app.decorateRequest('viewer', null);

  const admit = (request: IncomingMessage) => {
    const viewer = viewerOf(repeatedBearer(request), sessions);
    noteUser(request, viewer.userId);
    pressure.checkGraph(viewer.userId);
    return viewer;
  };

  /** Counts an answer until it is sent or its connection is closed. */
  const keep = (response: ServerResponse, { userId }: Viewer, { text: { length } }: GraphResult) => {
    if (length <= longAnswer) return;
    limitStall(response, times.stalledAnswerMs);
    whenOver(response, pressure.keep(userId, length));
  };

  const readRequest = (asked: Asked): PromiseOrValue<GraphRequest> => {
    if (asked.raw.method === 'GET') return toGraphRequest(urlParameters(asked.raw));
    const body = bodyOf(asked);
    if (!body || body.length <= smallBodyBytes) return bodies.read(asked);
    return graph.readInTurn(asked.viewer!, () => {
      if (asked.raw.socket.destroyed) throw abandoned();
      return bodies.read(asked);
    });
  };

  const limitsOf = (
    { headers, raw }: Asked,
    response: ServerResponse,
    { userId }: Viewer,
  ): GraphLimits & { signal: AbortSignal } => ({
    queriesOnly: raw.method === 'GET',
    idempotencyKey: raw.method === 'POST' ? toIdempotencyKey(headers['idempotency-key']) : undefined,
    mayBegin: () => {
      // Of several requests on one connection, only the first response is closed with it.
      if (raw.socket.destroyed) throw abandoned();
      pressure.checkTurn(userId);
    },
    signal: whenAbandoned(response),
  });

  const run: AnswerTo = (asked, response) => {
    const mediaType = acceptedMediaType(asked.headers.accept);
    if (!mediaType) {
      throw new Refusal(
        'NOT_ACCEPTABLE',
        'Accept must allow application/json, application/graphql-response+json or text/event-stream.',
      );
    }
    const viewer = asked.viewer!;
    const limits = limitsOf(asked, response, viewer);
    const result = whenDone(readRequest(asked), (given) => graph.run(given, viewer, limits));
    return whenDone(pressure.count(viewer.userId, result), (done) => {
      keep(response, viewer, done);
      return toAnswer(done, mediaType);
    });
  };

  /** Whoever takes an answer too gets events only from a subscription. */
  const open = (request: FastifyRequest, reply: FastifyReply) => {
    const mediaType = acceptedMediaType(request.headers.accept);
    const viewer = request.viewer!;
    const { raw: response } = reply;
    const limits = limitsOf(request, response, viewer);
    const room = pressure.connect(viewer.userId);
    const slot = new ResponseSlot(room, limits.signal);
    const requestBytes = bodyOf(request)?.length ?? 0;
    const opening = whenDone(readRequest(request), (given) =>
      graph.open(given, viewer, { ...limits, whenRoom: slot.compute }),
    );
    return whenDone(pressure.count(viewer.userId, opening), (opened) => {
      if (!('next' in opened)) keep(response, viewer, opened);
      return mediaType && !('next' in opened)
        ? sendUsually(reply, toAnswer(opened, mediaType))
        : answerEvents(reply, opened, viewer, { ...services, room, slot, requestBytes });
    });
  };

  const runUsually = usualWay(run);
  addEndpoint(
    app,
    endpoints.graph,
    function (request, reply) {
      return acceptsEventStream(request.headers.accept)
        ? open(request, reply)
        : runUsually.call(this, request, reply);
    },
    {
      // Before the body is read: a stranger cannot make the service take in 32 MiB.
      onRequest: (request, _, done) => {
        request.viewer = admit(request.raw);
        done();
      },
      preParsing: (request, reply, payload, done) => {
        if (!isLargeBody(request)) return done(null, payload);
        const admitLarge = () => graph.admitLarge(request.viewer!);
        const options = { pressure, maxBytes: maxBytesWithoutWrite, admit: admitLarge };
        done(null, holdAsItComes(request, reply, payload as Readable, options));
      },
    },
  );
  quickWay?.add(app.prefix, endpoints.graph, {
    takes: ({ accept }) => !acceptsEventStream(accept),
    admit,
    answerTo: run,
  });
}

const heads: Readonly<Record<GraphMediaType, AnswerHead>> = {
  'application/json': jsonHead('application/json'),
  'application/graphql-response+json': jsonHead('application/graphql-response+json'),
};

function toAnswer({ isExecuted, text, retryAfterSeconds }: GraphResult, mediaType: GraphMediaType): Answer {
  const head = heads[mediaType];
  if (retryAfterSeconds !== undefined) {
    const retryAfter = { 'retry-after': String(retryAfterSeconds) };
    return { status: 503, head: answerHead({ ...retryAfter, ...head.headers }), text };
  }
  return { status: isExecuted || mediaType === 'application/json' ? 200 : 400, head, text };
}

/** Nobody may make the service keep what they do not read. */
function limitStall(response: ServerResponse, stalledMs: number): void {
  response.setTimeout(stalledMs, () => response.destroy());
  // Before Node sets the time until the next request; one that has come already may take long.
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
