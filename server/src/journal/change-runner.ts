/**
 * Runs the changes that viewers request, and shares the capacity fairly between users. Each change runs in one transaction under the lock of the journal, with
 * the viewer's rights at that moment. An idempotency key prevents a second run.
 */

import type { Clock } from '../clock.ts';
import { FairQueue } from '../concurrency/fair-queue.ts';
import { together, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { ChangeOptions, Database, Snapshot, Transaction } from '../database/database.ts';
import { clientGone, Refusal } from '../refusal.ts';
import { findStoredResult, storeResult, toResult, type ChangeIdentity } from './idempotency.ts';
import type { JournalPosition } from './journal-entry.ts';
import {
  lockForChange,
  readHead,
  readLockedHead,
  type ChangeOrigin,
  type JournalHead,
  type RightsHolder,
} from './journal.ts';

/** The viewer who requests a change. */
export interface Caller extends RightsHolder {
  /** Undefined if the request has an API key. */
  readonly sessionId: string | undefined;
  /** Aborted when no client waits for the response. A waiting change then does not begin. */
  readonly signal?: AbortSignal | undefined;
  /** Set only if the request has an idempotency key. */
  readonly identity?: ChangeIdentity | undefined;
}

/** A committed change. */
export interface Changed<T> {
  readonly result: T;
  /** The journal's last entry when the change was made. */
  readonly position: JournalPosition;
  /** The journal's access number at that time. Missing if an earlier request with the same idempotency key made the change. */
  readonly accessNumber?: number;
}

/** How the result of a change is stored under an idempotency key, and read again. */
export interface ResultCodec<T, Stored> {
  /** Returns only ids and numbers, never a text of a folder or a secret. */
  readonly toStored: (result: T) => Stored;
  readonly fromStored: (stored: Stored) => T;
}

export const voidCodec: ResultCodec<void, null> = { toStored: () => null, fromStored: () => undefined };
/** Only the id of the changed object is stored. */
export const idCodec: ResultCodec<{ readonly id: string }, string> = {
  toStored: ({ id }) => id,
  fromStored: (id) => ({ id }),
};
export const numberCodec: ResultCodec<number, number> = {
  toStored: (number) => number,
  fromStored: (number) => number,
};

interface Change<Rights, T, Stored, Read = undefined> extends ChangeOptions {
  /** Undefined if a repeated request may make the change again, for example a dry run. */
  readonly codec: ResultCodec<T, Stored> | undefined;
  /** Throws refusals that do not depend on data. Called before the change waits for the lock, and again under the lock. */
  readonly check?: (rights: Rights) => void;
  /** Reads data for `work` in advance: a remote database receives this read together with the statements before the work. */
  readonly prefetch?: ((transaction: Transaction) => PromiseOrValue<Read>) | undefined;
  readonly work: (
    transaction: Transaction,
    rights: Rights,
    by: ViewerChangeOrigin,
    prefetched: Read | undefined,
  ) => PromiseOrValue<T>;
}

interface UnrecordedChange<Rights, Read> {
  /** Checks the change. Returns what the write needs, or undefined if there is nothing to write. */
  readonly read: (snapshot: Snapshot, rights: Rights) => Promise<Read | undefined>;
  readonly write: (transaction: Transaction, read: Read, now: number) => Promise<void>;
}

type ViewerChangeOrigin = ChangeOrigin & { readonly byUserId: string };

/** Reads the rights of a user or of an API key. Refuses a disabled or deleted user, and a revoked key. */
interface RightsReader<Rights> {
  accessOf(holder: RightsHolder): PromiseOrValue<{ readonly access: Rights }>;
  accessFor(snapshot: Snapshot, holder: RightsHolder): PromiseOrValue<{ readonly access: Rights }>;
  accessIn(
    transaction: Transaction,
    holder: RightsHolder,
    head: JournalHead,
  ): PromiseOrValue<{ readonly access: Rights }>;
}

/** How many changes of all users may wait. One user may have half of this number. */
const maxWaiting = 2_000;

export class ChangeRunner<Rights> {
  readonly database: Database;
  readonly clock: Clock;
  readonly #rights: RightsReader<Rights>;
  readonly #queue: FairQueue;

  constructor(database: Database, clock: Clock, rights: RightsReader<Rights>) {
    this.database = database;
    this.clock = clock;
    this.#rights = rights;
    this.#queue = new FairQueue({
      permits: database.maxConcurrentChanges,
      // One user cannot take all permits, so another user can always start a change.
      permitsPerKey: Math.ceil((database.maxConcurrentChanges * 3) / 4),
      maxWaiting,
      maxWaitingPerKey: maxWaiting / 2,
      fullError: () =>
        new Refusal('UNAVAILABLE', 'Too many changes are waiting. Try again in a moment.', {
          retryAfterSeconds: 2,
        }),
    });
  }

  /** Calls `check` with the current rights, to refuse a change early. The change calls it again under the lock. */
  async check(caller: Caller, check: (rights: Rights) => void): Promise<void> {
    check((await this.#rights.accessOf(caller)).access);
  }

  /** Runs short reads in one snapshot, with the caller's rights in that snapshot. */
  read<T>(caller: Caller, work: (snapshot: Snapshot, rights: Rights) => PromiseOrValue<T>): Promise<T> {
    return this.database.shortSnapshot(async (snapshot) =>
      work(snapshot, (await this.#rights.accessFor(snapshot, caller)).access),
    );
  }

  /** Like `read()`, but for long reads. The number of long reads at a time is limited. */
  readLong<T>(caller: Caller, work: (snapshot: Snapshot, rights: Rights) => PromiseOrValue<T>): Promise<T> {
    return this.database.snapshot(async (snapshot) =>
      work(snapshot, (await this.#rights.accessFor(snapshot, caller)).access),
    );
  }

  async run<T, Stored, Read = undefined>(
    caller: Caller,
    change: Change<Rights, T, Stored, Read>,
  ): Promise<Changed<T>> {
    if (change.check) await this.check(caller, change.check);
    return this.#queue.run({ key: caller.userId }, () => {
      requireClient(caller);
      return this.database.change((transaction) => this.#make(transaction, caller, change), change);
    });
  }

  /**
   * Runs a change that only the caller sees and that has the same effect when it is repeated. It has no journal entry, does not
   * wait for the lock of the journal, and ignores the idempotency key. Nothing is written if `read` returns undefined.
   */
  async runUnrecorded<Read>(caller: Caller, change: UnrecordedChange<Rights, Read>): Promise<Changed<void>> {
    const { head, data } = await this.read(caller, async (snapshot, rights) => ({
      head: await readHead(snapshot),
      data: await change.read(snapshot, rights),
    }));
    if (data !== undefined) {
      await this.#queue.run({ key: caller.userId }, () => {
        requireClient(caller);
        return this.database.transaction((transaction) => change.write(transaction, data, this.clock.now()));
      });
    }
    return { result: undefined, position: head };
  }

  async #make<T, Stored, Read>(
    transaction: Transaction,
    caller: Caller,
    { codec, check, prefetch, work }: Change<Rights, T, Stored, Read>,
  ): Promise<Changed<T>> {
    const { userId, apiKeyId } = caller;
    const identity = codec && caller.identity;
    const [head, [stored, prefetched]] = await together(
      () => lockForChange(transaction),
      () =>
        together(
          () => identity && findStoredResult(transaction, identity),
          () => prefetch?.(transaction),
        ),
    );
    // The client may have disconnected while the change waited, and the change has not begun yet.
    requireClient(caller);
    const { access } = await this.#rights.accessIn(transaction, caller, head);
    check?.(access);
    if (identity && stored) return toResult(stored, identity, codec.fromStored);
    const now = this.clock.now();
    const result = await work(
      transaction,
      access,
      { byUserId: userId, byApiKeyId: apiKeyId, now },
      prefetched,
    );
    // No other change runs meanwhile, so the head belongs to this change.
    const { number, nonce, accessNumber } = readLockedHead(transaction);
    const position = { number, nonce };
    if (identity) storeResult(transaction, identity, { result: codec.toStored(result), position, now });
    return { result, position, accessNumber };
  }

  /** For long work that ends with `run()`. The work does not start if an earlier request with the same key has made the change. */
  async runUnlessMade<T, Stored>(
    { identity }: Caller,
    codec: ResultCodec<T, Stored>,
    work: () => Promise<Changed<T>>,
  ): Promise<Changed<T>> {
    if (!identity) return work();
    const find = async (): Promise<Changed<T> | undefined> => {
      const stored = await findStoredResult(this.database, identity);
      return stored && toResult(stored, identity, codec.fromStored);
    };
    const earlierChange = await find();
    if (earlierChange) return earlierChange;
    try {
      return await work();
    } catch (error) {
      // A duplicate of this request may have made the change in the meantime.
      const duplicateChange = error instanceof Refusal ? await find() : undefined;
      if (!duplicateChange) throw error;
      return duplicateChange;
    }
  }
}

function requireClient({ signal }: Caller): void {
  if (signal?.aborted) throw clientGone();
}
