/** What a database cannot do, told as the operator's matter: which database it is, and why. */

import type { Database, Transaction } from '../../database/database.ts';
import { stepsTaken } from '../../database/migrations.ts';
import { StartError } from '../../config/start-error.ts';

export async function explained<T>(database: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw database.explain(error);
  }
}

/** How many steps of the migrations; says which of the two it is about if it refuses. */
export async function stepsOf(side: 'source' | 'destination', transaction: Transaction): Promise<number> {
  try {
    return await stepsTaken(transaction);
  } catch (cause) {
    if (!(cause instanceof StartError)) throw cause;
    throw new StartError(`The ${side} cannot be used. ${cause.message}`, { cause });
  }
}
