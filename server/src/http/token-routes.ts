/** The four token endpoints. Each reads as the contract tells it; what can be refused, the endpoint table knows. */

import { endpoints, type LoginResponse } from '@espalier/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Refusal } from '../refusal.ts';
import type { IssuedPair, Sessions } from '../sessions/sessions.ts';
import { optionalBearer, requiredBearer } from './bearer.ts';
import { addEndpoint } from './endpoint-route.ts';
import { isEmptyBody, readBody } from './json-body.ts';

export function addTokenRoutes(app: FastifyInstance, sessions: Sessions): void {
  addEndpoint(app, endpoints.login, async (request, reply) => {
    const { username, password } = readBody(request, 'Credentials');
    return answerPair(reply, await sessions.logIn(username, password));
  });

  addEndpoint(app, endpoints.refresh, async (request, reply) => {
    const { refreshToken } = readBody(request, 'RefreshTokenRequest');
    const authToken = requiredBearer(request);
    return answerPair(reply, await sessions.refresh({ authToken, refreshToken }));
  });

  addEndpoint(app, endpoints.logout, async (request, reply) => {
    const authToken = optionalBearer(request);
    if (authToken) {
      // Contract §4 rule 1: the AT takes precedence. The body is not even judged.
      await sessions.logOutByAuthToken(authToken);
    } else if (isEmptyBody(request)) {
      throw new Refusal(
        'BAD_INPUT',
        'Send the auth token in the Authorization header or the refresh token in the body.',
      );
    } else {
      await sessions.logOutByRefreshToken(readBody(request, 'RefreshTokenRequest').refreshToken);
    }
    return reply.code(endpoints.logout.success.status).send();
  });

  addEndpoint(app, endpoints.verify, (request, reply) => {
    sessions.authenticate(readBody(request, 'AuthTokenRequest').authToken);
    return reply.code(endpoints.verify.success.status).send();
  });
}

function answerPair(
  reply: FastifyReply,
  { authToken, refreshToken, expiresInSeconds }: IssuedPair,
): FastifyReply {
  const body: LoginResponse = { authToken, expires_in: expiresInSeconds, refreshToken };
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(JSON.stringify(body));
}
