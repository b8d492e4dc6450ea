/**
 * The session: logging in and out, and a good auth token whenever one is needed. A pair of tokens is exchanged early,
 * by one at a time, and never given up because of the network: only a server that says so ends a session.
 */

import { claimsOf } from './auth-token.ts';
import type { Clock } from './clock.ts';
import { EspalierError, loggedOut } from './errors.ts';
import { Passing, type Answer, type Requests } from './requests.ts';
import type { Tokens, TokenStorage } from './token-storage.ts';
import { abortable, after, wait } from './waiting.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export type SessionEvent =
  | { readonly type: 'login' }
  | { readonly type: 'refresh' }
  /** Here, or in another tab or process that shares the session; also before the login of somebody else. */
  | { readonly type: 'logout' }
  /** The server does not know the session any more: expired, ended by somebody, or a token that was stolen. All tabs are told. */
  | { readonly type: 'ended' };

/** How much of its life an auth token has left when it is exchanged, at most a minute. */
const earlyShare = 0.2;
const earlyMs = 60_000;
/** A reply is lost after so long, so that there is time to ask again while the server still repeats it. */
const refreshSeconds = 10;
/** How long a logout waits for a server; whoever leaves does not want to wait. */
const logoutSeconds = 5;
/** How often, and after how long each time, it is looked for the new pair of another tab. */
const newsLooks = 10;
const newsMs = 50;

/** How long a call waits for the exchange of a token that is still good. */
const earlyWaitMs = 1_000;

const same = (one: Tokens | undefined, other: Tokens | undefined) => one?.authToken === other?.authToken;

const userOf = ({ authToken }: Tokens) => claimsOf(authToken).sub;

export class Session {
  readonly #requests: Requests;
  readonly #storage: TokenStorage;
  readonly #clock: Clock;
  readonly #listeners = new Set<(event: SessionEvent) => void>();
  readonly #unfollow: (() => void) | undefined;
  /** Those that the listeners know of. */
  #known: Tokens | undefined;
  #hasEnded = false;
  #refreshing: Promise<Tokens> | undefined;
  /** What is still stored, and what should be instead. */
  #unsaved: { readonly pair: Tokens; readonly next: Tokens } | undefined;
  #leaving = new AbortController();

  constructor(requests: Requests, { storage, clock }: { storage: TokenStorage; clock: Clock }) {
    this.#requests = requests;
    this.#storage = storage;
    this.#clock = clock;
    this.#unfollow = storage.onChange?.((tokens, hasEnded) => {
      const [here, gone] = [this.#known ? 'refresh' : 'login', hasEnded ? 'ended' : 'logout'] as const;
      this.#tell(tokens ? here : gone, tokens);
    });
  }

  async login({ username, password }: Credentials): Promise<void> {
    const tokens = await this.#requests.persist(async () => {
      const sentAt = this.#clock.now();
      const body = JSON.stringify({ username, password });
      const answer = await this.#requests.post('/login', { body });
      return answer instanceof Passing ? answer : this.#tokensOf(answer, sentAt);
    });
    await this.#storage.write(tokens);
    this.#tell('login', tokens);
  }

  async logout(): Promise<void> {
    this.#leaving.abort(loggedOut());
    this.#leaving = new AbortController();
    await this.#refreshing?.catch(() => undefined);
    const tokens = await this.#alone(async () => {
      const held = await this.#read();
      if (held) await this.#storage.write(undefined);
      return held;
    });
    if (!tokens) return;
    this.#tell('logout', undefined);
    await this.#requests.persist(() => this.#revoke(tokens), { seconds: logoutSeconds });
  }

  async isLoggedIn(): Promise<boolean> {
    return (await this.#read()) !== undefined;
  }

  async verify(): Promise<boolean> {
    const tokens = await this.#read();
    if (!tokens) return false;
    const body = JSON.stringify({ authToken: tokens.authToken });
    const answer = await this.#requests.persist(() => this.#requests.post('/login/verify', { body }));
    if (answer.status === 204) return true;
    const refusal = this.#requests.refusal(answer);
    if (refusal.code === 'INVALID_AUTH_TOKEN') return false;
    throw refusal;
  }

  /** A token that is good for a while: another than the one that was refused, if there was one. */
  async authToken({
    refused,
    signal,
  }: { refused?: string | undefined; signal?: AbortSignal | undefined } = {}) {
    const tokens = await abortable(this.#read(), signal);
    if (!tokens) throw loggedOut(this.#hasEnded);
    const isUsable = tokens.authToken !== refused;
    if (isUsable && !this.#isDue(tokens)) return tokens.authToken;
    const leftMs = isUsable ? tokens.expiresAt - this.#clock.now() : 0;
    this.#refreshing ??= this.#refresh(tokens).finally(() => (this.#refreshing = undefined));
    try {
      return (await abortable(inTime(this.#refreshing, leftMs), signal)).authToken;
    } catch (error) {
      signal?.throwIfAborted();
      const isOver = error instanceof EspalierError && error.code === 'LOGGED_OUT';
      if (isOver || leftMs <= 0) throw error;
      // It was early, and the one that is there is still good.
      return tokens.authToken;
    }
  }

  listen(listener: (event: SessionEvent) => void): () => void {
    // One and the same may listen twice.
    const told = (event: SessionEvent) => listener(event);
    this.#listeners.add(told);
    return () => this.#listeners.delete(told);
  }

  close(): void {
    this.#unfollow?.();
    this.#storage.close?.();
  }

  async #read(): Promise<Tokens | undefined> {
    const tokens = await this.#stored();
    this.#known ??= tokens;
    return tokens;
  }

  /** Or what could not be stored, if nobody else has written since. */
  async #stored(): Promise<Tokens | undefined> {
    const held = await this.#storage.read();
    if (!this.#unsaved) return held;
    const { pair, next } = this.#unsaved;
    if (same(held, pair)) return next;
    this.#unsaved = undefined;
    return held;
  }

  /** The pair before is spent: a storage that fails, as a full disk does, must not lose the one that took its place. */
  async #save(pair: Tokens, next: Tokens): Promise<void> {
    const stored = this.#unsaved?.pair ?? pair;
    this.#unsaved = { pair: stored, next };
    try {
      await this.#storage.write(next);
      this.#unsaved = undefined;
    } catch {
      // It is tried again with the next pair.
    }
  }

  #isDue({ expiresAt, lifetimeSeconds }: Tokens): boolean {
    return expiresAt - this.#clock.now() < Math.min(earlyMs, lifetimeSeconds * 1000 * earlyShare);
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#storage.lock ? this.#storage.lock(work) : work();
  }

  async #refresh(stale: Tokens): Promise<Tokens> {
    const { signal } = this.#leaving;
    return this.#alone(async () => {
      let pair = await this.#stored();
      for (;;) {
        signal.throwIfAborted();
        if (!pair) throw loggedOut();
        if (!same(pair, stale) && !this.#isDue(pair)) {
          this.#tell('refresh', pair);
          return pair;
        }
        const next = await this.#exchange(pair, signal);
        const held = await this.#stored();
        if (!same(held, pair)) {
          // Somebody else has logged in or out, or was faster.
          pair = held;
        } else if (next) {
          await this.#save(pair, next);
          this.#tell('refresh', next);
          return next;
        } else {
          stale = pair;
          pair = await this.#newsOf(pair);
          if (same(pair, stale)) return this.#end();
        }
      }
    });
  }

  /** The next pair; undefined if the server says that this one is not good. */
  async #exchange(pair: Tokens, signal: AbortSignal): Promise<Tokens | undefined> {
    const { authToken, refreshToken } = pair;
    const body = JSON.stringify({ refreshToken });
    const work = async () => {
      const sentAt = this.#clock.now();
      const timeoutSeconds = Math.min(refreshSeconds, this.#requests.timeoutSeconds);
      const request = { body, authToken, signal, timeoutSeconds };
      const answer = await this.#requests.post('/login/refresh', request);
      if (answer instanceof Passing) return answer;
      const refusal = answer.status === 200 ? undefined : this.#requests.refusal(answer);
      if (refusal?.code.startsWith('INVALID_')) return undefined;
      if (refusal && answer.status >= 500) return new Passing(refusal);
      return this.#tokensOf(answer, sentAt);
    };
    return this.#requests.persist(work, { signal });
  }

  /** Somebody may have exchanged it without the lock, where there is none, and is about to tell. */
  async #newsOf(pair: Tokens): Promise<Tokens | undefined> {
    let held = await this.#stored();
    for (let looks = 0; same(held, pair) && looks < newsLooks; looks++) {
      await wait(newsMs);
      held = await this.#stored();
    }
    return held;
  }

  async #end(): Promise<never> {
    await this.#storage.write(undefined, true);
    this.#tell('ended', undefined);
    throw loggedOut(true);
  }

  /** By the auth token while it is good, which ends the session whatever became of its refresh token. */
  async #revoke({ authToken, refreshToken, expiresAt }: Tokens): Promise<void | Passing> {
    if (expiresAt > this.#clock.now()) {
      const answer = await this.#requests.post('/logout', { authToken });
      if (answer instanceof Passing) return answer;
      if (answer.status === 204) return;
    }
    const answer = await this.#requests.post('/logout', { body: JSON.stringify({ refreshToken }) });
    if (answer instanceof Passing) return answer;
    if (answer.status === 204) return;
    const refusal = this.#requests.refusal(answer);
    if (refusal.code !== 'INVALID_REFRESH_TOKEN') throw refusal;
  }

  #tokensOf(answer: Answer, sentAt: number): Tokens {
    const { authToken, refreshToken, expires_in: lifetimeSeconds } = answer.value;
    if (
      answer.status !== 200 ||
      typeof authToken !== 'string' ||
      typeof refreshToken !== 'string' ||
      typeof lifetimeSeconds !== 'number'
    ) {
      throw this.#requests.refusal(answer);
    }
    return { authToken, refreshToken, lifetimeSeconds, expiresAt: sentAt + lifetimeSeconds * 1000 };
  }

  #tell(type: SessionEvent['type'], tokens: Tokens | undefined): void {
    if (same(tokens, this.#known)) return;
    if (tokens && this.#known && userOf(tokens) !== userOf(this.#known)) {
      // What is shown and followed is of what somebody else may see.
      this.#tell('logout', undefined);
      type = 'login';
    }
    this.#known = tokens;
    this.#hasEnded = type === 'ended';
    for (const listener of [...this.#listeners]) {
      try {
        listener({ type });
      } catch (error) {
        // Browsers show it on the console. The session goes on.
        (globalThis as { reportError?: (error: unknown) => void }).reportError?.(error);
      }
    }
  }
}

/** While the old token is good, an exchange that takes long is not waited for. */
async function inTime(refreshing: Promise<Tokens>, leftMs: number): Promise<Tokens> {
  if (leftMs <= 0) return refreshing;
  let cancel: (() => void) | undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = after(Math.min(earlyWaitMs, leftMs / 2), () => reject(new Error('Later.')));
  });
  return Promise.race([refreshing, late]).finally(cancel);
}
