/** The endpoints that log in with a passkey, and that set up a second factor at the login. */

import { endpoints, type EnrolledLoginResponse, type EnrolmentResponse } from '@espalier/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuseDeepBody } from '../guards/body-limits.ts';
import type { HttpServices } from '../http-services.ts';
import { readBody } from '../json-body.ts';
import { addEndpoint, sendJson } from './endpoint.ts';
import { loginHooks, readClient, sendTokens, toLoginResponse } from './tokens.ts';

export function addSecondFactorRoutes(app: FastifyInstance, services: HttpServices): void {
  addEnrolment(app, services);
  addPasskeyLogin(app, services);
}

function addEnrolment(app: FastifyInstance, services: HttpServices): void {
  const { loginEnrolments, activity } = services;

  const describe = async (request: FastifyRequest, reply: FastifyReply) => {
    const { enrolmentToken } = readBody(request, 'EnrolmentRequest');
    const { secret, uri, username } = await loginEnrolments.describe(enrolmentToken);
    const body: EnrolmentResponse = { secret, uri, username };
    return sendJson(reply, body);
  };
  addEndpoint(app, endpoints.enrolment, describe, { preParsing: refuseDeepBody });

  const confirm = async (request: FastifyRequest, reply: FastifyReply) => {
    const { enrolmentToken: token, code } = readBody(request, 'EnrolmentConfirmation');
    const { recoveryCodes, ...tokens } = await loginEnrolments.confirm({ token, code }, readClient(request));
    activity.count('logins');
    const body: EnrolledLoginResponse = { ...toLoginResponse(tokens), recoveryCodes: [...recoveryCodes] };
    reply.setUser(tokens.userId);
    return sendJson(reply, body);
  };
  addEndpoint(app, endpoints.confirmEnrolment, confirm, loginHooks(services));
}

function addPasskeyLogin(app: FastifyInstance, services: HttpServices): void {
  const { passkeyLogin, activity } = services;

  const start = async (_request: FastifyRequest, reply: FastifyReply) =>
    sendJson(reply, await passkeyLogin.createRequest());
  addEndpoint(app, endpoints.passkeyOptions, start, loginHooks(services));

  const logIn = async (request: FastifyRequest, reply: FastifyReply) => {
    const { challengeId, response } = readBody(request, 'PasskeyLoginRequest');
    const tokens = await passkeyLogin.logIn({ challengeId, response }, readClient(request));
    activity.count('logins');
    return sendTokens(reply, tokens);
  };
  addEndpoint(app, endpoints.passkeyLogin, logIn, loginHooks(services));
}
