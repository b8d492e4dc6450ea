/** Creates the OpenAPI 3.1 document of the server from the endpoint table. */

import { bodies, type BodyName } from './bodies.ts';
import { endpoints, listRefusals, formatCode, type Endpoint, type Method } from './endpoints.ts';

export function createOpenApiDocument(service: { url: string; version: string }) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, endpoint] of Object.entries<Endpoint>(endpoints)) {
    paths[endpoint.path] = Object.fromEntries(
      endpoint.methods.map((method) => [method.toLowerCase(), operation(name, endpoint, method)]),
    );
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Espalier',
      version: service.version,
      summary: 'Token-secured graph access to one shared tree of folders',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: service.url }],
    paths,
    components: {
      securitySchemes: {
        authToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        client: { type: 'http', scheme: 'basic' },
      },
      schemas: bodies,
    },
  };
}

function operation(name: string, endpoint: Endpoint, method: Method) {
  return {
    operationId: method === endpoint.methods.at(-1) ? name : `${name}By${capitalize(method)}`,
    summary: endpoint.summary,
    description: endpoint.description,
    security: security[endpoint.authHeader],
    ...(endpoint.request && method === 'POST' && { requestBody: requestBody(endpoint.request) }),
    ...(endpoint.parameters && method !== 'POST' && { parameters: queryParameters(endpoint.parameters) }),
    ...(endpoint.headers && method === 'POST' && { parameters: headerParameters(endpoint.headers) }),
    responses: responses(endpoint, method),
  };
}

function capitalize(method: Method): string {
  return method[0] + method.slice(1).toLowerCase();
}

const security = {
  none: [],
  optional: [{}, { authToken: [] }],
  required: [{ authToken: [] }],
  client: [{ client: [] }],
};

function queryParameters(parameters: NonNullable<Endpoint['parameters']>) {
  return Object.entries(parameters).map(([name, { isRequired, description }]) => ({
    name,
    in: 'query',
    ...(isRequired && { required: true }),
    description,
    schema: { type: 'string' },
  }));
}

function headerParameters(headers: NonNullable<Endpoint['headers']>) {
  return Object.entries(headers).map(([name, { pattern, description }]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string', pattern },
  }));
}

const reference = (body: BodyName) => ({ $ref: `#/components/schemas/${body}` });
const jsonContent = (body: BodyName) => ({ 'application/json': { schema: reference(body) } });
const graphContent = {
  ...jsonContent('GraphResponse'),
  'application/graphql-response+json': { schema: reference('GraphResponse') },
};
const eventContent = {
  'text/event-stream': { schema: { type: 'string', description: 'Events `next` and `complete`.' } },
};
const problemContent = { 'application/problem+json': { schema: reference('Problem') } };

function requestBody({ body, isRequired, isForm }: NonNullable<Endpoint['request']>) {
  return {
    required: isRequired,
    content: isForm
      ? { 'application/x-www-form-urlencoded': { schema: reference(body) } }
      : jsonContent(body),
  };
}

function responses(endpoint: Endpoint, method: Method) {
  const { success, refusalFormat, reportsExpiry, redirect } = endpoint;
  const onSuccess = {
    description: success.description,
    ...(success.isPage && { content: { 'text/html': { schema: { type: 'string' } } } }),
    ...(success.body && {
      content: refusalFormat === 'graphql' ? { ...graphContent, ...eventContent } : jsonContent(success.body),
    }),
  };
  const hasRedirect = redirect !== undefined && method === 'GET';
  const isMain = method === endpoint.methods.at(-1);
  const responsesByStatus: Record<string, object> = {
    ...((isMain || !hasRedirect) && { [success.status]: onSuccess }),
    ...(hasRedirect && { 302: { description: redirect } }),
  };
  for (const [status, group] of Map.groupBy(listRefusals(endpoint), ([, refusal]) => refusal.status)) {
    responsesByStatus[status] = {
      description: group.map(([code, { when }]) => `\`${formatCode(endpoint, code)}\`: ${when}`).join('; '),
      ...(status === 401 && { headers: reportsExpiry ? { ...challenge, ...expiry } : challenge }),
      ...((status === 429 || status === 503) && { headers: retryAfter }),
      content: refusalFormat === 'problem' ? problemContent : graphContent,
    };
  }
  return responsesByStatus;
}

const challenge = {
  'WWW-Authenticate': { description: 'The scheme to use (RFC 9110).', schema: { type: 'string' } },
};

const expiry = {
  'token-expired': {
    description: 'Sent with the value `true` if the auth token is authentic but has expired.',
    schema: { type: 'string', const: 'true' },
  },
};

const retryAfter = {
  'Retry-After': { description: 'When to try again, in seconds.', schema: { type: 'integer' } },
};
