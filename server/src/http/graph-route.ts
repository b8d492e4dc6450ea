/** `/graphql` over HTTP, by https://graphql.github.io/graphql-over-http/draft/ */

import { endpoints } from '@espalier/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { whenDone } from '../database/database.ts';
import type { GraphResult } from '../graph/graph.ts';
import type { Viewer } from '../graph/viewer.ts';
import { Refusal } from '../refusal.ts';
import { requiredBearer, viewerOf } from './bearer.ts';
import { addEndpoint } from './endpoint-route.ts';
import { answerEvents } from './event-stream.ts';
import { toGraphRequest } from './graph-request.ts';
import { readJsonObject } from './json-body.ts';
import type { LiveServices } from './live-connections.ts';
import { acceptedMediaType, acceptsEventStream, type GraphMediaType } from './media-types.ts';

declare module 'fastify' {
  interface FastifyRequest {
    viewer: Viewer | null;
  }
}

export function addGraphRoute(app: FastifyInstance, services: LiveServices): void {
  const { graph, sessions } = services;
  app.decorateRequest('viewer', null);

  // Before the body is read: a stranger cannot make the service take in 32 MiB.
  const onRequest = (request: FastifyRequest, _: FastifyReply, done: () => void) => {
    request.viewer = viewerOf(requiredBearer(request), sessions);
    done();
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
      const isGet = request.method === 'GET';
      const viewer = request.viewer!;
      const limits = { queriesOnly: isGet };
      const graphRequest = toGraphRequest(isGet ? urlParameters(request) : readJsonObject(request));
      if (!takesEvents) {
        const result = graph.run(graphRequest, viewer, limits);
        return whenDone(result, (done) => answerResult(reply, done, mediaType!));
      }
      // Whoever takes both gets events only from a subscription.
      return whenDone(graph.open(graphRequest, viewer, limits), (opened) =>
        mediaType && !('next' in opened)
          ? answerResult(reply, opened, mediaType)
          : answerEvents(reply, opened, viewer, services),
      );
    },
    { onRequest },
  );
}

function answerResult(
  reply: FastifyReply,
  { isExecuted, body, retryAfterSeconds }: GraphResult,
  mediaType: GraphMediaType,
): FastifyReply {
  const isUnavailable = retryAfterSeconds !== undefined;
  if (isUnavailable) reply.header('retry-after', String(retryAfterSeconds));
  const usual = isExecuted || mediaType === 'application/json' ? 200 : 400;
  return reply
    .code(isUnavailable ? 503 : usual)
    .header('content-type', `${mediaType}; charset=utf-8`)
    .header('cache-control', 'no-store')
    .send(JSON.stringify(body));
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
