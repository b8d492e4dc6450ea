/** How every mutation changes something, in one transaction and in its turn, and how what takes long is read. */

import type { Standing } from '../access/access-book.ts';
import type { Access } from '../access/access.ts';
import type { Transaction } from '../database/database.ts';
import { viewTree, type TreeView } from '../folders/folders.ts';
import { changeInTurn, readHead, type ChangedBy } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import type { GraphContext } from './builder.ts';

/** Others hear of a change within that time. */
const mostWaitMs = 1_000;

export async function change<T>(
  context: GraphContext,
  work: (transaction: Transaction, access: Access) => Promise<T>,
): Promise<T> {
  const { database, accessBook, viewer } = context;
  startReadingAnew(context);
  const result = await changeInTurn(database, async (transaction) => {
    const { access } = await accessBook.accessIn(transaction, viewer.userId);
    const done = await work(transaction, access);
    // Nobody else gets in between: the last entry is this change's own.
    return { done, changedAt: await readHead(transaction) };
  });
  context.isChanged = true;
  const isKnownHere = context.feed.waitFor(result.changedAt.number - 1, AbortSignal.timeout(mostWaitMs));
  // What the answer shows is what the viewer may see from now on.
  const { access } = await accessAfter(context);
  renew(context, { access, place: result.changedAt });
  // Whoever was told that a session has ended does not find it alive.
  await isKnownHere;
  return result.done;
}

async function accessAfter({ accessBook, reader, viewer }: GraphContext): Promise<Standing> {
  try {
    return await accessBook.accessFor(reader, viewer.userId);
  } catch (cause) {
    if (!(cause instanceof Refusal && cause.code === 'UNAVAILABLE')) throw cause;
    throw new Refusal('UNAVAILABLE', 'The change has been made, but cannot be shown right now.', { cause });
  }
}

/** Who changes something, and when, for the journal. */
export function changeBy({ viewer, clock }: GraphContext): ChangedBy {
  return { byUserId: viewer.userId, now: clock.now() };
}

/** Reads what may take long; beside a change, or in what is told of one, at a moment of its own. */
export function readLong<T>(context: GraphContext, work: (view: TreeView) => Promise<T>): Promise<T> {
  if (context.isLong) return work(context.view);
  return context.longReads.run(context.viewer.userId, (reader, { access }) => work(viewTree(reader, access)));
}

/** What is read from now on is of a later moment; until then, nothing is kept from others. */
export function startReadingAnew(context: GraphContext): void {
  context.reader.end();
  context.reader = context.database.reading();
}

function renew(context: GraphContext, { access, place }: Standing): void {
  context.access = access;
  context.view = viewTree(context.reader, access);
  context.place = place;
}

/** For administrators: asked at once, so that nobody else gets in line, and again when it is one's turn. */
export async function changeAsAdministrator<T>(
  context: GraphContext,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  requireAdministrator(context.access);
  return change(context, (transaction, access) => {
    requireAdministrator(access);
    return work(transaction);
  });
}

export function requireAdministrator(access: Access): void {
  if (!access.isAdministrator) throw new Refusal('FORBIDDEN', 'Only administrators may do this.');
}
