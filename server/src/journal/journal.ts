/**
 * The line in which every change of the tree, of rights and of accounts stands. A change first takes its turn, and
 * only then looks at what it is about to change: so two of them never decide on the same old state.
 */

import { whenDone, type PromiseOrValue, type Reader, type Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';

const standInLine = sql<object>`update journal_counter set number = number`;
const advanceAccess = sql<object>`update journal_counter set access_number = access_number + 1`;
const selectAccessNumber = sql<
  object,
  { number: number }
>`select access_number as number from journal_counter`;

/** The first statement of every change: it waits until those before it are committed. */
export function takeTurn(transaction: Transaction): PromiseOrValue<unknown> {
  return transaction.run(standInLine, {});
}

/**
 * Part of every change of who may see or do what: of grants, groups and accounts, and of folders that change their
 * place. What is known of somebody's rights is read anew after it.
 */
export function noteAccessChange(transaction: Transaction): PromiseOrValue<unknown> {
  return transaction.run(advanceAccess, {});
}

/** Differs after every change of who may see or do what. */
export function readAccessNumber(reader: Reader): PromiseOrValue<number> {
  return whenDone(reader.get(selectAccessNumber, {}), (row) => row!.number);
}
