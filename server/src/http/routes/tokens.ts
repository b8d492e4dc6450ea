/** The four token endpoints, as the contract describes them. The endpoint table contains their refusals. */

import { endpoints, type LoginResponse } from '@espalier/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import type { Activity, CountedKind } from '../../observability/activity.ts';
import { Refusal } from '../../refusal.ts';
import type { IssuedPair, Sessions } from '../../sessions/sessions.ts';
import { optionalBearer, requiredBearer } from '../authorization.ts';
import { refuseDeepBody } from '../guards/body-limits.ts';
import { drainBody } from '../guards/body-limits.ts';
import { addEndpoint } from './endpoint.ts';
import { isEmptyBody, readBody } from '../json-body.ts';
import type { Admission } from '../guards/overload.ts';
import { isIP } from 'net';
import type { Client } from '../../sessions/session-list.ts';

export interface TokenRouteOptions {
  readonly pressure: Admission;
  readonly activity: Activity;
}

export function addTokenRoutes(
  app: FastifyInstance,
  sessions: Sessions,
  { pressure, activity }: TokenRouteOptions,
): void {
  const logIn = async (request: FastifyRequest, reply: FastifyReply) => {
    const credentials = readBody(request, 'Credentials');
    const pair = await sessions.logIn(credentials, clientOf(request));
    activity.count('logins');
    return sendPair(reply, pair);
  };
  addEndpoint(app, endpoints.login, logIn, {
    onRequest: (_request, _reply, done) => {
      pressure.checkLogin();
      done();
    },
    preParsing: refuseDeepBody,
    onSend: counted(activity, { 401: 'failedLogins', 429: 'failedLogins' }),
  });

  const refresh = async (request: FastifyRequest, reply: FastifyReply) => {
    const { refreshToken } = readBody(request, 'RefreshTokenRequest');
    const authToken = requiredBearer(request);
    const pair = await sessions.refresh({ authToken, refreshToken }, clientOf(request));
    activity.count('refreshes');
    return sendPair(reply, pair);
  };
  addEndpoint(app, endpoints.refresh, refresh, { preParsing: refuseDeepBody });

  // Contract §4 rule 1: the auth token takes precedence. With one, the body is not even read.
  const logOutByHeader = async (request: FastifyRequest, reply: FastifyReply) => {
    const authToken = optionalBearer(request);
    if (authToken === undefined) return;
    const { userId } = await sessions.logOutByAuthToken(authToken);
    reply.setUser(userId);
    await new Promise((resolve) => drainBody(request.raw, resolve));
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

  addEndpoint(app, endpoints.logout, logOutByBody, {
    onRequest: logOutByHeader,
    preParsing: refuseDeepBody,
  });

  const verify = (request: FastifyRequest, reply: FastifyReply) => {
    const { userId } = sessions.authenticate(readBody(request, 'AuthTokenRequest').authToken);
    reply.setUser(userId);
    reply.code(endpoints.verify.success.status).send();
  };
  addEndpoint(app, endpoints.verify, verify, { preParsing: refuseDeepBody });
}

/** Counts responses by their status. */
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

function sendPair(
  reply: FastifyReply,
  { authToken, refreshToken, expiresInSeconds, userId }: IssuedPair,
): FastifyReply {
  const body: LoginResponse = { authToken, expires_in: expiresInSeconds, refreshToken };
  reply.setUser(userId);
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(JSON.stringify(body));
}
const maxAgentLength = 255;

export function clientOf({ ip, headers }: FastifyRequest): Client {
  const agent = headers['user-agent']?.replace(/\p{Cc}/gu, '').slice(0, maxAgentLength);
  // Undefined once the connection is closed. Behind a trusted proxy it can be any text.
  return { address: isIP(ip ?? '') ? ip : null, agent: agent || null };
}
