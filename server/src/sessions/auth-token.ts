/** Issues and verifies auth tokens (JWTs with the type of RFC 9068), and defines the viewer that an auth token identifies. */

import { maxAuthTokenMs } from './revocation.ts';
import { SignedTokens, type TokenServices } from './signed-token.ts';

/** The authenticated user who makes a request. Code above `sessions/` receives a viewer and never reads a token. */
export interface Viewer {
  readonly userId: string;
  readonly sessionId: string;
  /** The id of the key that signed the auth token. */
  readonly keyId: string;
  /** In milliseconds since 1970. */
  readonly tokenExpiresAt: number;
  /** Set if the viewer, an administrator, views the tree as another user: with the rights of that user, and read only. */
  readonly view?: View | undefined;
}

export interface View {
  /** The user whose rights apply to requests. */
  readonly userId: string;
  /** The number of the journal entry that records the start of the view. */
  readonly number: number;
  readonly expiresAt: number;
}

/** The user whose rights apply to a request. The work for the request is charged to `viewer.userId`. */
export function effectiveUserId({ userId, view }: Viewer): string {
  return view ? view.userId : userId;
}

interface Claims {
  readonly sub: string;
  readonly sid: string;
}

interface AuthTokenOptions extends TokenServices {
  readonly lifetimeSeconds: number;
}

export class AuthTokens {
  readonly issuer: string;
  readonly #lifetimeMs: number;
  readonly #tokens: SignedTokens<Claims, Viewer>;

  constructor({ lifetimeSeconds, ...services }: AuthTokenOptions) {
    this.issuer = services.issuer;
    this.#lifetimeMs = lifetimeSeconds * 1000;
    this.#tokens = new SignedTokens<Claims, Viewer>({
      ...services,
      type: 'at+jwt',
      maxLifetimeMs: maxAuthTokenMs,
      toContent: ({ sub, sid }, { keyId, expiresAt }) => ({
        userId: sub,
        sessionId: sid,
        keyId,
        tokenExpiresAt: expiresAt,
      }),
    });
  }

  /** Refuses while this node may not know the current signing key. */
  issue(userId: string, sessionId: string): string {
    return this.#tokens.issue({ sub: userId, sid: sessionId }, this.#lifetimeMs).token;
  }

  /** Returns the viewer of an authentic token, even of an expired one. Otherwise returns undefined. Refuses a token whose key this node may not know yet. */
  read(token: string): Viewer | undefined {
    return this.#tokens.read(token);
  }

  /** Whether the key that signed a token was retired, which makes the token invalid. */
  isKeyRetired(keyId: string): boolean {
    return this.#tokens.isKeyRetired(keyId);
  }
}
