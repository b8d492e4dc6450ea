import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { bodies } from './bodies.ts';
import { endpoints, listRefusals, formatCode, type Endpoint } from './endpoints.ts';
import { createOpenApiDocument } from './openapi.ts';

interface Operation {
  operationId: string;
  security: object[];
  requestBody?: { required: boolean; content: object };
  parameters?: { name: string; in: string; required?: boolean }[];
  responses: Record<string, { description: string; headers?: object; content?: Record<string, unknown> }>;
}

const service = { url: 'https://tree.example/api', version: '1.2.3' };
const document = createOpenApiDocument(service);
const paths = document.paths as Record<string, Record<string, Operation>>;

const table = Object.entries<Endpoint>(endpoints);
const operations = table.flatMap(([name, endpoint]) =>
  endpoint.methods.map((method) => ({
    name,
    method,
    endpoint,
    operation: paths[endpoint.path]![method.toLowerCase()]!,
  })),
);

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone<Record<string, unknown>>(document));
  assert.ok(valid, JSON.stringify(errors));
  assert.equal(validator.version, '3.1');
});

test('the document contains the URL and version of the server', () => {
  assert.deepEqual(document.servers, [{ url: service.url }]);
  assert.equal(document.info.version, service.version);
});

test('the document has exactly the paths and methods of the endpoint table', () => {
  const documentedPaths = Object.entries(paths).map(([path, methods]) => [path, Object.keys(methods).sort()]);
  const expected = table.map(([, { path, methods }]) => [path, methods.map((m) => m.toLowerCase()).sort()]);
  assert.deepEqual(documentedPaths, expected);
});

for (const { name, method, endpoint, operation } of operations) {
  test(`the document has exactly the statuses of the endpoint table for ${method} ${endpoint.path}`, () => {
    const refusalStatuses = Object.values(endpoint.refusals).map(({ status }) => status);
    const successStatuses = successesOf(endpoint, method).map(({ status }) => status);
    const expected = [...new Set([...successStatuses, ...refusalStatuses])].map(String).sort();
    assert.deepEqual(Object.keys(operation.responses).sort(), expected);
    for (const [code, { status, when }] of listRefusals(endpoint)) {
      const expectedText = `\`${formatCode(endpoint, code)}\`: ${when}`;
      assert.ok(operation.responses[status]!.description.includes(expectedText), `${name} ${code}`);
    }
  });
}

interface Success extends Omit<Endpoint['success'], 'status'> {
  readonly status: number;
}

/** The GET of an endpoint can be a redirect, whose response has no body. The main method also has the other response. */
function successesOf({ methods, success, redirect }: Endpoint, method: string): Success[] {
  if (redirect === undefined || method !== 'GET') return [success];
  const redirection = { status: 302, description: redirect };
  return methods.at(-1) === 'GET' ? [success, redirection] : [redirection];
}

const graphMediaTypes = ['application/json', 'application/graphql-response+json'];

test('the document describes a response body exactly where the endpoint table names one', () => {
  for (const { method, endpoint, operation } of operations) {
    for (const { status, body, isPage } of successesOf(endpoint, method)) {
      const mediaTypes = endpoint.refusalFormat === 'graphql' ? graphMediaTypes : ['application/json'];
      const schema = { $ref: `#/components/schemas/${body}` };
      const expected = body && Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema }]));
      const page = isPage && { 'text/html': { schema: { type: 'string' } } };
      const { 'text/event-stream': events, ...content } = operation.responses[status]!.content ?? {};
      assert.deepEqual(content, expected ?? page ?? {}, endpoint.path);
      assert.equal(events !== undefined, endpoint.path === '/graphql', 'only the graph streams');
    }
  }
});

test('the document describes refusals as problem documents, and as GraphQL errors for /graphql', () => {
  for (const { endpoint, operation } of operations) {
    const expected = endpoint.refusalFormat === 'problem' ? ['application/problem+json'] : graphMediaTypes;
    for (const [status, { content }] of Object.entries(operation.responses)) {
      if (Number(status) >= 400) assert.deepEqual(Object.keys(content!), expected, endpoint.path);
    }
  }
});

test('the document requires the auth token where the endpoint table does', () => {
  const security = (path: string) => paths[path]!['post']!.security;
  assert.deepEqual(security('/login'), []);
  assert.deepEqual(security('/login/verify'), []);
  assert.deepEqual(security('/logout'), [{}, { authToken: [] }]);
  assert.deepEqual(security('/login/refresh'), [{ authToken: [] }]);
  assert.deepEqual(security('/graphql'), [{ authToken: [] }]);
});

test('the document has `token-expired` only on the 401 of endpoints that report expiry', () => {
  for (const { endpoint, operation } of operations) {
    for (const [status, { headers = {} }] of Object.entries(operation.responses)) {
      const isExpected = status === '401' && endpoint.reportsExpiry;
      assert.equal('token-expired' in headers, isExpected, `${endpoint.path} ${status}`);
      assert.equal('WWW-Authenticate' in headers, status === '401', `${endpoint.path} ${status}`);
    }
  }
});

test('the document has `Retry-After` on every 429 and 503, and on no other status', () => {
  for (const { endpoint, operation } of operations) {
    for (const [status, { headers = {} }] of Object.entries(operation.responses)) {
      const isExpected = status === '429' || status === '503';
      assert.equal('Retry-After' in headers, isExpected, `${endpoint.path} ${status}`);
    }
  }
});

test('the document describes a body and headers for POST, parameters for GET, and neither where the table has no request', () => {
  for (const { method, endpoint, operation } of operations) {
    assert.equal(
      operation.requestBody?.required,
      method === 'POST' ? endpoint.request?.isRequired : undefined,
    );
    const { parameters = [] } = operation;
    const queryNames = parameters.filter((each) => each.in === 'query').map(({ name }) => name);
    assert.deepEqual(queryNames, method === 'POST' ? [] : Object.keys(endpoint.parameters ?? {}));
    const headers = parameters.filter((each) => each.in === 'header');
    assert.deepEqual(
      headers.map(({ name, required }) => ({ name, required })),
      Object.keys((method === 'POST' && endpoint.headers) || {}).map((name) => ({ name, required: false })),
    );
  }
});

test('the document has a unique id for every operation', () => {
  assert.equal(new Set(operations.map(({ operation }) => operation.operationId)).size, operations.length);
});

test('the document resolves every reference to a schema of the document', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
  assert.equal(references.length, JSON.stringify(document).split('"$ref"').length - 1);
  for (const [, name] of references) assert.ok(Object.hasOwn(document.components.schemas, name!), name);
  assert.deepEqual(document.components.schemas, bodies);
});
