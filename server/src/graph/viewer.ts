/** Who asks. The graph is handed a viewer and never sees a token. */

export interface Viewer {
  readonly userId: string;
  readonly sessionId: string;
  /** Milliseconds since 1970. */
  readonly tokenExpiresAt: number;
}
