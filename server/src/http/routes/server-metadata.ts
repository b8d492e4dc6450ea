/**
 * `/.well-known/oauth-authorization-server` (RFC 8414), so that libraries for OAuth find the public keys and the introspection
 * endpoint from the issuer alone.
 */

import { endpoints, type ServerMetadata } from '@espalier/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../refusal.ts';
import type { HttpServices } from '../http-services.ts';
import { addEndpoint, refuseOtherMethods } from './endpoint.ts';

type MetadataSettings = Pick<HttpServices['settings'], 'basePath' | 'publicUrl' | 'introspectionClient'>;

const { serverMetadata, keySet, introspect } = endpoints;
const cacheSeconds = 300;

/** Below the base path: clients that append the address to the issuer find it here. */
export function addServerMetadata(app: FastifyInstance, services: HttpServices): void {
  addEndpoint(app, serverMetadata, createHandler(services));
}

/**
 * The address of the standard: the path of the issuer comes after the well-known address (RFC 8414 §3.1). It is outside of the base
 * path, so add it to the app itself.
 */
export function addStandardServerMetadata(app: FastifyInstance, services: HttpServices): void {
  const { issuer } = services.sessions;
  const { basePath } = services.settings;
  const expectedPath = standardPath(issuer);
  if (expectedPath === undefined || expectedPath === basePath + serverMetadata.path) return;
  const send = createHandler(services);
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    // The issuer may contain characters that are special in the path of a route, so the route is a wildcard.
    if (request.url.split('?', 1)[0] === expectedPath) return send(request, reply);
    throw new Refusal('NOT_FOUND', 'This is not the issuer of this server.');
  };
  const hasPath = expectedPath !== serverMetadata.path;
  const url = hasPath ? `${serverMetadata.path}/*` : serverMetadata.path;
  const route = { url, config: { endpoint: serverMetadata } };
  app.route({ ...route, method: [...serverMetadata.methods], handler });
  refuseOtherMethods(app, route, serverMetadata.methods);
}

function createHandler({ sessions, settings }: HttpServices) {
  const metadata = describeServer(sessions.issuer, settings);
  const body = metadata && JSON.stringify(metadata);
  return (_: FastifyRequest, reply: FastifyReply) => {
    if (body === undefined) {
      throw new Refusal(
        'NOT_FOUND',
        'This server has no OAuth metadata. Set ESPALIER_ISSUER to an https URL to enable it.',
      );
    }
    return reply
      .header('content-type', 'application/json; charset=utf-8')
      .header('cache-control', `public, max-age=${cacheSeconds}`)
      .send(body);
  };
}

/** Returns undefined if the issuer is not an https URL. */
function describeServer(issuer: string, settings: MetadataSettings): ServerMetadata | undefined {
  if (!parseIssuer(issuer)) return undefined;
  const url = serverUrl(issuer, settings);
  return {
    issuer,
    jwks_uri: url + keySet.path,
    // The standard requires this field. Both are empty, although RFC 8414 §3.2 omits empty lists: without the second one, clients must
    // assume the grant type authorization_code.
    response_types_supported: [],
    grant_types_supported: [],
    ...(settings.introspectionClient !== undefined && {
      introspection_endpoint: url + introspect.path,
      introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
    }),
  };
}

/** A standard issuer has no query, no fragment and no credentials. */
function parseIssuer(issuer: string): URL | undefined {
  if (!/^https:\/\/[^?#]+$/.test(issuer) || !URL.canParse(issuer)) return undefined;
  const url = new URL(issuer);
  return url.username === '' && url.password === '' ? url : undefined;
}

/** Without ESPALIER_PUBLIC_URL, the URL of the server is the issuer, with the base path if the issuer does not end with it. */
function serverUrl(issuer: string, { basePath, publicUrl }: MetadataSettings): string {
  if (publicUrl?.startsWith('https:')) return withoutSlash(publicUrl);
  const url = withoutSlash(issuer);
  return url.endsWith(basePath) ? url : url + basePath;
}

function standardPath(issuer: string): string | undefined {
  const url = parseIssuer(issuer);
  return url && serverMetadata.path + withoutSlash(url.pathname);
}

function withoutSlash(text: string): string {
  return text.replace(/\/+$/, '');
}
