/**
 * The bodies of the endpoints: their types, and the JSON Schemas from which requests are checked and the
 * OpenAPI document is made. Unknown fields are allowed everywhere and ignored.
 */

export interface Credentials {
  username: string;
  password: string;
}

export interface RefreshTokenRequest {
  refreshToken: string;
}

export interface AuthTokenRequest {
  authToken: string;
}

export interface LoginResponse {
  authToken: string;
  expires_in: number;
  refreshToken: string;
}

/** RFC 9457, with the stable code and the id under which the service logged the request. */
export interface Problem {
  type: 'about:blank';
  title: string;
  status: number;
  detail: string;
  code: string;
  requestId: string;
}

export interface ProbeResponse {
  status: 'ok' | 'ready';
}

export interface GraphRequest {
  query: string;
  operationName?: string | null;
  variables?: Record<string, unknown> | null;
  extensions?: Record<string, unknown> | null;
}

export interface ObjectSchema {
  readonly type: 'object';
  readonly description: string;
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const text = (description: string) => ({ type: 'string', description });

export const bodies = {
  Credentials: {
    type: 'object',
    description: 'Who logs in.',
    required: ['username', 'password'],
    properties: { username: text('The user name.'), password: text('The password.') },
  },
  RefreshTokenRequest: {
    type: 'object',
    description: 'The refresh token to exchange or to revoke.',
    required: ['refreshToken'],
    properties: { refreshToken: text('The refresh token (RT).') },
  },
  AuthTokenRequest: {
    type: 'object',
    description: 'The auth token to check.',
    required: ['authToken'],
    properties: { authToken: text('The auth token (AT) to check.') },
  },
  GraphRequest: {
    type: 'object',
    description: 'A graph query.',
    required: ['query'],
    properties: {
      query: text('The GraphQL document.'),
      operationName: {
        type: ['string', 'null'],
        description: 'Which operation to run, if there are several.',
      },
      variables: { type: ['object', 'null'], description: 'Values of the variables of the operation.' },
      extensions: { type: ['object', 'null'], description: 'Ignored.' },
    },
  },
  LoginResponse: {
    type: 'object',
    description: 'A token pair.',
    required: ['authToken', 'expires_in', 'refreshToken'],
    properties: {
      authToken: text('The auth token (AT): a signed token (JWT) to send as `Authorization: Bearer <AT>`.'),
      expires_in: { type: 'integer', description: 'How long the auth token lives, in seconds.' },
      refreshToken: {
        ...text('The refresh token (RT): good for one exchange at `/login/refresh`.'),
        format: 'uuid',
      },
    },
  },
  GraphResponse: {
    type: 'object',
    description: 'The result of a query: `data`, and `errors` if there were any.',
    required: [],
    properties: {
      data: { type: ['object', 'null'], description: 'The fields that the query asked for.' },
      errors: {
        type: 'array',
        description: 'GraphQL errors, each with a stable `extensions.code`.',
        items: {
          type: 'object',
          required: ['message'],
          properties: {
            message: { type: 'string' },
            extensions: { type: 'object', properties: { code: { type: 'string' } } },
          },
        },
      },
    },
  },
  ProbeResponse: {
    type: 'object',
    description: 'How this node is.',
    required: ['status'],
    properties: { status: { ...text('`ok` or `ready`.'), enum: ['ok', 'ready'] } },
  },
  Problem: {
    type: 'object',
    description: 'Why a request was refused (RFC 9457).',
    required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
    properties: {
      type: { type: 'string', const: 'about:blank' },
      title: text('What the status means.'),
      status: { type: 'integer', description: 'The HTTP status.' },
      detail: text('What happened, for people.'),
      code: text('What happened, for programs: one of a closed list.'),
      requestId: text('The id under which the service logged this request.'),
    },
  },
} as const satisfies Record<string, ObjectSchema>;

export type BodyName = keyof typeof bodies;
