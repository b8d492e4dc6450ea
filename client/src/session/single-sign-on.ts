/**
 * What a sign-in page needs: the login methods of the server, and the start of a single sign-on. The client keeps a random
 * verifier and sends only its digest (RFC 7636, method S256), so a stolen one-time code is useless.
 */

import { EspalierError } from '../errors.ts';
import { paths, type Requests } from '../requests.ts';
import type { SignalOptions } from './session.ts';

/** How users can log in to a server. */
export interface LoginMethods {
  /** Whether users can log in with a password. */
  readonly password: boolean;
  /** The single sign-on provider, with its name for people, for example `Keycloak`. Null if there is none. */
  readonly singleSignOn: { readonly name: string } | null;
  /** Whether users can log in with a passkey. */
  readonly passkeys: boolean;
}

/** Options of `startSingleSignOn`. */
export interface SingleSignOnOptions {
  /**
   * The loopback address that receives the one-time code, for example `http://127.0.0.1:51000/callback`. Default: the console
   * of the server.
   */
  readonly redirectUri?: string | undefined;
  /** The path of the console that the user requested, for example `/users`. The console opens it after the sign-in. */
  readonly returnTo?: string | undefined;
}

/** A single sign-on that has started. */
export interface SingleSignOnStart {
  /** Open this address in a browser. */
  readonly url: string;
  /** Keep it secret, and pass it to `completeSingleSignOn`. */
  readonly verifier: string;
}

/** The one-time code that the browser brought back, and the verifier of the start. */
export interface SingleSignOnResult {
  readonly code: string;
  readonly verifier: string;
}

const verifierBytes = 32;

export async function readLoginMethods(
  requests: Requests,
  { signal }: SignalOptions = {},
): Promise<LoginMethods> {
  const response = await requests.retry(() => requests.get(paths.loginMethods, { signal }), { signal });
  const { password, singleSignOn, passkeys } = response.value;
  if (response.status !== 200 || typeof password !== 'boolean') throw requests.toError(response);
  const { name } = (singleSignOn ?? {}) as { name?: unknown };
  return {
    password,
    singleSignOn: typeof name === 'string' ? { name } : null,
    passkeys: passkeys === true,
  };
}

export async function startSingleSignOn(
  apiRoot: string,
  { redirectUri, returnTo }: SingleSignOnOptions = {},
): Promise<SingleSignOnStart> {
  const verifier = toBase64Url(crypto.getRandomValues(new Uint8Array(verifierBytes)));
  const challenge = await digest(verifier);
  const url = new URL(apiRoot + paths.singleSignOn);
  url.searchParams.set('challenge', challenge);
  if (redirectUri !== undefined) url.searchParams.set('redirect_uri', redirectUri);
  if (returnTo !== undefined) url.searchParams.set('return_to', returnTo);
  return { url: url.href, verifier };
}

async function digest(verifier: string): Promise<string> {
  // Browsers have it only on pages with TLS and on localhost.
  const subtle = (crypto as { subtle?: typeof crypto.subtle }).subtle;
  if (!subtle) {
    throw new EspalierError(
      'NO_WEB_CRYPTO',
      'Single sign-on needs the Web Crypto API, which browsers offer only on https pages and on localhost. Open the page with https.',
    );
  }
  return toBase64Url(new Uint8Array(await subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
}

function toBase64Url(bytes: Uint8Array): string {
  const base64 = btoa(String.fromCharCode(...bytes));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
