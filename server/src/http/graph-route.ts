/** `/graphql` over HTTP, by https://graphql.github.io/graphql-over-http/draft/ */

import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { endpoints, type GraphRequest } from '@espalier/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest, preParsingHookHandler } from 'fastify';
import { whenDone, type PromiseOrValue } from '../database/database.ts';
import type { GraphResult } from '../graph/graph.ts';
import type { Viewer } from '../graph/viewer.ts';
import { Refusal } from '../refusal.ts';
import { requiredBearer, viewerOf } from './bearer.ts';
import { addEndpoint } from './endpoint-route.ts';
import { answerEvents } from './event-stream.ts';
import { toGraphRequest, toIdempotencyKey } from './graph-request.ts';
import type { HttpTimes } from './http-times.ts';
import { readJsonObject } from './json-body.ts';
import { holdAsItComes, isLargeBody } from './large-bodies.ts';
import type { LiveServices } from './live-connections.ts';
import { acceptedMediaType, acceptsEventStream, type GraphMediaType } from './media-types.ts';
import { smallBodyBytes, type Pressure } from './pressure.ts';

declare module 'fastify' {
  interface FastifyRequest {
    viewer: Viewer | null;
  }
}

export interface GraphRouteOptions {
  readonly pressure: Pressure;
  readonly times: HttpTimes;
  readonly maxImportFolders: number;
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
  { pressure, times, maxImportFolders }: GraphRouteOptions,
): void {
  const { graph, sessions } = services;
  const bodyLimits = {
    values: Math.max(leastValues, valuesPerFolder * maxImportFolders),
    names: mostNames,
  };
  app.decorateRequest('viewer', null);

  // Before the body is read: a stranger cannot make the service take in 32 MiB.
  const onRequest = (request: FastifyRequest, _: FastifyReply, done: () => void) => {
    request.viewer = viewerOf(requiredBearer(request), sessions);
    pressure.checkGraph(request.viewer.userId);
    done();
  };
  const preParsing: preParsingHookHandler = (request, reply, payload, done) =>
    isLargeBody(request)
      ? done(null, holdAsItComes(request, reply, payload as Readable, pressure))
      : done(null, payload);

  const answer = (reply: FastifyReply, result: GraphResult, mediaType: GraphMediaType) => {
    const { length } = result.text;
    if (length > longAnswer) {
      limitStall(reply.raw, times.stalledAnswerMs);
      reply.raw.once('close', pressure.keep(reply.request.viewer!.userId, length));
    }
    return answerResult(reply, result, mediaType);
  };

  const readRequest = (request: FastifyRequest): PromiseOrValue<GraphRequest> => {
    if (request.method === 'GET') return toGraphRequest(urlParameters(request));
    const read = () => toGraphRequest(readJsonObject(request, bodyLimits));
    const body = request.body as Buffer | undefined;
    return body && body.length > smallBodyBytes ? graph.inTurn(request.viewer!, read) : read();
  };

  addEndpoint(
    app,
    endpoints.graph,
    (request, reply) => {
      const mediaType = acceptedMediaType(request.headers.accept);
      const takesEvents = acceptsEventStream(request.headers.accept);
      if (!mediaType && !takesEvents) {
        throw new Refusal(
          'NOT_ACCEPTABLE',
          'Accept must allow application/json, application/graphql-response+json or text/event-stream.',
        );
      }
      const viewer = request.viewer!;
      const limits = {
        queriesOnly: request.method === 'GET',
        idempotencyKey:
          request.method === 'POST' ? toIdempotencyKey(request.headers['idempotency-key']) : undefined,
        mayBegin: () => {
          if (request.raw.socket.destroyed) throw new Refusal('UNAVAILABLE', 'Nobody waits for the answer.');
          pressure.checkTurn(viewer.userId);
        },
      };
      if (!takesEvents) {
        const result = whenDone(readRequest(request), (given) => graph.run(given, viewer, limits));
        return whenDone(pressure.count(viewer.userId, result), (done) => answer(reply, done, mediaType!));
      }
      const opening = whenDone(readRequest(request), (given) => graph.open(given, viewer, limits));
      // Whoever takes both gets events only from a subscription.
      return whenDone(pressure.count(viewer.userId, opening), (opened) =>
        mediaType && !('next' in opened)
          ? answer(reply, opened, mediaType)
          : answerEvents(reply, opened, viewer, services),
      );
    },
    { onRequest, preParsing },
  );
}

function answerResult(
  reply: FastifyReply,
  { isExecuted, text, retryAfterSeconds }: GraphResult,
  mediaType: GraphMediaType,
): FastifyReply {
  const isUnavailable = retryAfterSeconds !== undefined;
  if (isUnavailable) reply.header('retry-after', String(retryAfterSeconds));
  const usual = isExecuted || mediaType === 'application/json' ? 200 : 400;
  return reply
    .code(isUnavailable ? 503 : usual)
    .header('content-type', `${mediaType}; charset=utf-8`)
    .header('cache-control', 'no-store')
    .send(text);
}

/** Nobody may make the service keep what they do not read. */
function limitStall(response: ServerResponse, stalledMs: number): void {
  response.setTimeout(stalledMs, () => response.destroy());
  // Before Node sets the time until the next request; one that has come already may take long.
  response.prependOnceListener('finish', () => response.setTimeout(0));
}

function urlParameters({ url }: FastifyRequest): Record<string, unknown> {
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
