/**
 * Stores tokens in a browser: they survive a reload, all tabs of an origin share them, and one tab at a time refreshes them.
 * Where the browser lacks an API for this, each tab works alone.
 */

import { systemClock } from '../clock.ts';
import { after, afterEvents } from '../timers.ts';
import type { Tokens, TokenStorage } from './token-storage.ts';

/** Options of `tabStorage`. */
export interface TabStorageOptions {
  /** Tabs with the same name share a session. Default: `espalier`. If a page uses several servers, use one name per server. */
  readonly name?: string | undefined;
  /**
   * The area that keeps the tokens when the page reloads. Default: `sessionStorage`, which is cleared when the tab closes. With
   * `localStorage` users stay logged in when they return, and the tokens are on the disk until they log out.
   */
  readonly area?: Pick<Storage, 'getItem' | 'setItem'> | undefined;
}

/** The stored state: tokens or none. */
interface StoredState {
  /** When the state was written. Always higher than the value of the state that it replaces, so the highest is the newest. */
  readonly at: number;
  readonly tokens?: Tokens | undefined;
  /** True if there are no tokens because the server ended the session. */
  readonly hasEnded?: boolean | undefined;
}

/** A message between tabs. The tabs can have different versions of the page, so never rename a property. */
interface Message {
  readonly from: string;
  readonly kept: StoredState;
  /** The id of the question that this message asks. */
  readonly asks?: string;
  /** The id of the question that this message answers. */
  readonly answers?: string;
}

interface Channel {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  postMessage(message: Message): void;
  close(): void;
  unref?(): void;
}

interface Locks {
  request<T>(
    name: string,
    options: { readonly signal?: AbortSignal; readonly mode?: 'shared' },
    work: () => Promise<T>,
  ): Promise<T>;
  query(): Promise<{ readonly held?: readonly { readonly name?: string }[] }>;
}

function readLocks(): Locks | undefined {
  return ((globalThis as { navigator?: { locks?: Locks } }).navigator ?? {}).locks;
}

type TokenListener = (tokens: Tokens | undefined, hasEnded?: boolean) => void;

/** After this time a tab continues without the lock. */
const lockTimeoutMs = 10_000;
/** How long a tab waits for the answers of other tabs. */
const answerTimeoutMs = 500;

/**
 * Returns a token storage for browsers. Do not use it in a server: all its clients would share one session.
 *
 * @example
 * import { createClient, tabStorage } from '@espalier/client';
 *
 * const client = createClient({ url: '/', storage: tabStorage() });
 * if (!(await client.isLoggedIn())) await client.login(await askForPassword());
 */
export function tabStorage(options: TabStorageOptions = {}): TokenStorage {
  return new TabStorage(options);
}

class TabStorage implements TokenStorage {
  readonly #name: string;
  readonly #area: TabStorageOptions['area'];
  readonly #tabId = `${Math.random()}`;
  readonly #listeners = new Set<TokenListener>();
  /** The ids of the other tabs that have sent a message. */
  readonly #peers = new Set<string>();
  /** Called with the id of each tab that answers a question. */
  readonly #questions = new Map<string, (peer: string) => void>();
  #state: StoredState = { at: 0 };
  #channel: Channel | undefined;
  #startup: Promise<void> | undefined;
  #isClosed = false;
  /** Releases the lock that new tabs query to find out whether another tab has tokens. */
  #releasePresence: (() => void) | undefined;

  constructor({ name = 'espalier', area }: TabStorageOptions) {
    this.#name = `espalier:${name}`;
    this.#area = area ?? attempt(() => sessionStorage);
  }

  async read(): Promise<Tokens | undefined> {
    await this.#waitUntilReady();
    return this.#state.tokens;
  }

  async write(tokens: Tokens | undefined, hasEnded?: boolean): Promise<void> {
    await this.#waitUntilReady();
    this.#state = { at: Math.max(this.#state.at + 1, systemClock.now()), tokens, hasEnded };
    this.#updatePresence();
    this.#save();
    this.#send();
  }

  async lock<T>(work: () => Promise<T>): Promise<T> {
    const runCurrent = async () => {
      await this.#catchUp();
      return work();
    };
    const locks = readLocks();
    const giveUp = new AbortController();
    const cancel = after(lockTimeoutMs, () => giveUp.abort());
    let isLocked = false;
    try {
      if (locks) {
        return await locks.request(this.#name, { signal: giveUp.signal }, () => {
          isLocked = true;
          cancel();
          return runCurrent();
        });
      }
    } catch (error) {
      if (isLocked) throw error;
    } finally {
      cancel();
    }
    return runCurrent();
  }

  onChange(listener: TokenListener): () => void {
    void this.#start();
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#channel?.close();
    this.#channel = undefined;
    this.#updatePresence();
  }

  /** If this tab has no state yet, waits for the answers of the other tabs. */
  async #waitUntilReady(): Promise<void> {
    const starting = this.#start();
    if (this.#state.at === 0) await starting;
    this.#load();
  }

  /** Reads messages that another tab sent before this tab got the lock. */
  async #catchUp(): Promise<void> {
    await this.#start();
    if (this.#peers.size > 0) await this.#askPeers();
    this.#load();
  }

  #start(): Promise<void> | undefined {
    if (!this.#channel) {
      // A refresh was in progress when the client was closed. The other tabs need the new tokens, so the channel opens again.
      if (this.#isClosed) after(lockTimeoutMs, () => this.close());
      this.#channel = attempt(() => new BroadcastChannel(this.#name) as unknown as Channel);
      if (this.#channel) this.#channel.onmessage = ({ data }) => this.#receive(data as Message);
      // Otherwise the channel would keep a Node process running.
      this.#channel?.unref?.();
      this.#load();
      this.#startup = this.#channel && this.#askFirstPeers();
    }
    return this.#startup;
  }

  /** Asks the other tabs for their state. Does not wait for answers if no other tab has tokens. */
  async #askFirstPeers(): Promise<void> {
    const answers = this.#askPeers();
    if (await this.#isAlone()) return;
    await answers;
  }

  /** Checks whether no other tab has tokens. Returns false if the browser does not support locks. */
  async #isAlone(): Promise<boolean> {
    try {
      const { held } = (await readLocks()?.query()) ?? {};
      return held !== undefined && !held.some(({ name }) => name === this.#presenceName);
    } catch {
      return false;
    }
  }

  get #presenceName(): string {
    return `${this.#name}:tokens`;
  }

  /** Holds a shared lock while this tab has tokens. */
  #updatePresence(): void {
    const isPresent = this.#state.tokens !== undefined && !this.#isClosed;
    if (!isPresent) {
      this.#releasePresence?.();
      this.#releasePresence = undefined;
    } else if (!this.#releasePresence) {
      const release = new Promise<void>((resolve) => (this.#releasePresence = resolve));
      // If the request fails, new tabs do not wait for an answer of this tab.
      const request = attempt(() =>
        readLocks()?.request(this.#presenceName, { mode: 'shared' }, () => release),
      );
      request?.catch(() => undefined);
    }
  }

  /** Asks the other tabs for their state. Waits for all known tabs, or for the first answer if none is known. */
  #askPeers(): Promise<void> {
    return new Promise<void>((resolve) => {
      const question = `${Math.random()}`;
      const pendingPeers = new Set(this.#peers);
      const end = () => {
        cancel();
        this.#questions.delete(question);
        resolve();
      };
      const cancel = afterEvents(answerTimeoutMs, () => {
        // A tab that does not answer is probably closed. If it is not, its next message adds it again.
        for (const peer of pendingPeers) this.#peers.delete(peer);
        end();
      });
      this.#questions.set(question, (peer) => {
        pendingPeers.delete(peer);
        if (pendingPeers.size === 0) end();
      });
      this.#send({ asks: question });
    });
  }

  #send(about: Pick<Message, 'asks' | 'answers'> = {}): void {
    attempt(() => this.#channel?.postMessage({ from: this.#tabId, kept: this.#state, ...about }));
  }

  #receive(message: Message | null | undefined): void {
    // The message can come from another version of the page, or from a script with the same channel name.
    if (!isStoredState(message?.kept)) return;
    const { from: peer, kept: stored, asks, answers = '' } = message;
    this.#peers.add(peer);
    if (this.#adopt(stored)) {
      this.#save();
      this.#notify();
    }
    if (asks) this.#send({ answers: asks });
    this.#questions.get(answers)?.(peer);
  }

  /** Reads the state in the area. A shared area such as localStorage can be ahead of the channel. */
  #load(): void {
    const stored: unknown = attempt(() => JSON.parse(this.#area?.getItem(this.#name) ?? '') as unknown);
    if (isStoredState(stored) && this.#adopt(stored)) this.#notify();
  }

  #save(): void {
    attempt(() => this.#area?.setItem(this.#name, JSON.stringify(this.#state)));
  }

  /** Takes over a newer state. If the times are equal, the tokens are compared, so that all tabs choose the same state. */
  #adopt(stored: StoredState): boolean {
    const current = this.#state;
    const isNewer =
      stored.at > current.at ||
      (stored.at === current.at && (stored.tokens?.authToken ?? '') > (current.tokens?.authToken ?? ''));
    if (isNewer) {
      this.#state = stored;
      this.#updatePresence();
    }
    return isNewer;
  }

  #notify(): void {
    const { tokens, hasEnded } = this.#state;
    for (const listener of [...this.#listeners]) listener(tokens, hasEnded === true);
  }
}

function isStoredState(value: unknown): value is StoredState {
  const { at, tokens } = (value ?? {}) as Partial<StoredState>;
  if (!Number.isSafeInteger(at) || tokens === undefined) return Number.isSafeInteger(at);
  const { authToken, refreshToken, expiresAt, lifetimeSeconds } = (tokens ?? {}) as Partial<Tokens>;
  const hasTokens = typeof authToken === 'string' && typeof refreshToken === 'string';
  return hasTokens && typeof expiresAt === 'number' && typeof lifetimeSeconds === 'number';
}

/** Returns undefined if `work` throws: browsers throw if cookies are blocked, in sandboxed frames and if a storage is full. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
