/**
 * The bodies of the endpoints: their types, and the JSON Schemas that validate requests and describe them in the OpenAPI
 * document. Unknown fields are allowed and ignored everywhere.
 */

export interface Credentials {
  username: string;
  password: string;
  code?: string | null;
}

export interface EnrolmentRequest {
  enrolmentToken: string;
}

export interface EnrolmentConfirmation extends EnrolmentRequest {
  code: string;
}

/** The secret to enter into an authenticator app, and the same as a URI for a QR code. */
export interface EnrolmentResponse {
  secret: string;
  uri: string;
  username: string;
}

/** A response of an authenticator: `AuthenticationResponseJSON` of WebAuthn. */
export interface PasskeyLoginRequest {
  challengeId: string;
  response: Record<string, unknown>;
}

/** `options` are the `PublicKeyCredentialRequestOptionsJSON` of WebAuthn. */
export interface PasskeyOptionsResponse {
  challengeId: string;
  options: Record<string, unknown>;
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

/** The ways to sign in that this server offers. */
export interface LoginMethods {
  password: boolean;
  /** Null if single sign-on is not configured. */
  singleSignOn: { name: string } | null;
  passkeys: boolean;
}

export interface SingleSignOnRequest {
  code: string;
  verifier: string;
}

/** The response to the login with which a second factor was set up. */
export interface EnrolledLoginResponse extends LoginResponse {
  recoveryCodes: string[];
}

/** A way to complete a login after the password. A passkey logs in without the password. */
export type SecondFactorMethod = 'TOTP' | 'PASSKEY' | 'RECOVERY_CODE';

/** RFC 9457, extended by a stable code and the id under which the server logged the request. */
export interface Problem {
  type: 'about:blank';
  title: string;
  status: number;
  detail: string;
  code: string;
  requestId: string;
  methods?: readonly SecondFactorMethod[] | undefined;
  enrolmentToken?: string | undefined;
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
  | {
      active: true;
      token_type: 'Bearer';
      iss: string;
      sub: string;
      aud: string;
      client_id: string;
      sid: string;
      exp: number;
    };

/** RFC 8414 §2. Users log in with `/login`, so there is no authorization endpoint, no token endpoint and no grant type. */
export interface ServerMetadata {
  issuer: string;
  jwks_uri: string;
  response_types_supported: readonly string[];
  grant_types_supported: readonly string[];
  introspection_endpoint?: string;
  introspection_endpoint_auth_methods_supported?: readonly string[];
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

const loginResponseProperties = {
  authToken: text(
    'The auth token (AT): a signed token (JWT) to send as `Authorization: Bearer <auth token>`.',
  ),
  expires_in: { type: 'integer', description: 'The lifetime of the auth token, in seconds.' },
  refreshToken: {
    ...text('The refresh token (RT): a UUID to send to `/login/refresh` once.'),
    format: 'uuid',
  },
};
const enrolmentToken = text('The enrolment token in the refusal of `/login`.');

export const bodies = {
  Credentials: {
    type: 'object',
    description: 'The credentials of a user.',
    required: ['username', 'password'],
    properties: {
      username: text('The user name.'),
      password: text('The password.'),
      code: {
        type: ['string', 'null'],
        description:
          'A code of the authenticator app of the user, or a recovery code. Required for users with a second factor, and ignored for all others.',
      },
    },
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
    properties: loginResponseProperties,
  },
  EnrolmentRequest: {
    type: 'object',
    description: 'The token of a started enrolment.',
    required: ['enrolmentToken'],
    properties: { enrolmentToken },
  },
  EnrolmentConfirmation: {
    type: 'object',
    description: 'The token of a started enrolment, and a code of the authenticator app.',
    required: ['enrolmentToken', 'code'],
    properties: { enrolmentToken, code: text('The current code of the authenticator app, with 6 digits.') },
  },
  EnrolmentResponse: {
    type: 'object',
    description: 'The secret of a new authenticator app.',
    required: ['secret', 'uri', 'username'],
    properties: {
      secret: text('The secret in Base32, to enter it into an authenticator app.'),
      uri: text('The secret as a URI (`otpauth://totp/…`), to show it as a QR code.'),
      username: text('The name of the user.'),
    },
  },
  EnrolledLoginResponse: {
    type: 'object',
    description: 'An auth token, a refresh token, and the new recovery codes.',
    required: ['authToken', 'expires_in', 'refreshToken', 'recoveryCodes'],
    properties: {
      ...loginResponseProperties,
      recoveryCodes: {
        type: 'array',
        description:
          'Ten codes that each replace a code of the authenticator app once. They are shown only here.',
        items: { type: 'string' },
      },
    },
  },
  PasskeyLoginRequest: {
    type: 'object',
    description: 'The response of an authenticator to a challenge.',
    required: ['challengeId', 'response'],
    properties: {
      challengeId: text('The id of the challenge, from `/login/passkey/options`.'),
      response: {
        type: 'object',
        description: 'The response of the authenticator, an `AuthenticationResponseJSON` of WebAuthn.',
      },
    },
  },
  PasskeyOptionsResponse: {
    type: 'object',
    description: 'A challenge for an authenticator.',
    required: ['challengeId', 'options'],
    properties: {
      challengeId: text('The id of the challenge. It expires after five minutes.'),
      options: {
        type: 'object',
        description:
          'The options for `navigator.credentials.get`, a `PublicKeyCredentialRequestOptionsJSON` of WebAuthn.',
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
  LoginMethods: {
    type: 'object',
    description: 'The ways to sign in that this server offers.',
    required: ['password', 'singleSignOn', 'passkeys'],
    properties: {
      password: {
        type: 'boolean',
        description: 'Whether users, or at least administrators, can log in with a password.',
      },
      singleSignOn: {
        type: ['object', 'null'],
        description: 'The `name` of the single sign-on provider; null if there is none.',
        required: ['name'],
        properties: { name: { type: 'string' } },
      },
      passkeys: { type: 'boolean', description: 'Whether users can sign in with a passkey.' },
    },
  },
  SingleSignOnRequest: {
    type: 'object',
    description: 'The result of a single sign-on.',
    required: ['code', 'verifier'],
    properties: {
      code: text('The one-time code that the browser brought to the console or to the program.'),
      verifier: text('The text whose SHA-256 was the `challenge` at the start.'),
    },
  },
  LogoutTokenRequest: {
    type: 'object',
    description: 'A message of the single sign-on provider (OpenID Connect Back-Channel Logout 1.0).',
    required: ['logout_token'],
    properties: { logout_token: text('The logout token, a signed JWT of the provider.') },
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
  ServerMetadata: {
    type: 'object',
    description: 'How other services verify auth tokens (RFC 8414).',
    required: ['issuer', 'jwks_uri', 'response_types_supported', 'grant_types_supported'],
    properties: {
      issuer: text('The issuer of auth tokens, as in `ESPALIER_ISSUER`.'),
      jwks_uri: text('The URL of the public keys.'),
      response_types_supported: {
        type: 'array',
        items: { type: 'string' },
        description: 'Always empty, because users log in with `/login` and not with OAuth.',
      },
      grant_types_supported: { type: 'array', items: { type: 'string' }, description: 'Always empty.' },
      introspection_endpoint: text(
        'The URL of the introspection endpoint. This field and the next one exist only if `ESPALIER_INTROSPECTION_CLIENT` is set.',
      ),
      introspection_endpoint_auth_methods_supported: {
        type: 'array',
        items: { type: 'string' },
        description: 'Always `["client_secret_basic"]`.',
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
      aud: text('The audience: by default the issuer.'),
      client_id: text('Always `espalier`.'),
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
      methods: {
        type: 'array',
        description:
          'With SECOND_FACTOR_REQUIRED only: the methods with which the user can complete the login: `TOTP` (a code of an authenticator app), `RECOVERY_CODE` and `PASSKEY`.',
        items: { type: 'string', enum: ['TOTP', 'PASSKEY', 'RECOVERY_CODE'] },
      },
      enrolmentToken: text(
        'With SECOND_FACTOR_ENROLMENT_REQUIRED only: the token for `/login/enrolment`. It expires after ten minutes.',
      ),
      checks: { type: 'object', description: 'With `/readyz?verbose` only: the same as in a ProbeResponse.' },
      reasons: {
        type: 'object',
        description: 'With `/readyz?verbose` only: the same as in a ProbeResponse.',
      },
    },
  },
} as const satisfies Record<string, ObjectSchema>;

export type BodyName = keyof typeof bodies;
