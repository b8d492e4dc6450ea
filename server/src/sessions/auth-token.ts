/** Issues and verifies auth tokens (JWTs with the type of RFC 9068), and defines the viewer that an auth token or an API key identifies. */

import type { RightsHolder } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import { maxAuthTokenMs } from './revocation.ts';
import { SignedTokens, type TokenServices } from './signed-token.ts';

/** The authenticated user who makes a request. Code above `sessions/` receives a viewer and never reads a token. */
export interface Viewer extends RightsHolder {
  /** Undefined for an API key, which has no session. */
  readonly sessionId: string | undefined;
  /** The id of the key that signed the auth token. */
  readonly signingKeyId?: string | undefined;
  /** In milliseconds since 1970. Infinity for an API key without an expiry. */
  readonly tokenExpiresAt: number;
  /** Set if the viewer, an administrator, views the tree as another user: with the rights of that user, and read only. */
  readonly view?: View | undefined;
}

/** A viewer with an auth token. */
export interface SessionViewer extends Viewer {
  readonly sessionId: string;
  readonly signingKeyId: string;
}

export interface View {
  /** The user whose rights apply to requests. */
  readonly userId: string;
  /** The number of the journal entry that records the start of the view. */
  readonly number: number;
  readonly expiresAt: number;
}

/** Whose rights apply to a request: the viewed user, the API key, or the user. The work for the request is charged to `viewer.userId`. */
export function rightsHolderOf(viewer: Viewer): RightsHolder {
  return viewer.view ? { userId: viewer.view.userId } : viewer;
}

/** Refuses an API key: it must not change how its user logs in, or read the sessions of the user. */
export function requireSession<T extends Pick<Viewer, 'sessionId'>>(
  caller: T,
): asserts caller is T & { readonly sessionId: string } {
  if (caller.sessionId !== undefined) return;
  throw new Refusal('FORBIDDEN', 'You cannot do this with an API key. Log in and use an auth token.');
}

/** Tokens of older versions have no `aud` and no `client_id`. They stay valid, because the issuer and the type identify them. */
interface Claims {
  readonly sub: string;
  readonly aud?: string;
  readonly client_id?: string;
  readonly sid: string;
}

/** The `client_id` of all auth tokens. RFC 9068 requires it, but users log in without a registered client. */
export const clientId = 'espalier';

interface AuthTokenOptions extends TokenServices {
  readonly lifetimeSeconds: number;
  /** The `aud` of auth tokens, by default the issuer. */
  readonly audience?: string | undefined;
}

export class AuthTokens {
  readonly issuer: string;
  readonly audience: string;
  readonly #lifetimeMs: number;
  readonly #tokens: SignedTokens<Claims, SessionViewer>;

  constructor({ lifetimeSeconds, audience, ...services }: AuthTokenOptions) {
    this.issuer = services.issuer;
    this.audience = audience ?? services.issuer;
    this.#lifetimeMs = lifetimeSeconds * 1000;
    this.#tokens = new SignedTokens<Claims, SessionViewer>({
      ...services,
      type: 'at+jwt',
      maxLifetimeMs: maxAuthTokenMs,
      isValid: ({ aud }) => aud === undefined || aud === this.audience,
      toContent: ({ sub, sid }, { keyId, expiresAt }) => ({
        userId: sub,
        sessionId: sid,
        signingKeyId: keyId,
        tokenExpiresAt: expiresAt,
      }),
    });
  }

  /** Refuses while this node may not know the current signing key. */
  issue(userId: string, sessionId: string): string {
    const claims = { sub: userId, aud: this.audience, client_id: clientId, sid: sessionId };
    return this.#tokens.issue(claims, this.#lifetimeMs).token;
  }

  /** Returns the viewer of an authentic token, even of an expired one. Otherwise returns undefined. Refuses a token whose key this node may not know yet. */
  read(token: string): SessionViewer | undefined {
    return this.#tokens.read(token);
  }

  /** Whether the key that signed a token was retired, which makes the token invalid. */
  isKeyRetired(keyId: string): boolean {
    return this.#tokens.isKeyRetired(keyId);
  }
}
