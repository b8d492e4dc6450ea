/**
 * The OpenID provider of single sign-on: sends users there, exchanges authorization codes, and checks the tokens of the provider.
 * `openid-client` and `jose` are loaded at the first use. Errors never contain a token, a code or a text of the provider, because
 * callers log them.
 */

import type * as OpenIdClient from 'openid-client';
import type * as Jose from 'jose';
import type { Clock } from '../../clock.ts';
import { singleFlight } from '../../concurrency/single-flight.ts';
import { isLoopbackHost } from '../../config/setting.ts';
import { Refusal } from '../../refusal.ts';
import { limitedFetch } from './limited-fetch.ts';
import { readPerson, toProviderId, type Claims, type ClaimNames, type Person } from './person.ts';

export interface ProviderSettings extends ClaimNames {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly scopes: string;
  /** The URL of the callback endpoint. */
  readonly redirectUri: string;
}

/** The secrets of one sign-in, which only the server stores. */
export interface SignInSecrets {
  readonly nonce: string;
  /** The verifier of PKCE between the server and the provider. */
  readonly pkceVerifier: string;
}

/** A person whom the provider has authenticated. */
export interface AuthenticatedPerson extends Person {
  readonly issuer: string;
  readonly refreshToken: string | undefined;
}

/** The content of a valid logout token. At least one of `subject` and `sid` is set. */
export interface LogoutRequest {
  readonly issuer: string;
  readonly tokenId: string;
  readonly subject: string | undefined;
  readonly sid: string | undefined;
}

/**
 * `UNAVAILABLE`: the provider does not respond, or not as the protocol requires. `REFUSED`: its response is not acceptable. `DENIED`: it did
 * not sign the user in.
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly kind: 'UNAVAILABLE' | 'REFUSED' | 'DENIED';

  constructor(kind: ProviderError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

interface Connection {
  readonly client: typeof OpenIdClient;
  readonly jose: typeof Jose;
  readonly configuration: OpenIdClient.Configuration;
  readonly metadata: OpenIdClient.ServerMetadata;
  readonly keys: ReturnType<typeof Jose.createRemoteJWKSet>;
  readonly loadedAt: number;
}

const timeoutSeconds = 5;
const discoveryValidMs = 60 * 60_000;
const clockToleranceSeconds = 60;
const maxLogoutTokenSeconds = 300;
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
/** Only signatures with a public key. A signature with the client secret (HS256) would make the secret a signing key of tokens. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'Ed25519',
  'EdDSA',
];

export class Provider {
  readonly #settings: ProviderSettings;
  readonly #clock: Clock;
  #connection: Connection | undefined;
  readonly #discover = singleFlight(() => this.#load());

  constructor(settings: ProviderSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /** Fails if the addresses of the provider are not known. */
  async connect(): Promise<void> {
    await this.#connect();
  }

  /** The address of the sign-in page of the provider. */
  async authorizationUrl(state: string, { nonce, pkceVerifier }: SignInSecrets): Promise<URL> {
    const { client, configuration } = await this.#connect();
    return client.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#settings.redirectUri,
      scope: this.#settings.scopes,
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(pkceVerifier),
      code_challenge_method: 'S256',
    });
  }

  /** Exchanges the authorization code in the query of the callback, and checks the ID token. */
  async exchange(query: string, state: string, secrets: SignInSecrets): Promise<AuthenticatedPerson> {
    const connection = await this.#connect();
    const { client, configuration, metadata } = connection;
    try {
      const url = new URL(this.#settings.redirectUri);
      url.search = query;
      const tokens = await client.authorizationCodeGrant(configuration, url, {
        expectedState: state,
        expectedNonce: secrets.nonce,
        pkceCodeVerifier: secrets.pkceVerifier,
        idTokenExpected: true,
      });
      await this.#verifyIdToken(connection, tokens.id_token!);
      const idToken = tokens.claims()!;
      const userInfo = await this.#readUserInfo(connection, idToken, tokens.access_token);
      const person = readPerson({ ...userInfo, ...idToken }, this.#settings);
      return { ...person, issuer: metadata.issuer, refreshToken: tokens.refresh_token };
    } catch (error) {
      throw error instanceof Refusal ? error : toProviderError(error);
    }
  }

  /** Uses a refresh token. Returns the token to use next time, or undefined if the provider no longer accepts the token. */
  async refresh(refreshToken: string): Promise<string | undefined> {
    const { client, configuration } = await this.#connect();
    try {
      const tokens = await client.refreshTokenGrant(configuration, refreshToken);
      return tokens.refresh_token ?? refreshToken;
    } catch (error) {
      if (error instanceof client.ResponseBodyError && error.error === 'invalid_grant') return undefined;
      throw toProviderError(error);
    }
  }

  /** Checks a logout token as OpenID Connect Back-Channel Logout 1.0 §2.6 requires. The caller checks that it is used only once. */
  async readLogoutToken(token: string): Promise<LogoutRequest> {
    const { jose, keys, metadata } = await this.#connect();
    try {
      const { payload, protectedHeader } = await jose.jwtVerify(token, keys, {
        issuer: metadata.issuer,
        audience: this.#settings.clientId,
        algorithms,
        clockTolerance: clockToleranceSeconds,
        maxTokenAge: maxLogoutTokenSeconds,
        requiredClaims: ['iat', 'jti', 'events'],
      });
      const type = protectedHeader.typ?.toLowerCase().replace(/^application\//, '') ?? 'jwt';
      const { jti, sub, sid, nonce, events } = payload as Claims;
      const isLogout = isObject(events) && isObject(events[logoutEvent]);
      // An ID token must never pass as a logout token: it has a nonce, and no such event.
      if (!isLogout || nonce !== undefined || !['jwt', 'logout+jwt'].includes(type)) {
        throw new ProviderError('REFUSED', 'The token is not a logout token.');
      }
      const request = { tokenId: toProviderId(jti), subject: toProviderId(sub), sid: toProviderId(sid) };
      if (request.tokenId === undefined || (request.subject ?? request.sid) === undefined) {
        throw new ProviderError('REFUSED', 'The logout token names no user and no session.');
      }
      return { ...request, tokenId: request.tokenId, issuer: metadata.issuer };
    } catch (error) {
      throw toProviderError(error, 'check of the token');
    }
  }

  /** `openid-client` checks the claims of an ID token, but not its signature if it comes from the token endpoint. */
  async #verifyIdToken({ jose, keys, metadata }: Connection, idToken: string): Promise<void> {
    const options = {
      issuer: metadata.issuer,
      audience: this.#settings.clientId,
      algorithms,
      clockTolerance: clockToleranceSeconds,
    };
    try {
      await jose.jwtVerify(idToken, keys, options);
    } catch (error) {
      if (!(error instanceof jose.errors.JWKSNoMatchingKey)) throw error;
      // The provider may have changed its keys just now. Only a provider that knows the client secret gets this far.
      await keys.reload();
      await jose.jwtVerify(idToken, keys, options);
    }
  }

  /** Many providers send most claims only here. */
  async #readUserInfo(
    { client, configuration, metadata }: Connection,
    idToken: Claims & { readonly sub: string },
    accessToken: string,
  ): Promise<Claims> {
    const { usernameClaim, groupsClaim } = this.#settings;
    const isComplete = [usernameClaim, groupsClaim].every((name) => name === undefined || name in idToken);
    if (isComplete || metadata.userinfo_endpoint === undefined) return {};
    return client.fetchUserInfo(configuration, accessToken, idToken.sub);
  }

  async #connect(): Promise<Connection> {
    const connection = this.#connection;
    const isValid = connection && Math.abs(this.#clock.now() - connection.loadedAt) < discoveryValidMs;
    if (isValid) return connection;
    try {
      return await this.#discover();
    } catch (error) {
      // The addresses of a provider rarely change, so the last known ones are better than none.
      if (connection) return connection;
      throw toProviderError(error);
    }
  }

  async #load(): Promise<Connection> {
    const [client, jose] = await Promise.all([import('openid-client'), import('jose')]);
    const { issuer, clientId, clientSecret } = this.#settings;
    const url = new URL(issuer);
    const execute = url.protocol === 'http:' ? [client.allowInsecureRequests] : [];
    const metadata = { [client.clockTolerance]: clockToleranceSeconds };
    // The methods that the provider supports are known only after the discovery.
    const chooseAuthentication: OpenIdClient.ClientAuth = (server, ...input) =>
      authenticateClient(client, server, clientSecret)(server, ...input);
    const options = { execute, timeout: timeoutSeconds, [client.customFetch]: limitedFetch };
    const configuration = await client.discovery(url, clientId, metadata, chooseAuthentication, options);
    const found = configuration.serverMetadata();
    requireProtectedEndpoints(found);
    const keys = jose.createRemoteJWKSet(new URL(found.jwks_uri!), {
      timeoutDuration: timeoutSeconds * 1000,
      [jose.customFetch]: limitedFetch,
    });
    this.#connection = { client, jose, configuration, metadata: found, keys, loadedAt: this.#clock.now() };
    return this.#connection;
  }
}

/** OpenID Connect Discovery 1.0 §3: without a list, the provider supports only `client_secret_basic`. */
function authenticateClient(
  client: typeof OpenIdClient,
  { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] }: OpenIdClient.ServerMetadata,
  secret: string | undefined,
): OpenIdClient.ClientAuth {
  if (secret === undefined) return client.None();
  return methods.includes('client_secret_basic') || !methods.includes('client_secret_post')
    ? client.ClientSecretBasic(secret)
    : client.ClientSecretPost(secret);
}

function requireProtectedEndpoints(metadata: OpenIdClient.ServerMetadata): void {
  const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint } = metadata;
  for (const [name, address] of Object.entries({
    authorization_endpoint,
    token_endpoint,
    jwks_uri,
    userinfo_endpoint,
  })) {
    if (address === undefined && name === 'userinfo_endpoint') continue;
    const url = URL.canParse(address ?? '') ? new URL(address!) : undefined;
    if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname))) continue;
    throw new ProviderError(
      'UNAVAILABLE',
      `The discovery document of the provider has no https URL for ${name}.`,
    );
  }
}

/** Only texts of the libraries and error codes of the protocol. Their causes can contain tokens. */
function toProviderError(error: unknown, action = 'sign-in at the provider'): ProviderError {
  if (error instanceof ProviderError) return error;
  const {
    code = '',
    error: protocolCode,
    message = '',
    name = '',
    cause,
  } = (error ?? {}) as Record<string, unknown> & {
    code?: string;
    message?: string;
    name?: string;
    cause?: { code?: unknown };
  };
  const networkCode =
    typeof cause?.code === 'string' && /^[A-Z_]{1,40}$/.test(cause.code) ? ` (${cause.code})` : '';
  if (isNetworkFailure(name, code, message)) {
    return new ProviderError(
      'UNAVAILABLE',
      `The provider does not respond as expected: ${message}${networkCode}`,
    );
  }
  if (code === 'OAUTH_WWW_AUTHENTICATE_CHALLENGE' || protocolCode === 'invalid_client') {
    return new ProviderError(
      'UNAVAILABLE',
      'The provider does not accept the client of this server. Check ESPALIER_SSO_CLIENT_ID and ESPALIER_SSO_CLIENT_SECRET.',
    );
  }
  const detail = typeof protocolCode === 'string' && /^\w{1,64}$/.test(protocolCode) ? protocolCode : message;
  return new ProviderError(kindOf(detail), `The ${action} failed: ${detail}`);
}

/** The error codes of RFC 6749 §4.1.2.1. */
function kindOf(code: string): ProviderError['kind'] {
  if (code === 'access_denied') return 'DENIED';
  const isOwnFault = ['unauthorized_client', 'server_error', 'temporarily_unavailable'].includes(code);
  return isOwnFault ? 'UNAVAILABLE' : 'REFUSED';
}

function isNetworkFailure(name: string, code: string, message: string): boolean {
  return (
    (name === 'TypeError' && /fetch/.test(message)) ||
    ['TimeoutError', 'AbortError', 'JWKSTimeout'].includes(name) ||
    [
      'OAUTH_TIMEOUT',
      'OAUTH_RESPONSE_IS_NOT_JSON',
      'OAUTH_RESPONSE_IS_NOT_CONFORM',
      'OAUTH_PARSE_ERROR',
      'ERR_JOSE_GENERIC',
      'ERR_JWKS_TIMEOUT',
      'ERR_JWKS_INVALID',
    ].includes(code)
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
