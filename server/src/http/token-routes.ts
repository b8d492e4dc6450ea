/** The four token endpoints. Each reads as the contract tells it; what can be refused, the endpoint table knows. */

import { endpoints, type LoginResponse } from '@espalier/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import type { Activity, CountedKind } from '../activity.ts';
import { Refusal } from '../refusal.ts';
import type { IssuedPair, Sessions } from '../sessions/sessions.ts';
import { optionalBearer, requiredBearer } from './bearer.ts';
import { clientOf } from './client-of.ts';
import { refuseDeepBody } from './deep-bodies.ts';
import { drainBody } from './drain-body.ts';
import { jsonHead, noHead, usualWay, type Answer, type AnswerTo } from './endpoint-answer.ts';
import { addEndpoint } from './endpoint-route.ts';
import { isEmptyBody, readBody } from './json-body.ts';
import type { Pressure } from './pressure.ts';
import type { QuickWay } from './quick-way.ts';
import { noteUser } from './received-request.ts';

const pairHead = jsonHead('application/json');

export interface TokenRouteOptions {
  readonly pressure: Pressure;
  readonly activity: Activity;
  readonly quickWay: QuickWay | undefined;
  /** A client's address may be another than that of its connection: Fastify knows. */
  readonly trustsProxy: boolean;
}

export function addTokenRoutes(
  app: FastifyInstance,
  sessions: Sessions,
  { pressure, activity, quickWay, trustsProxy }: TokenRouteOptions,
): void {
  const quickWayOfClients = trustsProxy ? undefined : quickWay;

  const logIn: AnswerTo = async (asked) => {
    const credentials = readBody(asked, 'Credentials');
    const pair = await sessions.logIn(credentials, clientOf(asked));
    noteUser(asked.raw, pair.userId);
    activity.count('logins');
    return pairAnswer(pair);
  };
  const admit = () => {
    pressure.checkLogin();
    return null;
  };
  addEndpoint(app, endpoints.login, usualWay(logIn), {
    onRequest: (_request, _reply, done) => {
      admit();
      done();
    },
    preParsing: refuseDeepBody,
    onSend: counted(activity, { 401: 'failedLogins', 429: 'failedLogins' }),
  });
  quickWayOfClients?.add(app.prefix, endpoints.login, { admit, answerTo: logIn });

  const refresh: AnswerTo = async (asked) => {
    const { refreshToken } = readBody(asked, 'RefreshTokenRequest');
    const authToken = requiredBearer(asked);
    const pair = await sessions.refresh({ authToken, refreshToken }, clientOf(asked));
    noteUser(asked.raw, pair.userId);
    activity.count('refreshes');
    return pairAnswer(pair);
  };
  addEndpoint(app, endpoints.refresh, usualWay(refresh), { preParsing: refuseDeepBody });
  quickWayOfClients?.add(app.prefix, endpoints.refresh, { answerTo: refresh });

  // Contract §4 rule 1: the AT takes precedence. With one, the body is not even read.
  const logOutByHeader = async (request: FastifyRequest, reply: FastifyReply) => {
    const authToken = optionalBearer(request);
    if (authToken === undefined) return;
    const { userId } = await sessions.logOutByAuthToken(authToken);
    noteUser(request.raw, userId);
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

  const isValid: Answer = { status: endpoints.verify.success.status, head: noHead };
  const verify: AnswerTo = (asked) => {
    const { userId } = sessions.authenticate(readBody(asked, 'AuthTokenRequest').authToken);
    noteUser(asked.raw, userId);
    return isValid;
  };
  addEndpoint(app, endpoints.verify, usualWay(verify), { preParsing: refuseDeepBody });
  quickWay?.add(app.prefix, endpoints.verify, { answerTo: verify });
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

function pairAnswer({ authToken, refreshToken, expiresInSeconds }: IssuedPair): Answer {
  const body: LoginResponse = { authToken, expires_in: expiresInSeconds, refreshToken };
  return { status: 200, head: pairHead, text: JSON.stringify(body) };
}
