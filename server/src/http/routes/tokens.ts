/** The four token endpoints: login, refresh, logout and verify. `contract/src/endpoints.ts` contains their refusals. */

import { endpoints, type LoginResponse } from '@espalier/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { Refusal } from '../../refusal.ts';
import type { ClientInfo } from '../../sessions/session-reads.ts';
import type { IssuedTokens } from '../../sessions/refresh.ts';
import { isSecondStepMissing } from '../../sessions/second-factors/second-step.ts';
import { clientAddress, optionalBearer, requiredBearer } from '../request-context.ts';
import { drainBody, refuseDeepBody } from '../guards/body-limits.ts';
import { isEmptyBody, readBody } from '../json-body.ts';
import type { HttpServices } from '../http-services.ts';
import { addEndpoint, sendJson } from './endpoint.ts';

export function addTokenRoutes(app: FastifyInstance, services: HttpServices): void {
  addLogin(app, services);
  addRefresh(app, services);
  addLogout(app, services);
  addVerify(app, services);
}

function addLogin(app: FastifyInstance, services: HttpServices): void {
  const { sessions, activity } = services;
  const logIn = async (request: FastifyRequest, reply: FastifyReply) => {
    const credentials = readBody(request, 'Credentials');
    const tokens = await sessions.logIn(credentials, readClient(request));
    activity.count('logins');
    return sendTokens(reply, tokens);
  };
  addEndpoint(app, endpoints.login, logIn, loginHooks(services));
}

const failedLoginStatuses = [401, 403, 409, 429];

/** Refuses logins while memory is short, and counts the failed ones. The GET of a single sign-on is only its start. */
export function loginHooks({ admission, activity }: HttpServices): RouteShorthandOptions {
  return {
    onRequest: (_request, _reply, done) => {
      admission.checkMemory();
      done();
    },
    preParsing: refuseDeepBody,
    onSend: ({ method, refusalCode }, { statusCode }, payload, done) => {
      const isFailure = method === 'POST' && failedLoginStatuses.includes(statusCode);
      if (isFailure && !isSecondStepMissing(refusalCode)) activity.count('failedLogins');
      done(null, payload);
    },
  };
}

function addRefresh(app: FastifyInstance, { sessions, singleSignOn, activity }: HttpServices): void {
  const refresh = async (request: FastifyRequest, reply: FastifyReply) => {
    const { refreshToken } = readBody(request, 'RefreshTokenRequest');
    const authToken = requiredBearer(request);
    const tokens = await sessions.refresh({ authToken, refreshToken }, readClient(request));
    activity.count('refreshes');
    // In the background, so that a slow provider does not delay the response.
    singleSignOn?.recheck(tokens.sessionId);
    return sendTokens(reply, tokens);
  };
  addEndpoint(app, endpoints.refresh, refresh, { preParsing: refuseDeepBody });
}

function addLogout(app: FastifyInstance, { sessions }: HttpServices): void {
  const { status } = endpoints.logout.success;

  // Contract §4 rule 1: the auth token takes precedence. If the request has one, the body is not even parsed.
  const logOutByHeader = async (request: FastifyRequest, reply: FastifyReply) => {
    const authToken = optionalBearer(request);
    if (authToken === undefined) return;
    const { userId } = await sessions.logOutByAuthToken(authToken);
    reply.setUser(userId);
    await new Promise((resolve) => drainBody(request.raw, resolve));
    return reply.code(status).send();
  };

  const logOutByBody = async (request: FastifyRequest, reply: FastifyReply) => {
    if (isEmptyBody(request)) {
      throw new Refusal(
        'BAD_INPUT',
        'Send the auth token in the Authorization header or the refresh token in the body.',
      );
    }
    await sessions.logOutByRefreshToken(readBody(request, 'RefreshTokenRequest').refreshToken);
    return reply.code(status).send();
  };

  const options = { onRequest: logOutByHeader, preParsing: refuseDeepBody };
  addEndpoint(app, endpoints.logout, logOutByBody, options);
}

function addVerify(app: FastifyInstance, { sessions }: HttpServices): void {
  const verify = (request: FastifyRequest, reply: FastifyReply) => {
    const { userId } = sessions.authenticate(readBody(request, 'AuthTokenRequest').authToken);
    reply.setUser(userId);
    reply.code(endpoints.verify.success.status).send();
  };
  addEndpoint(app, endpoints.verify, verify, { preParsing: refuseDeepBody });
}

export function sendTokens(reply: FastifyReply, tokens: IssuedTokens): FastifyReply {
  reply.setUser(tokens.userId);
  return sendJson(reply, toLoginResponse(tokens));
}

export function toLoginResponse(tokens: IssuedTokens): LoginResponse {
  const { authToken, refreshToken, expiresInSeconds } = tokens;
  return { authToken, expires_in: expiresInSeconds, refreshToken };
}

const maxAgentLength = 255;

/** The client's address and user agent, as the list of sessions contains them. They are stored nowhere else. */
export function readClient(request: FastifyRequest): ClientInfo {
  const agent = request.headers['user-agent']?.replace(/\p{Cc}/gu, '').slice(0, maxAgentLength);
  return { address: clientAddress(request), agent: agent || null };
}
