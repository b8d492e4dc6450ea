/**
 * The session: its tokens, logout, and a valid auth token for every request. One caller at a time refreshes the tokens, shortly
 * before they expire. Network failures never end a session; only a rejection by the server does.
 */

import type { Clock } from '../clock.ts';
import { EspalierError, loggedOutError } from '../errors.ts';
import { Listeners } from '../listeners.ts';
import { TransientFailure, type Requests } from '../requests.ts';
import { readClaims, readTokens, type Tokens, type TokenStorage } from './token-storage.ts';
import { abortable, after, wait } from '../timers.ts';

/** Options of a call that you can abort. */
export interface SignalOptions {
  /** Aborts the call: it rejects with the reason of the signal. Other calls, and a refresh that they share, continue. */
  readonly signal?: AbortSignal | undefined;
}

/** A change of the session, for `onSession`. */
export type SessionEvent =
  | { readonly type: 'login' }
  | { readonly type: 'refresh' }
  /** A logout in this or another tab or process with the same session. Also precedes the login of another user. */
  | { readonly type: 'logout' }
  /** The server ended the session: it expired, was revoked, or a refresh token was used twice. Every tab gets this event. */
  | { readonly type: 'ended' };

/** An auth token is refreshed when this share of its lifetime is left, but at most a minute before it expires. */
const refreshEarlyShare = 0.2;
const maxRefreshEarlyMs = 60_000;
/** Short, so that a retry after a lost response reaches the server while the server can still repeat that response. */
const refreshTimeoutSeconds = 10;
/** A logout retries only this long, because the user waits for it. */
const logoutRetrySeconds = 5;
/** How many times, and at which interval, the storage is polled for tokens that another tab has refreshed. */
const otherTabPolls = 10;
const otherTabPollMs = 50;
/** How long a call waits for a refresh while its current token is still valid. */
const maxEarlyWaitMs = 1_000;

const isSame = (one: Tokens | undefined, other: Tokens | undefined) => one?.authToken === other?.authToken;

const readUserId = ({ authToken }: Tokens) => readClaims(authToken).sub;

export class Session {
  readonly isApiKey = false;
  readonly #requests: Requests;
  readonly #storage: TokenStorage;
  readonly #clock: Clock;
  readonly #listeners = new Listeners<SessionEvent>();
  readonly #stopStorageListener: (() => void) | undefined;
  /** The tokens of the last event that listeners received. */
  #notifiedTokens: Tokens | undefined;
  #hasEnded = false;
  #pendingRefresh: Promise<Tokens> | undefined;
  /** Tokens that could not be stored (`next`), and the earlier tokens that are still in the storage. */
  #unsavedTokens: { readonly stored: Tokens; readonly next: Tokens } | undefined;
  #logoutController = new AbortController();

  constructor(requests: Requests, { storage, clock }: { storage: TokenStorage; clock: Clock }) {
    this.#requests = requests;
    this.#storage = storage;
    this.#clock = clock;
    this.#stopStorageListener = storage.onChange?.((tokens, hasEnded) => {
      if (tokens) this.#notify(this.#notifiedTokens ? 'refresh' : 'login', tokens);
      else this.#notify(hasEnded ? 'ended' : 'logout', undefined);
    });
  }

  /** Keeps the tokens of a new session, which replaces the current one. */
  async begin(tokens: Tokens): Promise<void> {
    await this.#storage.write(tokens);
    this.#notify('login', tokens);
  }

  /** An abort ends only the wait and the request. Once the logout has started, it deletes the stored tokens in any case. */
  async logout({ signal }: SignalOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    const tokens = await abortable(this.#deleteTokens(), signal);
    if (!tokens) return;
    const options = { signal, seconds: logoutRetrySeconds };
    await this.#requests.retry(() => this.#revoke(tokens, signal), options);
  }

  /** Deletes the stored tokens, and returns them. */
  async #deleteTokens(): Promise<Tokens | undefined> {
    this.#logoutController.abort(loggedOutError());
    this.#logoutController = new AbortController();
    await this.#pendingRefresh?.catch(() => undefined);
    const tokens = await this.#withLock(async () => {
      const stored = await this.#readTokens();
      if (stored) await this.#storage.write(undefined);
      return stored;
    });
    if (tokens) this.#notify('logout', undefined);
    return tokens;
  }

  async isLoggedIn({ signal }: SignalOptions = {}): Promise<boolean> {
    signal?.throwIfAborted();
    return (await abortable(this.#readTokens(), signal)) !== undefined;
  }

  async verify({ signal }: SignalOptions = {}): Promise<boolean> {
    signal?.throwIfAborted();
    const tokens = await abortable(this.#readTokens(), signal);
    if (!tokens) return false;
    const body = JSON.stringify({ authToken: tokens.authToken });
    const send = () => this.#requests.post('/login/verify', { body, signal });
    const response = await this.#requests.retry(send, { signal });
    if (response.status === 204) return true;
    const error = this.#requests.toError(response);
    if (error.code === 'INVALID_AUTH_TOKEN') return false;
    throw error;
  }

  /** Returns a valid auth token, and never the one that the server rejected (`refused`). */
  async authToken({
    refused,
    signal,
  }: SignalOptions & { refused?: string | undefined } = {}): Promise<string> {
    signal?.throwIfAborted();
    const tokens = await abortable(this.#readTokens(), signal);
    if (!tokens) throw loggedOutError(this.#hasEnded);
    const isUsable = tokens.authToken !== refused;
    if (isUsable && !this.#needsRefresh(tokens)) return tokens.authToken;
    const leftMs = isUsable ? tokens.expiresAt - this.#clock.now() : 0;
    this.#pendingRefresh ??= this.#refresh(tokens).finally(() => (this.#pendingRefresh = undefined));
    try {
      return (await abortable(withinGracePeriod(this.#pendingRefresh, leftMs), signal)).authToken;
    } catch (error) {
      signal?.throwIfAborted();
      const hasEnded = error instanceof EspalierError && error.code === 'LOGGED_OUT';
      if (hasEnded || leftMs <= 0) throw error;
      // The refresh was early: the current token is still valid.
      return tokens.authToken;
    }
  }

  listen(listener: (event: SessionEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  close(): void {
    this.#stopStorageListener?.();
    this.#storage.close?.();
  }

  async #readTokens(): Promise<Tokens | undefined> {
    const tokens = await this.#readStorage();
    this.#notifiedTokens ??= tokens;
    return tokens;
  }

  /** Reads the storage. Returns unsaved tokens instead, unless another tab or process has written since. */
  async #readStorage(): Promise<Tokens | undefined> {
    const current = await this.#storage.read();
    if (!this.#unsavedTokens) return current;
    const { stored, next } = this.#unsavedTokens;
    if (isSame(current, stored)) return next;
    this.#unsavedTokens = undefined;
    return current;
  }

  /** Keeps new tokens in memory if the storage fails, for example on a full disk. The previous tokens cannot be used again. */
  async #save(previous: Tokens, next: Tokens): Promise<void> {
    this.#unsavedTokens = { stored: this.#unsavedTokens?.stored ?? previous, next };
    try {
      await this.#storage.write(next);
      this.#unsavedTokens = undefined;
    } catch {
      // The next refresh writes again.
    }
  }

  #needsRefresh({ expiresAt, lifetimeSeconds }: Tokens): boolean {
    return (
      expiresAt - this.#clock.now() < Math.min(maxRefreshEarlyMs, lifetimeSeconds * 1000 * refreshEarlyShare)
    );
  }

  #withLock<T>(work: () => Promise<T>): Promise<T> {
    return this.#storage.lock ? this.#storage.lock(work) : work();
  }

  async #refresh(oldTokens: Tokens): Promise<Tokens> {
    const { signal } = this.#logoutController;
    return this.#withLock(async () => {
      let tokens = await this.#readStorage();
      for (;;) {
        signal.throwIfAborted();
        if (!tokens) throw loggedOutError();
        if (!isSame(tokens, oldTokens) && !this.#needsRefresh(tokens)) {
          this.#notify('refresh', tokens);
          return tokens;
        }
        const next = await this.#exchange(tokens, signal);
        const current = await this.#readStorage();
        if (!isSame(current, tokens)) {
          // Another tab or process has logged in or out, or refreshed first.
          tokens = current;
        } else if (next) {
          await this.#save(tokens, next);
          this.#notify('refresh', next);
          return next;
        } else {
          oldTokens = tokens;
          tokens = await this.#awaitOtherTab(tokens);
          if (isSame(tokens, oldTokens)) return this.#end();
        }
      }
    });
  }

  /** Sends the refresh request. Returns undefined if the server rejects the tokens. */
  async #exchange(tokens: Tokens, signal: AbortSignal): Promise<Tokens | undefined> {
    const { authToken, refreshToken } = tokens;
    const body = JSON.stringify({ refreshToken });
    const work = async () => {
      const sentAt = this.#clock.now();
      const timeoutSeconds = Math.min(refreshTimeoutSeconds, this.#requests.timeoutSeconds);
      const request = { body, authToken, signal, timeoutSeconds };
      const response = await this.#requests.post('/login/refresh', request);
      if (response instanceof TransientFailure) return response;
      const error = response.status === 200 ? undefined : this.#requests.toError(response);
      if (error?.code.startsWith('INVALID_')) return undefined;
      if (error && response.status >= 500) return new TransientFailure(error);
      const next = readTokens(response, sentAt);
      if (!next) throw error ?? this.#requests.toError(response);
      return next;
    };
    return this.#requests.retry(work, { signal });
  }

  /** Without a lock, another tab may have refreshed these tokens and not stored the new ones yet. Polls for them. */
  async #awaitOtherTab(tokens: Tokens): Promise<Tokens | undefined> {
    let current = await this.#readStorage();
    for (let polls = 0; isSame(current, tokens) && polls < otherTabPolls; polls++) {
      await wait(otherTabPollMs);
      current = await this.#readStorage();
    }
    return current;
  }

  async #end(): Promise<never> {
    await this.#storage.write(undefined, true);
    this.#notify('ended', undefined);
    throw loggedOutError(true);
  }

  /** Logs out with the auth token while it is valid, which works even if the refresh token has been used. */
  async #revoke(
    { authToken, refreshToken, expiresAt }: Tokens,
    signal: AbortSignal | undefined,
  ): Promise<void | TransientFailure> {
    if (expiresAt > this.#clock.now()) {
      const response = await this.#requests.post('/logout', { authToken, signal });
      if (response instanceof TransientFailure) return response;
      if (response.status === 204) return;
    }
    const body = JSON.stringify({ refreshToken });
    const response = await this.#requests.post('/logout', { body, signal });
    if (response instanceof TransientFailure) return response;
    if (response.status === 204) return;
    const error = this.#requests.toError(response);
    if (error.code !== 'INVALID_REFRESH_TOKEN') throw error;
  }

  #notify(type: SessionEvent['type'], tokens: Tokens | undefined): void {
    if (isSame(tokens, this.#notifiedTokens)) return;
    if (tokens && this.#notifiedTokens && readUserId(tokens) !== readUserId(this.#notifiedTokens)) {
      // Another user has other rights, so listeners must first drop the data of the previous user.
      this.#notify('logout', undefined);
      type = 'login';
    }
    this.#notifiedTokens = tokens;
    this.#hasEnded = type === 'ended';
    this.#listeners.notify({ type });
  }
}

/** Rejects if the refresh takes long while the current token is still valid. The caller then uses the current token. */
async function withinGracePeriod(refreshing: Promise<Tokens>, leftMs: number): Promise<Tokens> {
  if (leftMs <= 0) return refreshing;
  let cancel: (() => void) | undefined;
  const timeout = new Promise<never>((_, reject) => {
    cancel = after(Math.min(maxEarlyWaitMs, leftMs / 2), () =>
      reject(new Error('The refresh takes too long.')),
    );
  });
  return Promise.race([refreshing, timeout]).finally(cancel);
}
