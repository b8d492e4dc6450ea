/**
 * A request under a key of its client's (`Idempotency-Key`): each of its mutations is done once, however often the
 * request is sent. Of two at the same time, too: each looks when it is its turn to change something.
 */

import type { GraphQLResolveInfo } from 'graphql';
import type { Reader, Transaction } from '../database/database.ts';
import {
  findDone,
  identify,
  recordDone,
  type ChangeIdentity,
  type DoneChange,
} from '../journal/done-changes.ts';
import { Refusal } from '../refusal.ts';

export class Once {
  readonly #key: string;
  readonly #userId: string;
  #identity: ChangeIdentity | undefined;

  constructor(key: string, userId: string) {
    this.#key = key;
    this.#userId = userId;
  }

  /** Before each mutation: they run one after the other. */
  begin({ path, fieldName }: GraphQLResolveInfo, input: unknown): void {
    this.#identity = identify(this.#userId, this.#key, { path: String(path.key), name: fieldName, input });
  }

  /** The mutation that has begun, if it was done before. */
  async find(reader: Reader): Promise<DoneChange | undefined> {
    const found = await findDone(reader, this.#identity!);
    if (found?.isOther) {
      throw new Refusal(
        'BAD_INPUT',
        'This Idempotency-Key was used for another change. Send each change under a key of its own.',
      );
    }
    return found;
  }

  async record(transaction: Transaction, done: DoneChange & { readonly now: number }): Promise<void> {
    await recordDone(transaction, this.#identity!, done);
  }
}
