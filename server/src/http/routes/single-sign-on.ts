/** The endpoints of single sign-on, and the list of the ways to sign in. */

import { endpoints, type LoginMethods } from '@espalier/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../refusal.ts';
import type { SingleSignOn } from '../../sessions/single-sign-on/single-sign-on.ts';
import type { HttpServices } from '../http-services.ts';
import { readBody } from '../json-body.ts';
import { prefersHtml } from '../media-types.ts';
import { addEndpoint, sendJson } from './endpoint.ts';
import { readFormField } from './form-field.ts';
import { sendProgramPage } from './program-page.ts';
import { loginHooks, readClient, sendTokens } from './tokens.ts';

type Query = Readonly<Record<string, unknown>>;

export function addSingleSignOnRoutes(app: FastifyInstance, services: HttpServices): void {
  addLoginMethods(app, services);
  addSignIn(app, services);
  addCallback(app, services);
  addBackChannelLogout(app, services);
}

function addLoginMethods(app: FastifyInstance, services: HttpServices): void {
  const { settings, singleSignOn, passkeyLogin } = services;
  const list = ({ hostname }: FastifyRequest): LoginMethods => ({
    password: settings.passwordLogin !== 'off',
    singleSignOn: singleSignOn ? { name: singleSignOn.name } : null,
    passkeys: passkeyLogin.isOffered(hostname),
  });
  addEndpoint(app, endpoints.loginMethods, (request, reply) => sendJson(reply, list(request)));
}

function addSignIn(app: FastifyInstance, services: HttpServices): void {
  const { singleSignOn, activity } = services;
  const start = async (request: FastifyRequest, reply: FastifyReply, provider: SingleSignOn) => {
    const { challenge, redirect_uri: redirectUri, return_to: returnTo } = request.query as Query;
    const target = { challenge, redirectUri, returnTo };
    try {
      return await redirectTo(reply, await provider.start(target, readClient(request)));
    } catch (error) {
      // A person sees the error on the sign-in page, which also offers the other ways to sign in.
      const isTemporary =
        error instanceof Refusal && (error.code === 'UNAVAILABLE' || error.code === 'TOO_MANY_ATTEMPTS');
      const address =
        isTemporary && prefersHtml(request.headers.accept)
          ? provider.startErrorAddress(target, error)
          : undefined;
      if (address === undefined) throw error;
      return redirectTo(reply, address);
    }
  };
  const finish = async (request: FastifyRequest, reply: FastifyReply, provider: SingleSignOn) => {
    const tokens = await provider.logIn(readBody(request, 'SingleSignOnRequest'), readClient(request));
    activity.count('logins');
    return sendTokens(reply, tokens);
  };
  const signIn = (request: FastifyRequest, reply: FastifyReply) => {
    const provider = requireProvider(singleSignOn);
    return request.method === 'GET' ? start(request, reply, provider) : finish(request, reply, provider);
  };
  addEndpoint(app, endpoints.singleSignOn, signIn, loginHooks(services));
}

function addCallback(app: FastifyInstance, { singleSignOn }: HttpServices): void {
  addEndpoint(app, endpoints.singleSignOnCallback, async (request, reply) => {
    const provider = requireProvider(singleSignOn);
    const { search } = new URL(request.url, 'http://localhost');
    const { address, confirmation } = await provider.finish(search.slice(1), readClient(request));
    if (!confirmation) return redirectTo(reply, address);
    return sendProgramPage(reply, { address, provider: provider.name, ...confirmation });
  });
}

function addBackChannelLogout(app: FastifyInstance, { singleSignOn }: HttpServices): void {
  addEndpoint(app, endpoints.singleSignOnLogout, async (request, reply) => {
    const provider = requireProvider(singleSignOn);
    await provider.logOut(readFormField(request, 'logout_token'));
    return reply.header('cache-control', 'no-store').send();
  });
}

function requireProvider(singleSignOn: SingleSignOn | undefined): SingleSignOn {
  if (singleSignOn) return singleSignOn;
  throw new Refusal(
    'NOT_FOUND',
    'Single sign-on is not configured on this server. Set ESPALIER_SSO_ISSUER to enable it.',
  );
}

/** The addresses contain one-time codes, so no cache may store the response. */
function redirectTo(reply: FastifyReply, address: string): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(address, 302);
}
