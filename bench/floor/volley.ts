/** What the load is told to send, and what it tells. */

/** Nine digits in the body of a numbered request: another number each time, and never twice in a run. */
export const numberMark = '#########';

export interface Asked {
  readonly method: 'POST' | 'GET';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Volley {
  readonly url: string;
  readonly asked: Asked;
  readonly requests: number;
  readonly connections: number;
  readonly isNumbered?: boolean;
  readonly chain?: Chain;
  readonly expected: {
    readonly status: number;
    /** Of head and body together; so many more or fewer are right, too. */
    readonly bytes: number;
    readonly slackBytes: number;
    readonly body?: string;
  };
}

/** Each connection has tokens of its own, in place of `{authToken}` and `{refreshToken}`, and takes the next from each answer. */
export interface Chain {
  /** A volley goes on where the last of this name has got to. */
  readonly name: string;
  readonly pairs: readonly TokenPair[];
}

export interface TokenPair {
  readonly authToken: string;
  readonly refreshToken: string;
}

export interface VolleyResult {
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}
