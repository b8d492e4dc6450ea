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
  /** Whether the request has `Authorization: Bearer <AT>`; with `client` it has a name and a password (HTTP Basic). */
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
  /** Whether a 401 has the header `token-expired: true` if the AT is authentic but expired. */
  readonly reportsExpiry: boolean;
  /** The format of a refusal: a problem document or GraphQL errors. */
  readonly refusalFormat: 'problem' | 'graphql';
  readonly refusals: Readonly<Partial<Record<RefusalCode, EndpointRefusal>>>;
}

const tokenBodyLimitBytes = 16 * 1024;
const graphBodyLimitBytes = 32 * 1024 * 1024;

const tooLarge = { status: 413, when: 'Body over 16 KiB' };
const malformed = { status: 400, when: 'Malformed payload, for example with more than 64 levels of nesting' };
const otherMediaType = { status: 400, when: 'Content-Type other than application/json' };
const overloaded = { status: 503, when: 'Overloaded, or the database cannot be used; see Retry-After' };
const keysNotRead = {
  status: 503,
  when: 'The database cannot be read, and the AT may be signed by a key that this node has not read yet; see Retry-After',
};

export const endpoints = {
  login: {
    methods: ['POST'],
    path: '/login',
    summary: 'Log in',
    description:
      'Exchanges a user name and a password for an auth token (AT) and a refresh token (RT). Logins are independent: a new login never ends another one.',
    authHeader: 'none',
    request: { body: 'Credentials', isRequired: true, limitBytes: tokenBodyLimitBytes },
    success: { status: 200, body: 'LoginResponse', description: 'A new AT and RT' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {
      BAD_INPUT: malformed,
      UNSUPPORTED_MEDIA_TYPE: otherMediaType,
      INVALID_CREDENTIALS: { status: 401, when: 'Invalid credentials' },
      TOO_LARGE: tooLarge,
      TOO_MANY_ATTEMPTS: {
        status: 429,
        when: 'After the 50th failure for this user name, or the 500th in all, from this address within 15 minutes, each further failure is followed by a pause; see Retry-After',
      },
      UNAVAILABLE: overloaded,
    },
  },
  refresh: {
    methods: ['POST'],
    path: '/login/refresh',
    summary: 'Exchange a refresh token',
    description:
      'Replaces both tokens of a login by new ones. Send the RT in the body and the AT of the same login, expired or not, in the Authorization header. An RT can be exchanged only once: if several requests use it at the same time, exactly one succeeds.',
    authHeader: 'required',
    request: { body: 'RefreshTokenRequest', isRequired: true, limitBytes: tokenBodyLimitBytes },
    success: { status: 200, body: 'LoginResponse', description: 'A new AT and RT' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {
      BAD_INPUT: malformed,
      UNSUPPORTED_MEDIA_TYPE: otherMediaType,
      INVALID_AUTH_TOKEN: { status: 401, when: 'AT missing or invalid' },
      INVALID_REFRESH_TOKEN: {
        status: 401,
        when: 'RT unknown, spent, revoked, expired, or not of the same login as the AT',
      },
      TOO_LARGE: tooLarge,
      UNAVAILABLE: overloaded,
    },
  },
  logout: {
    methods: ['POST'],
    path: '/logout',
    summary: 'Log out',
    description:
      'Revokes the RT of a login. Send the AT in the Authorization header with any body or none, or send the RT in the body. When both are present, the AT takes precedence. Issued ATs stay usable until they expire.',
    authHeader: 'optional',
    request: { body: 'RefreshTokenRequest', isRequired: false, limitBytes: tokenBodyLimitBytes },
    success: { status: 204, description: 'The RT of this login is revoked' },
    reportsExpiry: true,
    refusalFormat: 'problem',
    refusals: {
      BAD_INPUT: { status: 400, when: 'No Authorization header, and the body is empty or malformed' },
      UNSUPPORTED_MEDIA_TYPE: {
        ...otherMediaType,
        when: `No Authorization header, and a ${otherMediaType.when}`,
      },
      INVALID_REFRESH_TOKEN: { status: 400, when: 'No Authorization header, and the RT is invalid' },
      INVALID_AUTH_TOKEN: { status: 401, when: 'The AT is invalid or expired' },
      TOO_LARGE: { ...tooLarge, when: 'No Authorization header, and a body over 16 KiB' },
      UNAVAILABLE: overloaded,
    },
  },
  verify: {
    methods: ['POST'],
    path: '/login/verify',
    summary: 'Check an auth token',
    description: 'Answers 204 only when the AT was issued by this service and is still valid.',
    authHeader: 'none',
    request: { body: 'AuthTokenRequest', isRequired: true, limitBytes: tokenBodyLimitBytes },
    success: { status: 204, description: 'The AT is valid' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {
      BAD_INPUT: malformed,
      UNSUPPORTED_MEDIA_TYPE: otherMediaType,
      INVALID_AUTH_TOKEN: { status: 400, when: 'AT malformed, not issued by this service, or expired' },
      TOO_LARGE: { ...tooLarge, status: 400 },
      UNAVAILABLE: keysNotRead,
    },
  },
  graph: {
    methods: ['GET', 'POST'],
    path: '/graphql',
    summary: 'Query the tree of folders',
    description:
      'GraphQL over HTTP: POST a JSON body, or GET with `query`, `operationName` and `variables` as parameters. Errors of the query itself (syntax, validation, variables, query cost) have status 200 for `application/json` and 400 for `application/graphql-response+json`; errors during execution have status 200. With `Accept: text/event-stream` the server sends Server-Sent Events (GraphQL over SSE, distinct connections mode). Use this for a subscription without a WebSocket. A GET with an upgrade header opens a WebSocket, at this address and at `/graphql/ws`. An Authorization header of this request must contain a valid AT (otherwise 401, with `token-expired`). Web pages of other origins are refused (403). Both errors are `application/problem+json`.',
    authHeader: 'required',
    request: { body: 'GraphRequest', isRequired: true, limitBytes: graphBodyLimitBytes },
    headers: {
      'Idempotency-Key': {
        pattern: '^[!-~]{1,255}$',
        description:
          'A random UUID, different for each request. If the response to a mutation is lost, send the same request with the same key again: the server returns the result and does not repeat the change. Keys are stored for 24 hours and ignored for queries.',
      },
      'Espalier-View-As': {
        pattern: '^[\\w.-]+$',
        description:
          'A view token of `startViewAs`, from the same session as the AT. The request is answered with the rights of the viewed user, and mutations are refused with FORBIDDEN.',
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
        when: 'The AT is missing, invalid or expired, or the scheme is wrong',
      },
      INVALID_VIEW_TOKEN: {
        status: 403,
        when: 'The view token is not valid in the session of the AT, or the view has ended',
      },
      METHOD_NOT_ALLOWED: { status: 405, when: 'A mutation by GET' },
      NOT_ACCEPTABLE: { status: 406, when: 'Accept names neither a JSON media type nor text/event-stream' },
      TOO_LARGE: {
        ...tooLarge,
        when: 'Body over 32 MiB, over 1 MiB from a user without write access to any folder, or with more than two million values',
      },
      UNSUPPORTED_MEDIA_TYPE: { ...otherMediaType, status: 415 },
      UNAVAILABLE: {
        status: 503,
        when: 'Overloaded, the database cannot be used, or the user has too many open event streams; see Retry-After',
      },
    },
  },
  keySet: {
    methods: ['HEAD', 'GET'],
    path: '/.well-known/jwks.json',
    summary: 'The public keys of auth tokens',
    description:
      'A JSON Web Key Set (RFC 7517), with which other services can verify ATs themselves. It contains each key at least four minutes before the key signs. Cache it for as long as `Cache-Control` allows, and read it again when a token names an unknown key. It does not show which sessions were revoked or logged out after their AT was signed: only this service can check that.',
    authHeader: 'none',
    success: { status: 200, body: 'KeySet', description: 'The keys, the newest first' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {},
  },
  introspect: {
    methods: ['POST'],
    path: '/introspect',
    summary: 'Introspect an auth token',
    description:
      'For other services: returns whether an AT is valid now, and its user (RFC 7662). Available only if `ESPALIER_INTROSPECTION_CLIENT` is set. The calling service authenticates with this name and password (HTTP Basic). The body is a form: `token=<AT>`.',
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
        when: 'Content-Type other than application/x-www-form-urlencoded',
      },
      INVALID_CREDENTIALS: { status: 401, when: 'The name and password of the client are missing or wrong' },
      NOT_FOUND: { status: 404, when: '`ESPALIER_INTROSPECTION_CLIENT` is not set' },
      TOO_LARGE: tooLarge,
      UNAVAILABLE: keysNotRead,
    },
  },
  service: {
    methods: ['HEAD', 'GET'],
    path: '/',
    summary: 'Find the addresses of the service',
    description:
      'Lists the paths of the service, for example `"login": "/login"`, with the base path in front. A browser, which sends `Accept: text/html`, is redirected to the console (302) if there is one.',
    authHeader: 'none',
    success: { status: 200, body: 'ServiceLinks', description: 'The name of the service and its links' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {},
  },
  livez: {
    methods: ['HEAD', 'GET'],
    path: '/livez',
    summary: 'Whether the process answers',
    description:
      'For a supervisor that restarts a process that hangs: succeeds as long as the process answers requests. It does not check the database, because a restart would not repair it.',
    authHeader: 'none',
    success: { status: 200, body: 'ProbeResponse', description: 'The process answers: `ok`' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {},
  },
  readyz: {
    methods: ['HEAD', 'GET'],
    path: '/readyz',
    summary: 'Whether requests are served',
    description:
      'For a load balancer: whether to send requests to this node. The result may be a quarter of a second old. With `?verbose` the response contains the result of each check.',
    authHeader: 'none',
    success: { status: 200, body: 'ProbeResponse', description: 'Requests are served: `ready`' },
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

/** Every refusal gets its status here. */
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
