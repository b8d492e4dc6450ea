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
  /** Parameters in the query of a GET, by name. */
  readonly parameters?: Readonly<
    Record<string, { readonly isRequired: boolean; readonly description: string }>
  >;
  /** Optional headers of a POST, by name. */
  readonly headers?: Readonly<Record<string, { readonly pattern: string; readonly description: string }>>;
  readonly success: {
    readonly status: 200 | 204;
    readonly body?: BodyName;
    /** The body is a page for a browser. */
    readonly isPage?: true;
    readonly description: string;
  };
  /** The description of the 302 of the GET. `success` then describes only the main method. */
  readonly redirect?: string;
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

const invalidEnrolmentToken = { status: 401, when: 'The token is unknown, has expired or was used already' };
const noPasskeys = {
  status: 404,
  when: 'The server is not configured for passkeys (`ESPALIER_PUBLIC_URL`)',
};

export const endpoints = {
  login: {
    methods: ['POST'],
    path: '/login',
    summary: 'Log in',
    description:
      'Returns an auth token (AT) and a refresh token (RT) for a user name and a password, and a `code` if the user has a second factor. Each login starts a new session; the other sessions of the user continue.',
    authHeader: 'none',
    request: { body: 'Credentials', isRequired: true, limitBytes: tokenBodyLimitBytes },
    success: { status: 200, body: 'LoginResponse', description: 'A new auth token and refresh token' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {
      BAD_INPUT: malformedBody,
      UNSUPPORTED_MEDIA_TYPE: otherMediaType,
      INVALID_CREDENTIALS: { status: 401, when: 'The user name or the password is wrong' },
      FORBIDDEN: {
        status: 403,
        when: '`ESPALIER_PASSWORD_LOGIN` does not permit this user to log in with a password',
      },
      SECOND_FACTOR_REQUIRED: {
        status: 401,
        when: 'The password is correct, the user has a second factor, and the body has no `code`; `methods` lists the factors of the user',
      },
      WRONG_SECOND_FACTOR: {
        status: 401,
        when: 'The password is correct, and the code is wrong, too old or was used already',
      },
      SECOND_FACTOR_ENROLMENT_REQUIRED: {
        status: 401,
        when: 'The password is correct, and the user must set up a second factor first (`ESPALIER_SECOND_FACTOR`); send the `enrolmentToken` to `/login/enrolment`',
      },
      TOO_LARGE: tooLargeBody,
      TOO_MANY_ATTEMPTS: {
        status: 429,
        when: 'Too many logins from this address failed within 15 minutes: 50 for this user name, or 500 in total; or 10 codes of this user from any address were wrong within 24 hours; wait Retry-After seconds',
      },
      UNAVAILABLE: overloadedServer,
    },
  },
  enrolment: {
    methods: ['POST'],
    path: '/login/enrolment',
    summary: 'Start to set up a second factor at the login',
    description:
      'Returns the secret for an authenticator app, for the enrolment token in the refusal SECOND_FACTOR_ENROLMENT_REQUIRED of `/login`. The same token returns the same secret.',
    authHeader: 'none',
    request: { body: 'EnrolmentRequest', isRequired: true, limitBytes: tokenBodyLimitBytes },
    success: { status: 200, body: 'EnrolmentResponse', description: 'The secret for an authenticator app' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {
      BAD_INPUT: malformedBody,
      UNSUPPORTED_MEDIA_TYPE: otherMediaType,
      INVALID_ENROLMENT_TOKEN: invalidEnrolmentToken,
      TOO_LARGE: tooLargeBody,
      UNAVAILABLE: overloadedServer,
    },
  },
  confirmEnrolment: {
    methods: ['POST'],
    path: '/login/enrolment/confirm',
    summary: 'Set up a second factor and log in',
    description:
      'Stores the authenticator app of an enrolment, ends all other sessions of the user, and logs in. Send a code that the app shows. The response also contains ten recovery codes.',
    authHeader: 'none',
    request: { body: 'EnrolmentConfirmation', isRequired: true, limitBytes: tokenBodyLimitBytes },
    success: {
      status: 200,
      body: 'EnrolledLoginResponse',
      description: 'A new auth token, a new refresh token, and the recovery codes',
    },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {
      BAD_INPUT: malformedBody,
      UNSUPPORTED_MEDIA_TYPE: otherMediaType,
      WRONG_SECOND_FACTOR: { status: 401, when: 'The code is wrong; the token stays valid' },
      INVALID_ENROLMENT_TOKEN: {
        ...invalidEnrolmentToken,
        when: `${invalidEnrolmentToken.when}, the password was changed, or the user was disabled`,
      },
      TOO_LARGE: tooLargeBody,
      TOO_MANY_ATTEMPTS: {
        status: 429,
        when: 'Ten codes of this user were wrong within 24 hours; wait Retry-After seconds',
      },
      UNAVAILABLE: overloadedServer,
    },
  },
  passkeyOptions: {
    methods: ['POST'],
    path: '/login/passkey/options',
    summary: 'Start a login with a passkey',
    description:
      'Returns a challenge for an authenticator, which is valid for five minutes. Pass `options` to `navigator.credentials.get`. The body is ignored.',
    authHeader: 'none',
    success: { status: 200, body: 'PasskeyOptionsResponse', description: 'A challenge and its id' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: { NOT_FOUND: noPasskeys, TOO_LARGE: tooLargeBody, UNAVAILABLE: overloadedServer },
  },
  passkeyLogin: {
    methods: ['POST'],
    path: '/login/passkey',
    summary: 'Log in with a passkey',
    description:
      'Returns an auth token and a refresh token for the response of an authenticator to a challenge of `/login/passkey/options`. The passkey is the only factor: it names the user, and the authenticator verifies the user.',
    authHeader: 'none',
    request: { body: 'PasskeyLoginRequest', isRequired: true, limitBytes: tokenBodyLimitBytes },
    success: { status: 200, body: 'LoginResponse', description: 'A new auth token and refresh token' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {
      BAD_INPUT: malformedBody,
      UNSUPPORTED_MEDIA_TYPE: otherMediaType,
      INVALID_CREDENTIALS: {
        status: 401,
        when: 'The passkey is not accepted, for example because it is unknown, or the challenge has expired or was used already',
      },
      NOT_FOUND: noPasskeys,
      TOO_LARGE: tooLargeBody,
      TOO_MANY_ATTEMPTS: {
        status: 429,
        when: '500 logins from this address failed within 15 minutes; wait Retry-After seconds',
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
  loginMethods: {
    methods: ['HEAD', 'GET'],
    path: '/login/methods',
    summary: 'List the ways to sign in',
    description: 'Returns the ways to sign in that a sign-in page can offer.',
    authHeader: 'none',
    success: { status: 200, body: 'LoginMethods', description: 'The ways to sign in' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {},
  },
  singleSignOn: {
    methods: ['GET', 'POST'],
    path: '/login/sso',
    summary: 'Sign in with single sign-on',
    description: [
      'Signs a user in with the OpenID provider in `ESPALIER_SSO_ISSUER`. Create a random verifier, and open the GET in a browser with its SHA-256 as `challenge`. The server redirects the browser to the provider. When the user has signed in there, the browser brings a one-time code to the console or to `redirect_uri`.',
      'Then POST the code and the verifier within 60 seconds. You can use the code only once, and only with the verifier of the same sign-in. The response is the same as that of `/login`.',
    ].join('\n\n'),
    authHeader: 'none',
    request: { body: 'SingleSignOnRequest', isRequired: true, limitBytes: tokenBodyLimitBytes },
    parameters: {
      challenge: {
        isRequired: true,
        description: 'The base64url of the SHA-256 of the verifier: 43 characters (RFC 7636, method S256).',
      },
      redirect_uri: {
        isRequired: false,
        description:
          'Where a program on the same machine as the browser receives the code: `http://127.0.0.1:<port>/…` or `http://[::1]:<port>/…` (RFC 8252). The user must first confirm the sign-in on a page of the server. By default, the console receives the code.',
      },
      return_to: {
        isRequired: false,
        description: 'The path of the console that the user requested. It begins with one slash.',
      },
    },
    success: { status: 200, body: 'LoginResponse', description: 'A new auth token and refresh token' },
    redirect: 'The sign-in page of the provider',
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {
      BAD_INPUT: {
        status: 400,
        when: 'The body is malformed, or a parameter of the GET is missing or not permitted. The server then does not redirect',
      },
      UNSUPPORTED_MEDIA_TYPE: otherMediaType,
      INVALID_CREDENTIALS: {
        status: 401,
        when: 'The one-time code is unknown, used or older than 60 seconds, or belongs to another verifier',
      },
      FORBIDDEN: {
        status: 403,
        when: 'The user is disabled, or the person is unknown and `ESPALIER_SSO_CREATE_USERS` is off',
      },
      NOT_FOUND: { status: 404, when: '`ESPALIER_SSO_ISSUER` is not set' },
      CONFLICT: {
        status: 409,
        when: 'The person is unknown, and another user has the user name; sign in as this user and link the account',
      },
      TOO_LARGE: tooLargeBody,
      TOO_MANY_ATTEMPTS: {
        status: 429,
        when: 'Too many sign-ins from this address have started and not finished; wait Retry-After seconds',
      },
      UNAVAILABLE: {
        status: 503,
        when: 'The provider does not respond, or the server is overloaded or cannot use its database; try again after Retry-After seconds',
      },
    },
  },
  singleSignOnCallback: {
    methods: ['GET'],
    path: '/login/sso/callback',
    summary: 'Return from the single sign-on provider',
    description:
      'Only for the browser, which the provider redirects here. Register the URL of this endpoint as the redirect URI at the provider. The server redirects the browser to the console with `sso_code`. For a program, it returns a page on which the user confirms the sign-in: its link leads to the address of the program with `code`. If the sign-in failed, the server redirects the browser with `error` and `error_description` instead.',
    authHeader: 'none',
    parameters: {
      state: { isRequired: true, description: 'The state of the sign-in.' },
      code: { isRequired: false, description: 'The authorization code of the provider.' },
      error: { isRequired: false, description: 'Why the provider did not sign the user in.' },
      iss: { isRequired: false, description: 'The issuer of the response (RFC 9207).' },
    },
    success: { status: 200, isPage: true, description: 'The page with a link to the program' },
    redirect: 'To the console with a one-time code or an error, or to the program with an error',
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {
      BAD_INPUT: { status: 400, when: 'The state is unknown or expired, and this server has no console' },
      NOT_FOUND: { status: 404, when: '`ESPALIER_SSO_ISSUER` is not set' },
      UNAVAILABLE: overloadedServer,
    },
  },
  singleSignOnLogout: {
    methods: ['POST'],
    path: '/login/sso/logout',
    summary: 'End sessions for the single sign-on provider',
    description:
      'Only for the provider, which calls it when a user logs out there (OpenID Connect Back-Channel Logout 1.0). Register the URL of this endpoint as the back-channel logout URI at the provider. The server ends the sessions that began with the session of the provider, or all sessions that the user started with single sign-on. The body is a form: `logout_token=<token>`.',
    authHeader: 'none',
    request: {
      body: 'LogoutTokenRequest',
      isRequired: true,
      limitBytes: tokenBodyLimitBytes,
      isForm: true,
    },
    success: { status: 200, description: 'The sessions have ended' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: {
      BAD_INPUT: {
        status: 400,
        when: 'The logout token is missing, not valid, not from this provider, too old or already used',
      },
      UNSUPPORTED_MEDIA_TYPE: {
        status: 400,
        when: 'The Content-Type is not application/x-www-form-urlencoded',
      },
      NOT_FOUND: { status: 404, when: '`ESPALIER_SSO_ISSUER` is not set' },
      TOO_LARGE: tooLargeBody,
      UNAVAILABLE: {
        status: 503,
        when: 'The server cannot read the keys of the provider or cannot use its database; try again after Retry-After seconds',
      },
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
    parameters: {
      query: { isRequired: true, description: 'The GraphQL document.' },
      operationName: { isRequired: false, description: 'The operation to run.' },
      variables: { isRequired: false, description: 'A JSON object.' },
    },
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
  serverMetadata: {
    methods: ['HEAD', 'GET'],
    path: '/.well-known/oauth-authorization-server',
    summary: 'Read how to verify auth tokens',
    description:
      'Returns the issuer and the URLs with which libraries for OAuth verify auth tokens (RFC 8414), if `ESPALIER_ISSUER` is an https URL. For an issuer with a path, such as `https://example.com/tree`, the standard requires the address `/.well-known/oauth-authorization-server/tree`, without the base path. The server responds at both addresses. A proxy must forward the address of the standard.',
    authHeader: 'none',
    success: { status: 200, body: 'ServerMetadata', description: 'The metadata' },
    reportsExpiry: false,
    refusalFormat: 'problem',
    refusals: { NOT_FOUND: { status: 404, when: '`ESPALIER_ISSUER` is not an https URL' } },
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
  SECOND_FACTOR_REQUIRED: 401,
  WRONG_SECOND_FACTOR: 401,
  SECOND_FACTOR_ENROLMENT_REQUIRED: 401,
  INVALID_ENROLMENT_TOKEN: 401,
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
