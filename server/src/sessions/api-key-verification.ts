/**
 * Verifies API keys. A verified key is cached like a verified auth token, so that a request with a key reads the database as often as
 * a request with a token. The journal removes revoked keys and the keys of disabled users from the cache, on every node.
 */

import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  readApiKeyByIdentifier,
  storeApiKeyUses,
  type ApiKeyUse,
  type StoredApiKey,
} from '../accounts/api-keys.ts';
import type { Clock } from '../clock.ts';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { createSemaphore } from '../concurrency/semaphore.ts';
import type { Database } from '../database/database.ts';
import { detailsOf, type JournalEntry } from '../journal/journal-entry.ts';
import type { JournalFeed } from '../journal/journal-feed.ts';
import { Refusal } from '../refusal.ts';
import { ApiKeySignIns, type KnownKey } from './api-key-sign-ins.ts';
import { parseApiKeyText } from './api-key-text.ts';
import type { Viewer } from './auth-token.ts';
import { createNetworkCheck } from './client-networks.ts';
import type { RevocationCache } from './revocation.ts';
import type { SignIns } from './sign-ins.ts';
import { clockSkewMs } from './signing-keys.ts';

interface VerificationOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly feed: JournalFeed;
  readonly revoked: RevocationCache;
  readonly signIns: Pick<SignIns, 'record'>;
}

interface VerifiedKey {
  readonly key: KnownKey;
  readonly viewer: Viewer & { readonly apiKeyId: string };
  readonly allows: (address: string | null) => boolean;
}

/** Why a key no longer works. */
export const apiKeyTexts = {
  expired: 'This API key has expired. Create another one.',
  ended: 'This API key was revoked, or its user is disabled or deleted.',
};

const maxCachedKeys = 10_000;
/** Limits the reads for keys that are not cached, so that false keys cannot take all database connections. */
const maxConcurrentReads = 4;
const maxWaitingReads = 500;
/** The last use of a key is stored at most once in this time. */
const storeUseEveryMs = 60_000;
/** Small, so that other writes do not wait long. */
const storeBatchSize = 100;

export class ApiKeyVerification {
  readonly #options: VerificationOptions;
  readonly #verified = new LRUCache<string, VerifiedKey>({ max: maxCachedKeys });
  readonly #signIns: ApiKeySignIns;
  readonly #reads = createSemaphore(maxConcurrentReads);
  /** Requests with the same key share one read. */
  readonly #pendingReads = new Map<string, Promise<StoredApiKey | undefined>>();
  /** The last use of each key that is not stored yet. */
  readonly #uses = new Map<string, ApiKeyUse>();
  /** The keys whose last use was stored recently. Not an LRU cache: a key that it dropped would be stored with each call. */
  readonly #storedAt = new Map<string, number>();
  /** Changes whenever keys were removed from the cache. A key that was read before must then not be cached. */
  #removals = 0;

  constructor(options: VerificationOptions) {
    this.#options = options;
    this.#signIns = new ApiKeySignIns(options.signIns);
    options.feed.onEntry((entry) => this.#receive(entry));
    options.feed.onGap(() => this.#remove(() => true));
  }

  /** `address` is the address of the client. */
  authenticate(text: string, address: string | null): PromiseOrValue<Viewer> {
    const cached = this.#verified.get(text);
    if (cached) return this.#admit(cached, address);
    return whenDone(this.#verify(text, address), (key) => this.#admit(key, address));
  }

  recordUse(id: string, address: string | null): void {
    this.#uses.set(id, { id, at: this.#options.clock.now(), address });
  }

  /** Stores the last use of the keys that were used since the last call. */
  async storeUses({ isLast = false } = {}): Promise<void> {
    const { clock, database } = this.#options;
    const now = clock.now();
    for (const [id, at] of this.#storedAt) {
      // The absolute value, in case the clock was set back.
      if (Math.abs(now - at) >= storeUseEveryMs) this.#storedAt.delete(id);
    }
    const due = [...this.#uses.values()].filter(({ id }) => isLast || !this.#storedAt.has(id));
    // All nodes update the rows in the same order. Otherwise two transactions could deadlock.
    due.sort((one, other) => (one.id < other.id ? -1 : 1));
    for (let start = 0; start < due.length; start += storeBatchSize) {
      const uses = due.slice(start, start + storeBatchSize);
      await storeApiKeyUses(database, uses, now + clockSkewMs);
      for (const use of uses) {
        this.#storedAt.set(use.id, now);
        if (this.#uses.get(use.id) === use) this.#uses.delete(use.id);
      }
    }
  }

  #admit({ key, viewer, allows }: VerifiedKey, address: string | null): Viewer {
    const { clock, revoked } = this.#options;
    const now = clock.now();
    if (viewer.tokenExpiresAt <= now) {
      throw this.#refuse(key, address, apiKeyTexts.expired);
    }
    if (revoked.has(viewer)) {
      throw this.#refuse(key, address, apiKeyTexts.ended);
    }
    if (!allows(address)) {
      throw this.#refuse(key, address, 'This API key may not be used from the network of this client.');
    }
    this.#signIns.recordUse(key, address, now);
    this.recordUse(viewer.apiKeyId, address);
    return viewer;
  }

  /** Records a refused use of a key that exists. */
  #refuse(key: KnownKey, address: string | null, reason: string): Refusal {
    this.#signIns.recordRefusal(key, address, reason);
    return refused(reason);
  }

  #verify(text: string, address: string | null): PromiseOrValue<VerifiedKey> {
    const parsed = parseApiKeyText(text);
    if (!parsed) {
      throw refused(
        'This API key has a wrong form or checksum, for example after a typing error. Copy it again.',
      );
    }
    const removals = this.#removals;
    return whenDone(this.#read(parsed.identifier), (stored) => {
      if (!stored || !timingSafeEqual(stored.secretDigest, parsed.secretDigest)) {
        throw refused('This API key is not valid.');
      }
      if (stored.revokedAt !== null) throw this.#refuse(stored, address, 'This API key was revoked.');
      if (stored.isUserDisabled) throw this.#refuse(stored, address, 'The user of this API key is disabled.');
      const key = toVerifiedKey(stored);
      if (removals === this.#removals) this.#verified.set(text, key);
      return key;
    });
  }

  #read(identifier: string): PromiseOrValue<StoredApiKey | undefined> {
    const { database } = this.#options;
    if (database.isEmbedded) return readApiKeyByIdentifier(database, identifier);
    const pending = this.#pendingReads.get(identifier);
    if (pending) return pending;
    if (this.#reads.waiting >= maxWaitingReads) {
      throw new Refusal('UNAVAILABLE', 'Too many API keys wait for a check. Try again in a moment.', {
        retryAfterSeconds: 1,
      });
    }
    const reading = this.#reads
      .run(async () => readApiKeyByIdentifier(database, identifier))
      .finally(() => {
        if (this.#pendingReads.get(identifier) === reading) this.#pendingReads.delete(identifier);
      });
    this.#pendingReads.set(identifier, reading);
    return reading;
  }

  #receive({ kind, userId, before }: JournalEntry): void {
    if (kind === 'REVOKE_API_KEY') {
      const { apiKeyId } = detailsOf(before);
      this.#remove(({ viewer }) => viewer.apiKeyId === apiKeyId);
    } else if (kind === 'UPDATE_USER' || kind === 'DELETE_USER') {
      this.#remove(({ viewer }) => viewer.userId === userId);
    }
  }

  #remove(isRemoved: (key: VerifiedKey) => boolean): void {
    this.#removals++;
    // A later request must not share a read that began before the change.
    this.#pendingReads.clear();
    for (const [text, key] of this.#verified.entries()) if (isRemoved(key)) this.#verified.delete(text);
  }
}

function toVerifiedKey({ id, userId, name, expiresAt, networks }: StoredApiKey): VerifiedKey {
  return {
    key: { id, userId, name },
    viewer: { userId, sessionId: undefined, apiKeyId: id, tokenExpiresAt: expiresAt ?? Infinity },
    allows: createNetworkCheck(networks),
  };
}

function refused(text: string): Refusal {
  return new Refusal('INVALID_AUTH_TOKEN', text);
}
