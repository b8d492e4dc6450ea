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
const malformed = { status: 400, when: 'Malformed payload, for example one nested more than 64 levels deep' };
const otherMediaType = { status: 400, when: 'Content-Type other than application/json' };
const overloaded = { status: 503, when: 'Overloaded, or the database cannot be used; see Retry-After' };
const keysNotRead = {
  status: 503,
  when: 'The database cannot be read, and the AT is of a key that this node may not know yet; see Retry-After',
};

export const endpoints = {
  login: {
    methods: ['POST'],
    path: '/login',
    summary: 'Log in',
    description:
      'Exchanges a user name and a password for an auth token (AT) and a refresh token (RT). Logins are independent of each other: a new one never ends another.',
    authHeader: 'none',
    request: { body: 'Credentials', isRequired: true, limitBytes: tokenBodyLimitBytes },
    success: { status: 200, body: 'LoginResponse', description: 'A new token pair' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {
      BAD_INPUT: malformed,
      UNSUPPORTED_MEDIA_TYPE: otherMediaType,
      INVALID_CREDENTIALS: { status: 401, when: 'Invalid credentials' },
      TOO_LARGE: tooLarge,
      TOO_MANY_ATTEMPTS: {
        status: 429,
        when: 'After the 50th failure for this user name, or the 500th in all, from this address within 15 minutes, there is a pause after each; see Retry-After',
      },
      UNAVAILABLE: overloaded,
    },
  },
  refresh: {
    methods: ['POST'],
    path: '/login/refresh',
    summary: 'Exchange a refresh token',
    description:
      'Replaces a token pair by a new one. Send the RT in the body and the AT of the same login, expired or not, in the Authorization header. An RT can be exchanged once; of several attempts at the same time exactly one succeeds.',
    authHeader: 'required',
    request: { body: 'RefreshTokenRequest', isRequired: true, limitBytes: tokenBodyLimitBytes },
    success: { status: 200, body: 'LoginResponse', description: 'A new token pair' },
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
      'GraphQL over HTTP: POST a JSON body, or GET with `query`, `operationName` and `variables` as parameters. Errors of the query itself (syntax, validation, variables, too expensive by its text) have status 200 for `application/json` and 400 for `application/graphql-response+json`; errors while it runs have 200. With `Accept: text/event-stream` the answers come as Server-Sent Events (GraphQL over SSE, distinct connections): the way for a subscription without a WebSocket. A GET that asks for an upgrade opens a WebSocket, at this address and at `/graphql/ws`; if it has an Authorization header, its token must be good (401, with `token-expired`), and web pages of other origins are refused (403), both with `application/problem+json`.',
    authHeader: 'required',
    request: { body: 'GraphRequest', isRequired: true, limitBytes: graphBodyLimitBytes },
    headers: {
      'Idempotency-Key': {
        pattern: '^[!-~]{1,255}$',
        description:
          'A random UUID, a new one for each request. When the reply to a mutation was lost, the same request sent again under the same key answers, and what was done is not done again. Known for 24 hours; ignored for queries.',
      },
    },
    success: { status: 200, body: 'GraphResponse', description: 'The result of the query' },
    reportsExpiry: true,
    refusalFormat: 'graphql',
    refusals: {
      BAD_INPUT: {
        status: 400,
        when: 'The body is not JSON, or holds no query; or the Idempotency-Key is not 1 to 255 visible ASCII characters',
      },
      INVALID_AUTH_TOKEN: {
        status: 401,
        when: 'AT missing, of a wrong scheme, invalid or expired',
      },
      METHOD_NOT_ALLOWED: { status: 405, when: 'A mutation by GET' },
      NOT_ACCEPTABLE: { status: 406, when: 'Accept names neither a JSON media type nor text/event-stream' },
      TOO_LARGE: {
        ...tooLarge,
        when: 'Body over 32 MiB, over 1 MiB from a user who may write nowhere, or of more than two million values',
      },
      UNSUPPORTED_MEDIA_TYPE: { ...otherMediaType, status: 415 },
      UNAVAILABLE: {
        status: 503,
        when: 'Overloaded, the database cannot be used, or an event stream more than the user may have open; see Retry-After',
      },
    },
  },
  keySet: {
    methods: ['HEAD', 'GET'],
    path: '/.well-known/jwks.json',
    summary: 'The public keys of auth tokens',
    description:
      'A JSON Web Key Set (RFC 7517): with it, other services can verify ATs by themselves. A key is in it at least four minutes before it signs; keep a copy for as long as `Cache-Control` allows, and read it anew when a token names a key that is not in it. What has been ended or logged out since a token was signed, only this service knows.',
    authHeader: 'none',
    success: { status: 200, body: 'KeySet', description: 'The keys, the newest first' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {},
  },
  introspect: {
    methods: ['POST'],
    path: '/introspect',
    summary: 'Ask about an auth token',
    description:
      'For other services: whether an AT is good at this moment, and whose it is (RFC 7662). There only if `ESPALIER_INTROSPECTION_CLIENT` is set; the service shows that name and password by HTTP Basic. The body is a form: `token=<AT>`.',
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
      description: 'What there is to say of the token; of any that is not good, only that it is not active',
    },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {
      BAD_INPUT: { status: 400, when: 'The form has no token, or several' },
      UNSUPPORTED_MEDIA_TYPE: {
        status: 400,
        when: 'Content-Type other than application/x-www-form-urlencoded',
      },
      INVALID_CREDENTIALS: { status: 401, when: 'No name and password of a client, or wrong ones' },
      NOT_FOUND: { status: 404, when: 'There is no client for it' },
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
      'For a supervisor that restarts what hangs: answered as long as the process answers at all. It says nothing of the database, which a restart would not bring back.',
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
      'For a load balancer: whether to send requests to this node. The answer may be a quarter of a second old. With `?verbose` it lists what the node needs, and whether it has it.',
    authHeader: 'none',
    success: { status: 200, body: 'ProbeResponse', description: 'Requests are served: `ready`' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {
      UNAVAILABLE: {
        status: 503,
        when: 'The database does not answer within 1.5 seconds, the node cannot sign auth tokens, or is stopping; see Retry-After',
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
