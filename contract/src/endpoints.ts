/**
 * The endpoints as data: their requests, responses, and the status of each refusal. Routes, tests, the OpenAPI document and
 * the endpoint reference are generated from this table.
 */

import type { BodyName } from './bodies.ts';
import { toGraphCode, type RefusalCode } from './refusals.ts';

export interface EndpointRefusal {
  readonly status: number;
  readonly when: string;
}

export type Method = 'GET' | 'HEAD' | 'POST';

export interface Endpoint {
  /** The main method comes last. */
  readonly methods: readonly Method[];
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** Whether the request has `Authorization: Bearer <auth token>`; `client` means a name and a password (HTTP Basic). */
  readonly authHeader: 'none' | 'optional' | 'required' | 'client';
  /** Missing if the endpoint takes no body and no parameters. */
  readonly request?: {
    readonly body: BodyName;
    readonly isRequired: boolean;
    readonly limitBytes: number;
    /** The body is a form instead of JSON. */
    readonly isForm?: true;
  };
  /** Optional headers of a POST, by name. */
  readonly headers?: Readonly<Record<string, { readonly pattern: string; readonly description: string }>>;
  readonly success: {
    readonly status: 200 | 204;
    readonly body?: BodyName;
    readonly description: string;
  };
  /** Whether a 401 has the header `token-expired: true` if the auth token is authentic but expired. */
  readonly reportsExpiry: boolean;
  /** The format of a refusal: a problem document or GraphQL errors. */
  readonly refusalFormat: 'problem' | 'graphql';
  readonly refusals: Readonly<Partial<Record<RefusalCode, EndpointRefusal>>>;
}

const tokenBodyLimitBytes = 16 * 1024;
const graphBodyLimitBytes = 32 * 1024 * 1024;

const tooLargeBody = { status: 413, when: 'The body is larger than 16 KiB' };
const malformedBody = { status: 400, when: 'The body is malformed, for example a required field is missing' };
const otherMediaType = { status: 400, when: 'The Content-Type is not application/json' };
const overloadedServer = {
  status: 503,
  when: 'The server is overloaded or cannot use its database; try again after Retry-After seconds',
};
const unreadableKeys = {
  status: 503,
  when: 'The node cannot read the database, and does not have the signing key of the auth token; try again after Retry-After seconds',
};

export const endpoints = {
  login: {
    methods: ['POST'],
    path: '/login',
    summary: 'Log in',
    description:
      'Returns an auth token (AT) and a refresh token (RT) for a user name and a password. Each login starts a new session; the other sessions of the user continue.',
    authHeader: 'none',
    request: { body: 'Credentials', isRequired: true, limitBytes: tokenBodyLimitBytes },
    success: { status: 200, body: 'LoginResponse', description: 'A new auth token and refresh token' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {
      BAD_INPUT: malformedBody,
      UNSUPPORTED_MEDIA_TYPE: otherMediaType,
      INVALID_CREDENTIALS: { status: 401, when: 'The user name or the password is wrong' },
      TOO_LARGE: tooLargeBody,
      TOO_MANY_ATTEMPTS: {
        status: 429,
        when: 'Too many logins from this address failed within 15 minutes: 50 for this user name, or 500 in total; wait Retry-After seconds',
      },
      UNAVAILABLE: overloadedServer,
    },
  },
  refresh: {
    methods: ['POST'],
    path: '/login/refresh',
    summary: 'Refresh the tokens',
    description:
      'Replaces both tokens of a session with new ones. Send the refresh token in the body, and the auth token of the same session in the Authorization header; it may have expired. You can use a refresh token only once: if several requests use it at the same time, exactly one succeeds.',
    authHeader: 'required',
    request: { body: 'RefreshTokenRequest', isRequired: true, limitBytes: tokenBodyLimitBytes },
    success: { status: 200, body: 'LoginResponse', description: 'A new auth token and refresh token' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {
      BAD_INPUT: malformedBody,
      UNSUPPORTED_MEDIA_TYPE: otherMediaType,
      INVALID_AUTH_TOKEN: { status: 401, when: 'The auth token is missing or invalid' },
      INVALID_REFRESH_TOKEN: {
        status: 401,
        when: 'The refresh token is unknown, spent, revoked or expired, or belongs to a different session than the auth token',
      },
      TOO_LARGE: tooLargeBody,
      UNAVAILABLE: overloadedServer,
    },
  },
  logout: {
    methods: ['POST'],
    path: '/logout',
    summary: 'Log out',
    description:
      'Revokes the refresh token of a session. Send the auth token in the Authorization header, or the refresh token in the body. If you send both, the server uses the auth token and ignores the body. Auth tokens stay valid until they expire.',
    authHeader: 'optional',
    request: { body: 'RefreshTokenRequest', isRequired: false, limitBytes: tokenBodyLimitBytes },
    success: { status: 204, description: 'The refresh token of this session is revoked' },
    reportsExpiry: true,
    refusalFormat: 'problem',
    refusals: {
      BAD_INPUT: {
        status: 400,
        when: 'The request has no Authorization header, and the body is empty or malformed',
      },
      UNSUPPORTED_MEDIA_TYPE: {
        ...otherMediaType,
        when: 'The request has no Authorization header, and the Content-Type is not application/json',
      },
      INVALID_REFRESH_TOKEN: {
        status: 400,
        when: 'The request has no Authorization header, and the refresh token is invalid',
      },
      INVALID_AUTH_TOKEN: { status: 401, when: 'The auth token is invalid or expired' },
      TOO_LARGE: {
        ...tooLargeBody,
        when: 'The request has no Authorization header, and the body is larger than 16 KiB',
      },
      UNAVAILABLE: overloadedServer,
    },
  },
  verify: {
    methods: ['POST'],
    path: '/login/verify',
    summary: 'Check an auth token',
    description:
      'Returns 204 if this service issued the auth token and the token is still valid, and 400 for any other token.',
    authHeader: 'none',
    request: { body: 'AuthTokenRequest', isRequired: true, limitBytes: tokenBodyLimitBytes },
    success: { status: 204, description: 'The auth token is valid' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {
      BAD_INPUT: malformedBody,
      UNSUPPORTED_MEDIA_TYPE: otherMediaType,
      INVALID_AUTH_TOKEN: {
        status: 400,
        when: 'The auth token is malformed, was not issued by this service, or has expired',
      },
      TOO_LARGE: { ...tooLargeBody, status: 400 },
      UNAVAILABLE: unreadableKeys,
    },
  },
  graph: {
    methods: ['GET', 'POST'],
    path: '/graphql',
    summary: 'Query the tree of folders',
    description: [
      'Runs a query, a mutation or a subscription (GraphQL over HTTP). POST a JSON body, or GET with the parameters `query`, `operationName` and `variables`.',
      'Status of a response with errors: 200 with `Accept: application/json`. With `Accept: application/graphql-response+json`, the status is 400 if the query itself is wrong (syntax, validation, variables, query cost), and 200 if one of its fields failed.',
      'Event stream: with `Accept: text/event-stream`, the server sends Server-Sent Events (GraphQL over SSE, distinct connections mode). Use this for a subscription without a WebSocket.',
      'WebSocket: a GET with an upgrade header opens a WebSocket, here and at `/graphql/ws`. If this request has an Authorization header, the auth token must be valid; otherwise the response is 401, with `token-expired` if it has expired. A page of another origin gets 403 (see `ESPALIER_CORS_ORIGINS`). Both errors are `application/problem+json`.',
    ].join('\n\n'),
    authHeader: 'required',
    request: { body: 'GraphRequest', isRequired: true, limitBytes: graphBodyLimitBytes },
    headers: {
      'Idempotency-Key': {
        pattern: '^[!-~]{1,255}$',
        description:
          'A random UUID, different for each request. If you lose the response to a mutation, send the same request with the same key again: the server returns the result and does not repeat the change. The server stores keys for 24 hours, and ignores them for queries.',
      },
      'Espalier-View-As': {
        pattern: '^[\\w.-]+$',
        description:
          'A view token of `startViewAs`, from the same session as the auth token. The request then has the rights of the viewed user, and mutations fail with FORBIDDEN.',
      },
    },
    success: { status: 200, body: 'GraphResponse', description: 'The result of the query' },
    reportsExpiry: true,
    refusalFormat: 'graphql',
    refusals: {
      BAD_INPUT: {
        status: 400,
        when: 'The body is not JSON or contains no query, or the Idempotency-Key is not 1 to 255 visible ASCII characters',
      },
      INVALID_AUTH_TOKEN: {
        status: 401,
        when: 'The auth token is missing, invalid or expired, or the scheme is not Bearer',
      },
      INVALID_VIEW_TOKEN: {
        status: 403,
        when: 'The view token is not valid in the session of the auth token, or the view has ended',
      },
      METHOD_NOT_ALLOWED: { status: 405, when: 'The query is a mutation, and the method is GET' },
      NOT_ACCEPTABLE: {
        status: 406,
        when: 'The Accept header contains neither a JSON media type nor text/event-stream',
      },
      TOO_LARGE: {
        ...tooLargeBody,
        when: 'The body is larger than 32 MiB (1 MiB if you have no WRITE access to any folder), or it contains more than two million values',
      },
      UNSUPPORTED_MEDIA_TYPE: { ...otherMediaType, status: 415 },
      UNAVAILABLE: {
        status: 503,
        when: 'The server is overloaded or cannot use its database, or the user has too many open event streams; try again after Retry-After seconds',
      },
    },
  },
  keySet: {
    methods: ['HEAD', 'GET'],
    path: '/.well-known/jwks.json',
    summary: 'Read the public keys of auth tokens',
    description:
      'Returns a JSON Web Key Set (RFC 7517), with which other services can verify auth tokens themselves. It contains each key at least four minutes before the server starts to sign with the key. Cache it for as long as `Cache-Control` allows, and read it again when a token has an unknown `kid`. The keys do not show whether a session was revoked after its auth token was signed: use `/introspect` to check that.',
    authHeader: 'none',
    success: { status: 200, body: 'KeySet', description: 'The keys, newest first' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {},
  },
  introspect: {
    methods: ['POST'],
    path: '/introspect',
    summary: 'Introspect an auth token',
    description:
      'Returns whether an auth token is valid now, and the id of its user (RFC 7662). Other services can use this endpoint if `ESPALIER_INTROSPECTION_CLIENT` is set. They authenticate with the name and the password in that setting (HTTP Basic). The body is a form: `token=<auth token>`.',
    authHeader: 'client',
    request: {
      body: 'IntrospectionRequest',
      isRequired: true,
      limitBytes: tokenBodyLimitBytes,
      isForm: true,
    },
    success: {
      status: 200,
      body: 'IntrospectionResponse',
      description: 'The claims of a valid token; for any other token only `active: false`',
    },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {
      BAD_INPUT: { status: 400, when: 'The form contains no token or several tokens' },
      UNSUPPORTED_MEDIA_TYPE: {
        status: 400,
        when: 'The Content-Type is not application/x-www-form-urlencoded',
      },
      INVALID_CREDENTIALS: { status: 401, when: 'The name and password of the client are missing or wrong' },
      NOT_FOUND: { status: 404, when: '`ESPALIER_INTROSPECTION_CLIENT` is not set' },
      TOO_LARGE: tooLargeBody,
      UNAVAILABLE: unreadableKeys,
    },
  },
  service: {
    methods: ['HEAD', 'GET'],
    path: '/',
    summary: 'List the paths of the service',
    description:
      'Returns the paths of the service with the base path, for example `"login": "/login"`. A browser, which sends `Accept: text/html`, is redirected to the console (302) if the console is on.',
    authHeader: 'none',
    success: { status: 200, body: 'ServiceLinks', description: 'The name of the service and its links' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {},
  },
  livez: {
    methods: ['HEAD', 'GET'],
    path: '/livez',
    summary: 'Check the process',
    description:
      'Returns 200 as long as the process answers requests. A supervisor can use it to restart a process that hangs, for example as the liveness probe of Kubernetes. It does not check the database, because a restart would not repair it.',
    authHeader: 'none',
    success: { status: 200, body: 'ProbeResponse', description: 'The process answers: `ok`' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {},
  },
  readyz: {
    methods: ['HEAD', 'GET'],
    path: '/readyz',
    summary: 'Check the node',
    description:
      'Returns 200 if the node can serve requests. A load balancer can use it to send requests only to such nodes. The result may be a quarter of a second old. With `?verbose`, the response contains the result of each check.',
    authHeader: 'none',
    success: { status: 200, body: 'ProbeResponse', description: 'The node serves requests: `ready`' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {
      UNAVAILABLE: {
        status: 503,
        when: 'The database does not answer within 1.5 seconds, the node cannot sign auth tokens, or the node is stopping; see Retry-After',
      },
    },
  },
} as const satisfies Record<string, Endpoint>;

/** Statuses of refusals that the endpoint does not list. */
const defaultStatuses: Readonly<Record<RefusalCode, number>> = {
  BAD_INPUT: 400,
  INVALID_CREDENTIALS: 401,
  INVALID_AUTH_TOKEN: 401,
  INVALID_REFRESH_TOKEN: 401,
  INVALID_VIEW_TOKEN: 403,
  NOT_FOUND: 404,
  FORBIDDEN: 403,
  CONFLICT: 409,
  CYCLE: 409,
  TOO_MANY_ATTEMPTS: 429,
  METHOD_NOT_ALLOWED: 405,
  NOT_ACCEPTABLE: 406,
  TOO_EXPENSIVE: 400,
  TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  UNAVAILABLE: 503,
  INTERNAL: 500,
};

/** Returns the HTTP status of a refusal. */
export function refusalStatus(endpoint: Endpoint | undefined, code: RefusalCode): number {
  return endpoint?.refusals[code]?.status ?? defaultStatuses[code];
}

/** Returns the code that the response contains. */
export function formatCode(endpoint: Endpoint | undefined, code: RefusalCode): string {
  return endpoint?.refusalFormat === 'graphql' ? toGraphCode(code) : code;
}

/** Returns the refusals of an endpoint in the order of the table. */
export function listRefusals({ refusals }: Endpoint): [RefusalCode, EndpointRefusal][] {
  return Object.entries(refusals) as [RefusalCode, EndpointRefusal][];
}
