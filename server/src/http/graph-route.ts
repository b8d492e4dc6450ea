/** `/graphql` over HTTP, by https://graphql.github.io/graphql-over-http/draft/ */

import { endpoints, type GraphRequest } from '@espalier/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { whenDone } from '../database/database.ts';
import type { Graph, GraphResult } from '../graph/graph.ts';
import type { Viewer } from '../graph/viewer.ts';
import { Refusal } from '../refusal.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { requiredBearer } from './bearer.ts';
import { addEndpoint } from './endpoint-route.ts';
import { readJsonObject } from './json-body.ts';
import { acceptedMediaType, type GraphMediaType } from './media-types.ts';

declare module 'fastify' {
  interface FastifyRequest {
    viewer: Viewer | null;
  }
}

export function addGraphRoute(app: FastifyInstance, graph: Graph, sessions: Sessions): void {
  app.decorateRequest('viewer', null);

  // Before the body is read: a stranger cannot make the service take in 32 MiB.
  const onRequest = (request: FastifyRequest, _: FastifyReply, done: () => void) => {
    const { userId, sessionId, expiresAt } = sessions.authenticate(requiredBearer(request));
    request.viewer = { userId, sessionId, tokenExpiresAt: expiresAt };
    done();
  };

  addEndpoint(
    app,
    endpoints.graph,
    (request, reply) => {
      const mediaType = acceptedMediaType(request.headers.accept);
      if (!mediaType) {
        throw new Refusal(
          'NOT_ACCEPTABLE',
          'Accept must allow application/json or application/graphql-response+json.',
        );
      }
      const isGet = request.method === 'GET';
      const graphRequest = toGraphRequest(isGet ? urlParameters(request) : readJsonObject(request));
      const result = graph.run(graphRequest, request.viewer!, { queriesOnly: isGet });
      return whenDone(result, (done) => answerResult(reply, done, mediaType));
    },
    { onRequest },
  );
}

function answerResult(
  reply: FastifyReply,
  { isExecuted, body }: GraphResult,
  mediaType: GraphMediaType,
): FastifyReply {
  return reply
    .code(isExecuted || mediaType === 'application/json' ? 200 : 400)
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

function toGraphRequest({
  query,
  operationName,
  variables,
  extensions,
}: Record<string, unknown>): GraphRequest {
  if (typeof query !== 'string') throw new Refusal('BAD_INPUT', 'The request needs `query`, a string.');
  if (!isAbsent(operationName) && typeof operationName !== 'string') {
    throw new Refusal('BAD_INPUT', '`operationName` must be a string.');
  }
  return {
    query,
    // Some clients send an empty name for none.
    operationName: operationName || null,
    variables: optionalObject(variables, 'variables'),
    extensions: optionalObject(extensions, 'extensions'),
  };
}

function optionalObject(value: unknown, name: string): Record<string, unknown> | null {
  if (isAbsent(value)) return null;
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new Refusal('BAD_INPUT', `\`${name}\` must be an object.`);
  }
  return value as Record<string, unknown>;
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}
