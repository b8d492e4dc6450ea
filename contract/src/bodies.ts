/**
 * The bodies of the endpoints: their types, and the JSON Schemas that validate requests and describe them in the OpenAPI
 * document. Unknown fields are allowed and ignored everywhere.
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

/** RFC 9457, extended by a stable code and the id under which the server logged the request. */
export interface Problem {
  type: 'about:blank';
  title: string;
  status: number;
  detail: string;
  code: string;
  requestId: string;
  checks?: ProbeResponse['checks'];
  reasons?: ProbeResponse['reasons'];
}

export interface ProbeResponse {
  status: 'ok' | 'ready';
  checks?: Readonly<Record<string, 'ok' | 'failed'>>;
  reasons?: Readonly<Record<string, string>>;
}

/** The response of the API root. Each link is a path on the same host. */
export interface ServiceLinks {
  name: 'Espalier';
  links: Readonly<
    Record<
      'login' | 'refresh' | 'logout' | 'verify' | 'graphql' | 'keys' | 'health' | 'ready' | 'docs',
      string
    > & { console?: string }
  >;
}

/** RFC 7517 and RFC 8037. */
export interface KeySet {
  keys: { kty: 'OKP'; crv: 'Ed25519'; alg: 'EdDSA'; use: 'sig'; kid: string; x: string }[];
}

/** RFC 7662. Times are in whole seconds. */
export type IntrospectionResponse =
  | { active: false }
  | { active: true; token_type: 'Bearer'; iss: string; sub: string; sid: string; exp: number };

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
    description: 'The credentials of a user.',
    required: ['username', 'password'],
    properties: { username: text('The user name.'), password: text('The password.') },
  },
  RefreshTokenRequest: {
    type: 'object',
    description: 'The refresh token to exchange or to revoke.',
    required: ['refreshToken'],
    properties: { refreshToken: text('The refresh token.') },
  },
  AuthTokenRequest: {
    type: 'object',
    description: 'The auth token to check.',
    required: ['authToken'],
    properties: { authToken: text('The auth token to check.') },
  },
  GraphRequest: {
    type: 'object',
    description: 'A GraphQL request.',
    required: ['query'],
    properties: {
      query: text('The GraphQL document.'),
      operationName: {
        type: ['string', 'null'],
        description: 'The operation to run, if the document contains several.',
      },
      variables: { type: ['object', 'null'], description: 'Values of the variables of the operation.' },
      extensions: {
        type: ['object', 'null'],
        description:
          'Ignored, except that `persistedQuery` without `query` returns the error PERSISTED_QUERY_NOT_SUPPORTED.',
      },
    },
  },
  LoginResponse: {
    type: 'object',
    description: 'An auth token and a refresh token.',
    required: ['authToken', 'expires_in', 'refreshToken'],
    properties: {
      authToken: text(
        'The auth token (AT): a signed token (JWT) to send as `Authorization: Bearer <auth token>`.',
      ),
      expires_in: { type: 'integer', description: 'The lifetime of the auth token, in seconds.' },
      refreshToken: {
        ...text('The refresh token (RT): a UUID to send to `/login/refresh` once.'),
        format: 'uuid',
      },
    },
  },
  GraphResponse: {
    type: 'object',
    description: 'The result of a query: `data`, and `errors` if there were any.',
    required: [],
    properties: {
      data: { type: ['object', 'null'], description: 'The fields that the query selects.' },
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
  ServiceLinks: {
    type: 'object',
    description: 'The name of the service and the paths of its endpoints.',
    required: ['name', 'links'],
    properties: {
      name: { type: 'string', const: 'Espalier' },
      links: {
        type: 'object',
        description:
          'Paths on the same host: `login`, `refresh`, `logout`, `verify`, `graphql`, `keys` (public keys), `health` (liveness), `ready` (readiness), `docs` (the OpenAPI document), and `console` if it is enabled.',
        required: ['login', 'refresh', 'logout', 'verify', 'graphql', 'keys', 'health', 'ready', 'docs'],
        additionalProperties: { type: 'string' },
      },
    },
  },
  KeySet: {
    type: 'object',
    description: 'A JSON Web Key Set (RFC 7517).',
    required: ['keys'],
    properties: {
      keys: {
        type: 'array',
        description:
          'Ed25519 keys (RFC 8037): `kty` `OKP`, `crv` `Ed25519`, `alg` `EdDSA`, `use` `sig`, `kid` and `x`.',
        items: {
          type: 'object',
          required: ['kty', 'crv', 'alg', 'use', 'kid', 'x'],
          properties: {
            kty: { type: 'string', const: 'OKP' },
            crv: { type: 'string', const: 'Ed25519' },
            alg: { type: 'string', const: 'EdDSA' },
            use: { type: 'string', const: 'sig' },
            kid: { type: 'string' },
            x: { type: 'string' },
          },
        },
      },
    },
  },
  IntrospectionRequest: {
    type: 'object',
    description: 'The token to introspect.',
    required: ['token'],
    properties: {
      token: text('The auth token.'),
      token_type_hint: text('Ignored.'),
    },
  },
  IntrospectionResponse: {
    type: 'object',
    description: 'The state and the claims of a token (RFC 7662).',
    required: ['active'],
    properties: {
      active: {
        type: 'boolean',
        description: 'Whether the token is an auth token of this service and valid now.',
      },
      token_type: text('`Bearer`. This field and those below exist only for an active token.'),
      iss: text('The issuer.'),
      sub: text('The id of the user.'),
      sid: text('The id of the session.'),
      exp: { type: 'integer', description: 'The expiry time, in seconds since 1970.' },
    },
  },
  ProbeResponse: {
    type: 'object',
    description: 'The state of this node.',
    required: ['status'],
    properties: {
      status: { ...text('`ok` or `ready`.'), enum: ['ok', 'ready'] },
      checks: {
        type: 'object',
        description:
          'With `/readyz?verbose`: `ok` or `failed` for each check: `database`, `migrations`, `writes`, `signing key`, `notifications`, `disk`, and `backup` if backups are scheduled.',
      },
      reasons: {
        type: 'object',
        description:
          'With `/readyz?verbose`: a sentence for each failed check with a known cause, for example that the disk is full.',
      },
    },
  },
  Problem: {
    type: 'object',
    description: 'Why a request was refused (RFC 9457).',
    required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
    properties: {
      type: { type: 'string', const: 'about:blank' },
      title: text('The name of the status, for example `Bad Request`.'),
      status: { type: 'integer', description: 'The HTTP status.' },
      detail: text('A description of the error for people. It can change in any release.'),
      code: text('The code of the error for programs, for example `BAD_INPUT`.'),
      requestId: text('The id under which the service logged this request.'),
      checks: { type: 'object', description: 'With `/readyz?verbose` only: the same as in a ProbeResponse.' },
      reasons: {
        type: 'object',
        description: 'With `/readyz?verbose` only: the same as in a ProbeResponse.',
      },
    },
  },
} as const satisfies Record<string, ObjectSchema>;

export type BodyName = keyof typeof bodies;
