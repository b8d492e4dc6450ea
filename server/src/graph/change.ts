/** How every mutation changes something, in one transaction and in its turn, and how what takes long is read. */

import type { Latest, Standing } from '../access/access-book.ts';
import type { Access } from '../access/access.ts';
import type { ChangeOptions, PromiseOrValue, Transaction } from '../database/database.ts';
import { viewTree, type TreeView } from '../folders/folders.ts';
import type { DoneChange } from '../journal/done-changes.ts';
import type { JournalPlace } from '../journal/journal-entry.ts';
import { changeInTurn, readHead, type ChangedBy, type JournalHead } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import type { GraphContext } from './builder.ts';

/** What is remembered of a change whose request has a key, and how it is told again when that comes again. */
export interface Memory<T, Kept> {
  /** Ids and numbers; never a text of a folder, nor a secret. */
  readonly keep: (done: T) => Kept;
  readonly recall: (kept: Kept, context: GraphContext) => PromiseOrValue<T>;
  /** When somebody has changed since where folders are, or who may see them; without it, it is told as it was done. */
  readonly renew?: (done: T, context: GraphContext) => PromiseOrValue<T>;
}

export const noResult: Memory<void, null> = { keep: () => null, recall: () => undefined };
export const aNumber: Memory<number, number> = { keep: (number) => number, recall: (number) => number };

export type ChangeWork<T> = (transaction: Transaction, access: Access) => Promise<T>;

/** Others hear of a change within that time. */
const mostWaitMs = 1_000;

export interface ChangeSettings extends ChangeOptions {
  /** Is asked whether it was done before or not. */
  readonly judge?: (access: Access) => void;
}

/** Without a memory it is what may be done any number of times. */
export async function change<T, Kept>(
  context: GraphContext,
  memory: Memory<T, Kept> | undefined,
  work: ChangeWork<T>,
  { judge, ...options }: ChangeSettings = {},
): Promise<T> {
  const { database, accessBook, viewer, clock } = context;
  const once = memory && context.once;
  startReadingAnew(context);
  const result = await changeInTurn(
    database,
    async (transaction, head) => {
      const { access } = await accessBook.accessIn(transaction, viewer.userId, head);
      judge?.(access);
      const known = await once?.find(transaction);
      if (known) return { known, place: known.place };
      const done = await work(transaction, access);
      // Nobody else gets in between: the last entry is this change's own.
      const place = await readHead(transaction);
      await once?.record(transaction, { result: memory!.keep(done), place, now: clock.now() });
      return { done, place };
    },
    options,
  );
  // With a key it may be tried again.
  if (!context.once) context.isChanged = true;
  const { accessNumber } = await goOnFrom(context, result.place);
  if (result.known) return recall(context, memory!, result.known);
  const { done, place } = result;
  return memory?.renew && place.accessNumber !== accessNumber ? memory.renew(done, context) : done;
}

/** For what takes long before its turn: it is not begun if it was done before. The work ends with a `change`. */
export async function unlessDone<T, Kept>(
  context: GraphContext,
  memory: Memory<T, Kept>,
  work: () => Promise<T>,
): Promise<T> {
  const { once, database } = context;
  if (!once) return work();
  startReadingAnew(context);
  const known = await once.find(database);
  if (!known) {
    try {
      return await work();
    } catch (error) {
      // What was judged before its turn: the same request, sent twice at once, may have been faster.
      const since = error instanceof Refusal ? await once.find(database) : undefined;
      if (!since) throw error;
      return tellAgain(context, memory, since);
    }
  }
  return tellAgain(context, memory, known);
}

async function tellAgain<T, Kept>(
  context: GraphContext,
  memory: Memory<T, Kept>,
  known: DoneChange,
): Promise<T> {
  startReadingAnew(context);
  await goOnFrom(context, known.place);
  return recall(context, memory, known);
}

function recall<T, Kept>(
  context: GraphContext,
  memory: Memory<T, Kept>,
  { result }: DoneChange,
): PromiseOrValue<T> {
  return memory.recall(result as Kept, context);
}

/** What the answer shows is what the viewer may see from now on. Answers with how far that is. */
async function goOnFrom(context: GraphContext, place: JournalPlace): Promise<JournalHead> {
  const { access, place: head } = await accessAfter(context);
  renew(context, { access, place });
  // Whoever was told that a session has ended does not find it alive.
  const { feed } = context;
  if (feed.last < place.number) await feed.waitFor(place.number - 1, AbortSignal.timeout(mostWaitMs));
  return head;
}

async function accessAfter({ accessBook, reader, viewer }: GraphContext): Promise<Latest> {
  try {
    return await accessBook.accessFor(reader, viewer.userId);
  } catch (cause) {
    if (!(cause instanceof Refusal && cause.code === 'UNAVAILABLE')) throw cause;
    const { retryAfterSeconds } = cause.details;
    throw new Refusal('UNAVAILABLE', 'The change has been made, but cannot be shown right now.', {
      cause,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
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
export async function changeAsAdministrator<T, Kept>(
  context: GraphContext,
  memory: Memory<T, Kept>,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  requireAdministrator(context.access);
  return change(context, memory, work, { judge: requireAdministrator });
}

export function requireAdministrator(access: Access): void {
  if (!access.isAdministrator) throw new Refusal('FORBIDDEN', 'Only administrators may do this.');
}
