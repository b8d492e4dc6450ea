/** Converts the server's OpenAPI document to the model of the page of endpoints. */

import { quoteForShell } from '../actions/action.ts';

export interface OpenApi {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description: string }>>;
  readonly content?: Content;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
}

export interface Field {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

export interface Endpoint {
  /** The operation id, which is part of the address of the endpoint on this page. */
  readonly id: string;
  readonly method: string;
  /** Whether HEAD is supported as well. */
  readonly hasHead: boolean;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly access: string;
  readonly parameters: readonly (Field & { readonly in: string })[];
  readonly body?: {
    readonly mediaType: string;
    readonly isRequired: boolean;
    readonly name?: string;
    readonly fields: readonly Field[];
  };
  readonly responses: readonly EndpointResponse[];
}

export interface EndpointResponse {
  readonly status: string;
  readonly meanings: readonly string[];
  /** The schema name of the body. */
  readonly body: string | null;
  readonly headers: readonly { readonly name: string; readonly description: string }[];
}

export function listEndpoints({ paths, components }: OpenApi): Endpoint[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== 'head' || !methods['get'])
      .map(([method, operation]) => ({
        id: operation.operationId,
        method: method.toUpperCase(),
        hasHead: method === 'get' && methods['head'] !== undefined,
        path,
        summary: operation.summary,
        description: operation.description,
        access: readAccess(operation),
        parameters: (operation.parameters ?? []).map((parameter) => ({
          name: parameter.name,
          in: parameter.in,
          type: formatType(parameter.schema),
          isRequired: parameter.required === true,
          description: parameter.description ?? '',
        })),
        ...readBody(operation, components),
        responses: Object.entries(operation.responses).map(([status, response]) =>
          readResponse(status, response),
        ),
      })),
  );
}

function readAccess({ security = [] }: Operation): string {
  const names = security.flatMap((one) => Object.keys(one));
  const isOptional = security.some((one) => Object.keys(one).length === 0);
  if (names.includes('authToken')) return isOptional ? 'Auth token, or a token in the body' : 'Auth token';
  return names.includes('client') ? 'Name and password of a client' : 'Public';
}

function readBody({ requestBody }: Operation, components: OpenApi['components']): Pick<Endpoint, 'body'> {
  const [mediaType, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (mediaType === undefined || content === undefined) return {};
  const name = readSchemaName(content.schema);
  const schema = name === undefined ? content.schema : components.schemas[name];
  return {
    body: {
      mediaType,
      isRequired: requestBody?.required === true,
      ...(name === undefined ? {} : { name }),
      fields: schema ? listFields(schema) : [],
    },
  };
}

function readResponse(
  status: string,
  { description, headers = {}, content = {} }: Response,
): EndpointResponse {
  const [first] = Object.values(content);
  return {
    status,
    meanings: description.split(/; (?=`)/),
    body: first ? (readSchemaName(first.schema) ?? formatType(first.schema)) : null,
    headers: Object.entries(headers).map(([name, header]) => ({ name, description: header.description })),
  };
}

export function listFields({ properties = {}, required = [] }: Schema): Field[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    type: formatType(schema),
    isRequired: required.includes(name),
    description: schema.description ?? '',
  }));
}

function readSchemaName({ $ref }: Schema): string | undefined {
  return $ref?.split('/').at(-1);
}

/** For example "string or null" or "list of object". */
export function formatType(schema: Schema): string {
  if (schema.$ref !== undefined) return readSchemaName(schema)!;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' or ');
  if (schema.type === 'array') return `list of ${schema.items ? formatType(schema.items) : 'anything'}`;
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['anything']);
  return types.join(' or ') + (schema.format === undefined ? '' : ` (${schema.format})`);
}

/** Example values of fields. Secrets are shell variables and never literal. */
const exampleValues: Readonly<Record<string, string>> = {
  username: 'ada',
  password: '$ESPALIER_PASSWORD',
  authToken: '$ESPALIER_AUTH_TOKEN',
  token: '$ESPALIER_AUTH_TOKEN',
  refreshToken: '$ESPALIER_REFRESH_TOKEN',
  query: '{ folder { name } }',
};

export function formatCurl({ method, path, access, body, parameters }: Endpoint, apiUrl: string): string {
  const lines = [`curl ${quoteForShell(apiUrl + path)}`];
  if (access.startsWith('Auth token')) lines.push('-H "Authorization: Bearer $ESPALIER_AUTH_TOKEN"');
  if (access.startsWith('Name')) lines.push('-u "$ESPALIER_INTROSPECTION_CLIENT"');
  const needed = Object.fromEntries(
    (body?.isRequired ? body.fields : [])
      .filter(({ isRequired }) => isRequired)
      .map(({ name }) => [name, exampleValues[name] ?? '…']),
  );
  if (body?.isRequired && body.mediaType === 'application/json') {
    lines.push("-H 'Content-Type: application/json'", `-d ${forShell(JSON.stringify(needed))}`);
  } else if (body?.isRequired) {
    for (const [name, value] of Object.entries(needed)) {
      lines.push(`--data-urlencode ${forShell(`${name}=${value}`)}`);
    }
  } else if (method === 'GET') {
    const required = parameters.filter((one) => one.in === 'query' && one.isRequired);
    if (required.length > 0) lines.push('-G');
    for (const { name } of required) {
      lines.push(`--data-urlencode ${forShell(`${name}=${exampleValues[name] ?? '…'}`)}`);
    }
  } else if (method !== 'GET') {
    lines.push(`-X ${method}`);
  }
  return lines.join(' \\\n  ');
}

/** Uses double quotes if the text contains shell variables. */
function forShell(text: string): string {
  return text.includes('$ESPALIER_') ? `"${text.replace(/["\\`]/g, '\\$&')}"` : quoteForShell(text);
}
