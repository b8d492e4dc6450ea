/** Puts an endpoint of the contract on the app: its limit, its refusals, and 405 for the methods it does not take. */

import type { Endpoint } from '@espalier/contract';
import type { FastifyInstance, HTTPMethods, RouteHandlerMethod, RouteShorthandOptions } from 'fastify';
import { Refusal } from '../refusal.ts';

const methods: readonly HTTPMethods[] = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];

export function addEndpoint(
  app: FastifyInstance,
  endpoint: Endpoint,
  handler: RouteHandlerMethod,
  options: RouteShorthandOptions = {},
): void {
  const allow = endpoint.methods;
  const route = {
    ...options,
    url: endpoint.path,
    bodyLimit: endpoint.request.limitBytes,
    config: { endpoint },
  };
  app.route({ ...route, method: [...allow], handler });
  app.route({
    ...route,
    method: methods.filter((method) => !allow.some((allowed) => allowed === method)),
    handler: () => {
      throw new Refusal('METHOD_NOT_ALLOWED', `This address takes ${allow.join(' and ')} only.`, { allow });
    },
  });
}
