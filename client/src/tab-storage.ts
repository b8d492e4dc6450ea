/**
 * Tokens in a browser: kept over a reload, and shared by all tabs of an origin, which tell each other of new pairs and
 * exchange each pair once. Where the browser lacks something of it, each tab is on its own as far as that goes.
 */

import { systemClock } from './clock.ts';
import type { Tokens, TokenStorage } from './token-storage.ts';
import { after, afterHearing } from './waiting.ts';

export interface TabStorageOptions {
  /** Tabs with the same name share a session, `espalier` unless told: give each server its own if there are several. */
  readonly name?: string | undefined;
  /**
   * What holds the tokens over a reload; `sessionStorage` unless told, which goes with the tab. With `localStorage` people
   * stay logged in when they come back: tokens are then on the disk for as long as nobody logs out.
   */
  readonly area?: Pick<Storage, 'getItem' | 'setItem'> | undefined;
}

/** A pair, or that there is none. When it was written, and later than all that was known then: the later is newer. */
interface Kept {
  readonly at: number;
  readonly tokens?: Tokens | undefined;
  /** There is none because the server ended the session. */
  readonly hasEnded?: boolean | undefined;
}

interface Message {
  readonly from: string;
  readonly kept: Kept;
  /** Names of a question. */
  readonly asks?: string;
  readonly answers?: string;
}

interface Channel {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  postMessage(message: Message): void;
  close(): void;
  unref?(): void;
}

interface Locks {
  request<T>(name: string, options: { signal: AbortSignal }, work: () => Promise<T>): Promise<T>;
}

/** Whoever has held the lock for so long is not waited for any more. */
const lockMs = 10_000;
/** How long other tabs may take to answer. */
const answerMs = 500;

/**
 * For browsers alone: in a server, all that runs there would share one session.
 *
 * @example
 * import { createClient, tabStorage } from '@espalier/client';
 *
 * const client = createClient({ url: '/', storage: tabStorage() });
 * if (!(await client.isLoggedIn())) await client.login(await askForPassword());
 */
export function tabStorage(options: TabStorageOptions = {}): TokenStorage {
  const name = `espalier:${options.name ?? 'espalier'}`;
  const area = options.area ?? attempt(() => sessionStorage);
  const from = `${Math.random()}`;
  const listeners = new Set<(tokens: Tokens | undefined, hasEnded?: boolean) => void>();
  /** The other tabs that were heard of. */
  const peers = new Set<string>();
  /** Told who has answered. */
  const questions = new Map<string, (peer: string) => void>();
  let kept: Kept = { at: 0 };
  let channel: Channel | undefined;
  let started: Promise<void> | undefined;
  let isClosed = false;

  const send = (about: Pick<Message, 'asks' | 'answers'> = {}) =>
    attempt(() => channel?.postMessage({ from, kept, ...about }));

  /** Takes what is newer. Of two that were written at the same time, all tabs take the same. */
  const take = (given: Kept) => {
    const isNewer =
      given.at > kept.at ||
      (given.at === kept.at && (given.tokens?.authToken ?? '') > (kept.tokens?.authToken ?? ''));
    if (isNewer) kept = given;
    return isNewer;
  };

  const tellListeners = () => {
    for (const listener of [...listeners]) listener(kept.tokens, kept.hasEnded === true);
  };

  /** An area of all tabs may tell before the channel does. */
  const load = () => {
    const given: unknown = attempt(() => JSON.parse(area?.getItem(name) ?? '') as unknown);
    if (isKept(given) && take(given)) tellListeners();
  };

  const save = () => attempt(() => area?.setItem(name, JSON.stringify(kept)));

  const receive = (message: Message | null | undefined) => {
    // Of another version of the page, or of something else that has chosen the same name.
    if (!isKept(message?.kept)) return;
    const { from: peer, kept: given, asks, answers = '' } = message;
    peers.add(peer);
    if (take(given)) {
      save();
      tellListeners();
    }
    if (asks) send({ answers: asks });
    questions.get(answers)?.(peer);
  };

  /** Asks the other tabs for what they have, and waits until all that are known have answered, or else the first. */
  const ask = () =>
    new Promise<void>((resolve) => {
      const question = `${Math.random()}`;
      const awaited = new Set(peers);
      const end = () => {
        cancel();
        questions.delete(question);
        resolve();
      };
      const cancel = afterHearing(answerMs, () => {
        // Who does not answer has gone, or will be heard of again.
        for (const peer of awaited) peers.delete(peer);
        end();
      });
      questions.set(question, (peer) => {
        awaited.delete(peer);
        if (awaited.size === 0) end();
      });
      send({ asks: question });
    });

  const close = () => {
    isClosed = true;
    channel?.close();
    channel = undefined;
  };

  const start = () => {
    if (!channel) {
      // An exchange that was under way: the others must still hear of its pair.
      if (isClosed) after(lockMs, close);
      channel = attempt(() => new BroadcastChannel(name) as unknown as Channel);
      if (channel) channel.onmessage = ({ data }) => receive(data as Message);
      // Node would not end for it.
      channel?.unref?.();
      load();
      started = channel && ask();
    }
    return started;
  };

  /** What was written before the lock was given may still be on its way. */
  const catchUp = async () => {
    await start();
    if (peers.size > 0) await ask();
    load();
  };

  /** A tab that knows of no pair waits for those that do. */
  const ready = async () => {
    const starting = start();
    if (kept.at === 0) await starting;
    load();
  };

  return {
    async read() {
      await ready();
      return kept.tokens;
    },
    async write(tokens, hasEnded) {
      await ready();
      kept = { at: Math.max(kept.at + 1, systemClock.now()), tokens, hasEnded };
      save();
      send();
    },
    async lock(work) {
      const alone = async () => {
        await catchUp();
        return work();
      };
      const { locks } = ((globalThis as { navigator?: object }).navigator ?? {}) as { locks?: Locks };
      const leaving = new AbortController();
      const cancel = after(lockMs, () => leaving.abort());
      let isGiven = false;
      try {
        if (locks) {
          return await locks.request(name, leaving, () => {
            isGiven = true;
            cancel();
            return alone();
          });
        }
      } catch (error) {
        if (isGiven) throw error;
      } finally {
        cancel();
      }
      return alone();
    },
    onChange(listener) {
      void start();
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close,
  };
}

function isKept(given: unknown): given is Kept {
  const { at, tokens } = (given ?? {}) as Partial<Kept>;
  if (!Number.isSafeInteger(at) || tokens === undefined) return Number.isSafeInteger(at);
  const { authToken, refreshToken, expiresAt, lifetimeSeconds } = (tokens ?? {}) as Partial<Tokens>;
  const isPair = typeof authToken === 'string' && typeof refreshToken === 'string';
  return isPair && typeof expiresAt === 'number' && typeof lifetimeSeconds === 'number';
}

/** Browsers throw where something is forbidden: cookies that are blocked, a frame that is sandboxed, a full storage. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
