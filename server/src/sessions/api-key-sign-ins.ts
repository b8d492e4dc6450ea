/**
 * Records API keys in the history of sign-ins: the first use of a key from an address range in 24 hours, and refused uses of keys that exist.
 * Each node records its own requests, so a use can be recorded once for each node.
 */

import { LRUCache } from 'lru-cache';
import { addressRange } from './login-throttle.ts';
import type { SignIns } from './sign-ins.ts';

/** A key whose secret was correct. */
export interface KnownKey {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
}

interface LastRecord {
  readonly address: string | null;
  readonly at: number;
}

/** Bounds the memory. A use that was dropped is recorded again. */
const maxRemembered = 10_000;
const recordEveryMs = 24 * 60 * 60_000;

export class ApiKeySignIns {
  readonly #signIns: Pick<SignIns, 'record'>;
  /** The times of the recorded uses by key and address range. */
  readonly #recordedAt = new LRUCache<string, number>({ max: maxRemembered });
  /** Makes the usual request, from the same address as the last one, cheap. */
  readonly #last = new LRUCache<string, LastRecord>({ max: maxRemembered });

  constructor(signIns: Pick<SignIns, 'record'>) {
    this.#signIns = signIns;
  }

  recordUse(key: KnownKey, address: string | null, now: number): void {
    const last = this.#last.get(key.id);
    if (last?.address === address && isRecent(last.at, now)) return;
    const useId = `${key.id} ${addressRange(address)}`;
    const recordedAt = this.#recordedAt.get(useId);
    if (recordedAt !== undefined && isRecent(recordedAt, now)) {
      this.#last.set(key.id, { address, at: recordedAt });
      return;
    }
    this.#recordedAt.set(useId, now);
    this.#last.set(key.id, { address, at: now });
    this.#record(key, address, 'SUCCESS', describe(key));
  }

  recordRefusal(key: KnownKey, address: string | null, reason: string): void {
    this.#record(key, address, 'REFUSED', `${describe(key)}: ${reason}`);
  }

  #record({ userId }: KnownKey, address: string | null, result: 'SUCCESS' | 'REFUSED', detail: string): void {
    this.#signIns.record({ userId, username: null, method: 'API_KEY', result, address, agent: null, detail });
  }
}

/** The clock of a node may be set back. */
function isRecent(at: number, now: number): boolean {
  return Math.abs(now - at) < recordEveryMs;
}

function describe({ name }: KnownKey): string {
  return `API key "${name}"`;
}
