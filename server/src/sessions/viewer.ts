/** The authenticated user who makes a request. Code above `sessions/` receives a viewer and never reads a token. */

export interface Viewer {
  readonly userId: string;
  readonly sessionId: string;
  /** The id of the key that signed the auth token. */
  readonly keyId: string;
  /** In milliseconds since 1970. */
  readonly tokenExpiresAt: number;
}
