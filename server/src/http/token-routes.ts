/** The four token endpoints. Each reads as the contract tells it; what can be refused, the endpoint table knows. */

import { endpoints, type LoginResponse } from '@espalier/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import type { Activity, CountedKind } from '../activity.ts';
import { Refusal } from '../refusal.ts';
import type { IssuedPair, Sessions } from '../sessions/sessions.ts';
import { optionalBearer, requiredBearer } from './bearer.ts';
import { clientOf } from './client-of.ts';
import { drainBody } from './drain-body.ts';
import { addEndpoint } from './endpoint-route.ts';
import { isEmptyBody, readBody } from './json-body.ts';
import type { Pressure } from './pressure.ts';

export interface TokenRouteOptions {
  readonly pressure: Pressure;
  readonly activity: Activity;
}

export function addTokenRoutes(
  app: FastifyInstance,
  sessions: Sessions,
  { pressure, activity }: TokenRouteOptions,
): void {
  const logIn = async (request: FastifyRequest, reply: FastifyReply) => {
    const credentials = readBody(request, 'Credentials');
    return answerPair(reply, await sessions.logIn(credentials, clientOf(request)));
  };
  const checkPressure = (_request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
    pressure.checkLogin();
    done();
  };
  addEndpoint(app, endpoints.login, logIn, {
    onRequest: checkPressure,
    onSend: counted(activity, { 200: 'logins', 401: 'failedLogins', 429: 'failedLogins' }),
  });

  const refresh = async (request: FastifyRequest, reply: FastifyReply) => {
    const { refreshToken } = readBody(request, 'RefreshTokenRequest');
    const authToken = requiredBearer(request);
    return answerPair(reply, await sessions.refresh({ authToken, refreshToken }, clientOf(request)));
  };
  addEndpoint(app, endpoints.refresh, refresh, { onSend: counted(activity, { 200: 'refreshes' }) });

  // Contract §4 rule 1: the AT takes precedence. With one, the body is not even read.
  const logOutByHeader = async (request: FastifyRequest, reply: FastifyReply) => {
    const authToken = optionalBearer(request);
    if (authToken === undefined) return;
    await sessions.logOutByAuthToken(authToken);
    await new Promise<void>((resolve) => drainBody(request.raw, resolve));
    return reply.code(endpoints.logout.success.status).send();
  };

  const logOutByBody = async (request: FastifyRequest, reply: FastifyReply) => {
    if (isEmptyBody(request)) {
      throw new Refusal(
        'BAD_INPUT',
        'Send the auth token in the Authorization header or the refresh token in the body.',
      );
    }
    await sessions.logOutByRefreshToken(readBody(request, 'RefreshTokenRequest').refreshToken);
    return reply.code(endpoints.logout.success.status).send();
  };

  addEndpoint(app, endpoints.logout, logOutByBody, { onRequest: logOutByHeader });

  addEndpoint(app, endpoints.verify, (request, reply) => {
    sessions.authenticate(readBody(request, 'AuthTokenRequest').authToken);
    return reply.code(endpoints.verify.success.status).send();
  });
}

/** By the status of the answer. */
function counted(
  activity: Activity,
  kinds: Readonly<Partial<Record<number, CountedKind>>>,
): onSendHookHandler {
  return (_request, { statusCode }, payload, done) => {
    const kind = kinds[statusCode];
    if (kind) activity.count(kind);
    done(null, payload);
  };
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
