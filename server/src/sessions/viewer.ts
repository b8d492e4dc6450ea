/** Who asks. The graph is handed a viewer and never sees a token. */

export interface Viewer {
  readonly userId: string;
  readonly sessionId: string;
  /** Of the key that signed the token. */
  readonly keyId: string;
  /** Milliseconds since 1970. */
  readonly tokenExpiresAt: number;
}
