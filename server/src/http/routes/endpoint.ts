/** Adds an endpoint of the contract to the app: its body limit, its refusals, and 405 for other methods. */

import type { Endpoint } from '@espalier/contract';
import type {
  FastifyInstance,
  FastifyReply,
  HTTPMethods,
  RouteHandlerMethod,
  RouteOptions,
  RouteShorthandOptions,
} from 'fastify';
import { Refusal } from '../../refusal.ts';

const methods: readonly HTTPMethods[] = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];

export function addEndpoint(
  app: FastifyInstance,
  endpoint: Endpoint,
  handler: RouteHandlerMethod,
  options: RouteShorthandOptions = {},
): void {
  const allow = endpoint.methods;
  const bodyLimit = endpoint.request?.limitBytes;
  const route = { url: endpoint.path, config: { endpoint }, ...(bodyLimit && { bodyLimit }) };
  app.route({ ...options, ...route, method: [...allow], handler });
  refuseOtherMethods(app, route, allow);
}

export function refuseOtherMethods(
  app: FastifyInstance,
  route: Pick<RouteOptions, 'url' | 'config'>,
  allow: readonly string[],
): void {
  const refuse = () => {
    throw new Refusal('METHOD_NOT_ALLOWED', `This address supports only ${allow.join(' and ')}.`, { allow });
  };
  const others = methods.filter((method) => !allow.includes(method));
  // Refused before the body is read.
  app.route({ ...route, method: others, onRequest: refuse, handler: refuse });
}

/** Adds a request header to `Vary`, which may already name others, for example `Origin`. */
export function varyBy(reply: FastifyReply, header: string): void {
  const vary = reply.getHeader('vary');
  reply.header('vary', vary === undefined ? header : `${String(vary)}, ${header}`);
}

/** Sends a response that no cache may store. */
export function sendJson(reply: FastifyReply, body: object): FastifyReply {
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(JSON.stringify(body));
}
