/** Where the token pair of a session is kept, and who else may hold it at the same time. */

export interface Tokens {
  readonly authToken: string;
  readonly refreshToken: string;
  /** When the auth token ends, by the clock of this machine, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** How long it lives in all. */
  readonly lifetimeSeconds: number;
}

/** Implement it to keep tokens elsewhere: in a file, a keychain, another process. */
export interface TokenStorage {
  read(): Tokens | undefined | Promise<Tokens | undefined>;
  /** Undefined when the session is over; `hasEnded` if nobody has logged out, for those who share it to know. */
  write(tokens: Tokens | undefined, hasEnded?: boolean): void | Promise<void>;
  /**
   * Runs the work while no other tab or process that shares this storage runs its own. A pair is exchanged inside, after
   * it has been read anew: so it is exchanged once. Without it, there is nobody to share with.
   */
  lock?<T>(work: () => Promise<T>): Promise<T>;
  /** Told when somebody else has written, and what. Answers with how to stop. */
  onChange?(listener: (tokens: Tokens | undefined, hasEnded?: boolean) => void): () => void;
  /** Lets go of channels and timers. */
  close?(): void;
}

/** In memory alone: gone with the page or the process. */
export function memoryStorage(): TokenStorage {
  let kept: Tokens | undefined;
  return {
    read: () => kept,
    write: (tokens) => void (kept = tokens),
  };
}
