/** How every mutation changes something: in one transaction, in its turn, judged by the rights of that moment. */

import type { Access } from '../access/access.ts';
import type { Transaction } from '../database/database.ts';
import { takeTurn } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import type { GraphContext } from './builder.ts';

export async function change<T>(
  context: GraphContext,
  work: (transaction: Transaction, access: Access) => Promise<T>,
): Promise<T> {
  const { database, accessBook, viewer } = context;
  const result = await database.transaction(async (transaction) => {
    await takeTurn(transaction);
    return work(transaction, await accessBook.accessOf(viewer.userId, transaction));
  });
  // What the answer shows is what the viewer may see from now on.
  context.access = await context.accessBook.accessOf(viewer.userId);
  return result;
}

export function requireAdministrator(access: Access): void {
  if (!access.isAdministrator) throw new Refusal('FORBIDDEN', 'Only administrators may do this.');
}
