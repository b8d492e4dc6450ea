/**
 * An OpenID provider for tests: the npm package `oidc-provider` on a port of this machine. It has users with groups, a minimal login
 * form, back-channel logout and keys that tests can replace. Faults make it return wrong tokens, or no response at all.
 */

import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
  decodeJwt,
  exportJWK,
  generateKeyPair,
  SignJWT,
  type CryptoKey,
  type JWK,
  type JWTPayload,
} from 'jose';
import Provider, { type Configuration, type KoaContextWithOIDC } from 'oidc-provider';
import { recordSecret } from '../secrets/secret-record.ts';
import { findFreePort } from '../support/free-port.ts';

export interface ProviderUser {
  /** The claim `sub`. */
  readonly subject: string;
  /** The claim `preferred_username`. */
  username: string;
  email: string;
  groups: readonly string[];
  /** The provider then refuses to log the user in, and to refresh tokens. */
  isDisabled: boolean;
}

/** What the next responses of the provider get wrong. */
export interface ProviderFaults {
  /** Changes the claims of the ID token. The provider signs the result. */
  claims?: ((claims: JWTPayload) => JWTPayload) | undefined;
  /** Replaces the ID token, for example with one that has another algorithm. */
  idToken?: ((claims: JWTPayload) => string | Promise<string>) | undefined;
  /** The `iss` parameter of the redirect to the client. Null removes it. */
  responseIssuer?: string | null | undefined;
  /** Changes the discovery document. */
  metadata?: ((metadata: Record<string, unknown>) => Record<string, unknown>) | undefined;
  /** Answers every request with this status. */
  status?: number | undefined;
  /** Redirects every request to this address. */
  redirectTo?: string | undefined;
  /** Answers requests to this path with a body that never ends. */
  endless?: string | undefined;
  /** Never answers the requests of the server, as if the network were down. */
  hangs?: boolean | undefined;
  /** Puts the claims of users only into the response of the userinfo endpoint. */
  claimsOnlyInUserInfo?: boolean | undefined;
  noGroupsInUserInfo?: boolean | undefined;
}

interface TestProviderOptions {
  /** Espalier's `ESPALIER_PUBLIC_URL`. */
  readonly publicUrl: string;
  /** By default the port of the issuer is free. */
  readonly port?: number;
}

interface ProviderKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly privateJwk: JWK;
  readonly publicJwk: JWK;
}

export const providerClientId = 'espalier';
const algorithm = 'RS256';
const scopes = 'openid profile email groups offline_access';

export class TestProvider {
  readonly issuer: string;
  readonly clientSecret = randomBytes(24).toString('base64url');
  readonly users = new Map<string, ProviderUser>();
  faults: ProviderFaults = {};
  /** Logs this user in without a form. A browser without a user sees the form. */
  autoLogin: string | undefined;
  /** The URLs that the server and browsers requested, with their query. */
  readonly requests: string[] = [];
  /** The number of bytes that were read from endless bodies, including buffers of the system. */
  endlessBytes = 0;
  readonly #port: number;
  #provider: Provider | undefined;
  #server: Server | undefined;
  #keys: ProviderKey[] = [];

  /** Starts a provider whose only client is the Espalier server at `publicUrl`. */
  static async start({ publicUrl, port }: TestProviderOptions): Promise<TestProvider> {
    const provider = new TestProvider(port ?? (await findFreePort()));
    const key = await createKey();
    provider.#keys = [key];
    provider.#provider = createProvider(provider, publicUrl, key);
    await provider.listen();
    return provider;
  }

  private constructor(port: number) {
    this.#port = port;
    this.issuer = `http://127.0.0.1:${port}`;
  }

  /** The settings of a server that uses this provider, without the prefix. */
  get settings(): Readonly<Record<string, string>> {
    return {
      SSO_ISSUER: this.issuer,
      SSO_CLIENT_ID: providerClientId,
      SSO_CLIENT_SECRET: this.clientSecret,
      SSO_NAME: 'Test provider',
      SSO_SCOPES: scopes,
    };
  }

  addUser(username: string, more: Partial<ProviderUser> = {}): ProviderUser {
    const defaults = {
      subject: randomUUID(),
      email: `${username}@example.com`,
      groups: [],
      isDisabled: false,
    };
    const user: ProviderUser = { ...defaults, username, ...more };
    this.users.set(username, user);
    return user;
  }

  setFaults(faults: ProviderFaults): void {
    this.faults = faults;
  }

  resetFaults(): void {
    this.faults = {};
  }

  userOf(subject: string): ProviderUser | undefined {
    return [...this.users.values()].find((user) => user.subject === subject);
  }

  async listen(): Promise<void> {
    const server = createServer((request, response) => void this.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#server = server;
  }

  /** The port then refuses connections, until `listen()` is called again. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  }

  /** Replaces the signing key at once. The old key is no longer published. */
  async rotateKeys(): Promise<void> {
    this.#keys = [await createKey()];
  }

  /** Sends a logout token, which the provider signs, to the server at `publicUrl`. */
  async logOut(user: ProviderUser, sid: string): Promise<void> {
    const client = await this.#provider!.Client.find(providerClientId);
    await (
      client as unknown as { backchannelLogout(sub: string, sid: string): Promise<void> }
    ).backchannelLogout(user.subject, sid);
  }

  /** Signs any claims with the current key. */
  async sign(claims: JWTPayload, header: { alg?: string; typ?: string } = {}): Promise<string> {
    const { kid, privateKey } = this.#keys[0]!;
    return new SignJWT(claims).setProtectedHeader({ alg: algorithm, kid, ...header }).sign(privateKey);
  }

  /** Called by the provider for each token response. */
  async changeIdToken(idToken: string): Promise<string> {
    const claims = decodeJwt(idToken);
    if (this.faults.idToken) return this.faults.idToken(claims);
    return this.sign(this.faults.claims?.(claims) ?? claims);
  }

  publicKeys(): { readonly keys: readonly JWK[] } {
    return { keys: this.#keys.map(({ publicJwk }) => publicJwk) };
  }

  *#spaces(): Generator<Buffer> {
    const spaces = Buffer.alloc(65_536, ' ');
    for (;;) {
      this.endlessBytes += spaces.length;
      yield spaces;
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '/' } = request;
    this.requests.push(`${request.method} ${url}`);
    if (this.faults.hangs) return;
    if (this.faults.endless === url) {
      const body = Readable.from(this.#spaces());
      response.writeHead(200, { 'content-type': 'application/json' });
      // The server closes the connection.
      pipeline(body, response, () => undefined);
      return;
    }
    if (this.faults.redirectTo !== undefined) {
      response.writeHead(302, { location: this.faults.redirectTo }).end();
      return;
    }
    if (this.faults.status) {
      response.writeHead(this.faults.status).end();
      return;
    }
    if (url.startsWith('/interaction/')) await this.#logIn(request, response);
    else await this.#provider!.callback()(request, response);
  }

  /** Shows the login form, or logs the user of the form in. */
  async #logIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = request.method === 'POST' ? new URLSearchParams(await text(request)) : undefined;
    const username = form?.get('username') ?? this.autoLogin;
    if (username === undefined) {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(loginForm);
      return;
    }
    const user = this.users.get(username);
    const result =
      user && !user.isDisabled
        ? { login: { accountId: user.subject } }
        : { error: 'access_denied', error_description: 'The test provider does not know this user.' };
    await this.#provider!.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }
}

const loginForm = `<!doctype html><html lang="en"><title>Test provider</title><h1>Test provider</h1>
<form method="post"><label>User name <input name="username" autofocus></label> <button>Log in</button></form></html>`;

function createProvider(test: TestProvider, publicUrl: string, { privateJwk }: ProviderKey): Provider {
  const configuration: Configuration = {
    clients: [
      {
        client_id: providerClientId,
        client_secret: test.clientSecret,
        redirect_uris: [`${publicUrl}/login/sso/callback`],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        backchannel_logout_uri: `${publicUrl}/login/sso/logout`,
        backchannel_logout_session_required: true,
      },
    ],
    claims: {
      openid: ['sub'],
      profile: ['preferred_username', 'name'],
      email: ['email', 'email_verified'],
      groups: ['groups'],
    },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    jwks: { keys: [privateJwk] },
    conformIdTokenClaims: true,
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    issueRefreshToken: (_, client) => Promise.resolve(client.grantTypeAllowed('refresh_token')),
    // Each refresh token works once, as the security recommendations for OAuth 2.0 suggest.
    rotateRefreshToken: true,
    loadExistingGrant: (context) => grantEverything(context),
    // The dispatcher of the provider refuses addresses of this machine.
    fetch: (url, { dispatcher: _, ...options }: RequestInit & { dispatcher?: unknown } = {}) =>
      fetch(url, options),
    findAccount: (_, subject) => {
      const user = test.userOf(subject);
      if (!user || user.isDisabled) return undefined;
      return {
        accountId: subject,
        claims: () => ({
          sub: subject,
          preferred_username: user.username,
          name: `${user.username} of the tests`,
          email: user.email,
          email_verified: true,
          ...(!test.faults.noGroupsInUserInfo && { groups: [...user.groups] }),
        }),
      };
    },
  };
  const provider = new Provider(test.issuer, configuration);
  provider.use(async (context, next) => {
    await next();
    await changeResponse(test, context as unknown as KoaContextWithOIDC);
  });
  return provider;
}

/** Grants all scopes without a consent page. */
async function grantEverything(context: KoaContextWithOIDC) {
  const { client, session, provider } = context.oidc;
  const grant = new provider.Grant({ clientId: client!.clientId, accountId: session!.accountId! });
  grant.addOIDCScope(scopes);
  await grant.save();
  return grant;
}

/** Applies the faults, and signs ID tokens with the current key. */
async function changeResponse(test: TestProvider, context: KoaContextWithOIDC): Promise<void> {
  const body = context.body as Record<string, unknown> | undefined;
  const { faults } = test;
  switch (context.oidc?.route) {
    case 'jwks':
      context.body = test.publicKeys();
      break;
    case 'discovery':
      if (faults.metadata) context.body = faults.metadata({ ...body });
      break;
    case 'token':
      for (const name of ['id_token', 'access_token', 'refresh_token']) {
        if (typeof body?.[name] === 'string') recordSecret('token of the provider', body[name]);
      }
      if (typeof body?.['id_token'] === 'string') {
        context.body = {
          ...body,
          id_token: await test.changeIdToken(await withUserClaims(test, body['id_token'])),
        };
      }
      break;
    case 'authorization':
    case 'resume':
      changeRedirect(context, faults.responseIssuer);
      break;
  }
}

async function withUserClaims(test: TestProvider, idToken: string): Promise<string> {
  const claims = decodeJwt(idToken);
  const user = test.userOf(claims.sub!);
  if (!user || test.faults.claimsOnlyInUserInfo) return idToken;
  const { username, email, groups } = user;
  return test.sign({ ...claims, preferred_username: username, email, groups: [...groups] });
}

function changeRedirect(context: KoaContextWithOIDC, issuer: string | null | undefined): void {
  const location = context.response.get('location');
  if (issuer === undefined || !location.includes('/login/sso/callback')) return;
  const url = new URL(location);
  if (issuer === null) url.searchParams.delete('iss');
  else url.searchParams.set('iss', issuer);
  context.set('location', url.href);
}

async function createKey(): Promise<ProviderKey> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const kid = randomUUID();
  const common = { kid, alg: algorithm, use: 'sig' };
  const privateJwk = { ...(await exportJWK(privateKey)), ...common };
  return { kid, privateKey, privateJwk, publicJwk: { ...(await exportJWK(publicKey)), ...common } };
}
