/** How every mutation changes something: in one transaction, in its turn. Its answer is read from a later snapshot. */

import type { Access } from '../access/access.ts';
import type { ChangeOptions, PromiseOrValue, Snapshot, Transaction } from '../database/database.ts';
import { viewTree } from '../folders/folders.ts';
import type { DoneChange } from '../journal/done-changes.ts';
import type { JournalPlace } from '../journal/journal-entry.ts';
import { changeInTurn, readHead, type ChangedBy, type JournalHead } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import type { GraphContext } from './builder.ts';
import { abandoned } from './graph-results.ts';
import type { ViewerSnapshot } from './long-reads.ts';
import { pacedSnapshot } from './pace.ts';

/** What is remembered of a change whose request has a key, and how it is told again when that comes again. */
export interface Memory<T, Kept> {
  /** Ids and numbers; never a text of a folder, nor a secret. */
  readonly keep: (done: T) => Kept;
  readonly recall: (kept: Kept, context: GraphContext) => PromiseOrValue<T>;
  /** Reads the result again if the snapshot of the answer holds a later change: all of its fields are of one moment. */
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
  const result = await inUsersTurn(context, (requireClient) =>
    changeInTurn(
      database,
      async (transaction, head) => {
        requireClient();
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
    ),
  );
  // With a key it may be tried again.
  if (!context.once) context.isChanged = true;
  const head = await goOnFrom(context, result.place);
  if (result.known) return recall(context, memory!, result.known);
  const { done, place } = result;
  return memory?.renew && place.number !== head.number ? memory.renew(done, context) : done;
}

/** Queues the change fairly by user, so that one user's changes do not delay those of others. */
function inUsersTurn<T>(
  { changes, viewer, signal }: GraphContext,
  work: (requireClient: () => void) => Promise<T>,
): Promise<T> {
  // Nothing was done yet: the client may have gone while others had their turn.
  const requireClient = () => {
    if (signal?.aborted) throw abandoned();
  };
  return changes.run({ key: viewer.userId }, () => {
    requireClient();
    return work(requireClient);
  });
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

/** Opens the snapshot that the answer is read from, with the rights of that moment. Answers with its journal head. */
async function goOnFrom(context: GraphContext, place: JournalPlace): Promise<JournalHead> {
  // A client that is told of an ended session must not find it alive. No snapshot is open while this waits.
  const { feed } = context;
  if (feed.last < place.number) await feed.waitFor(place.number - 1, AbortSignal.timeout(mostWaitMs));
  const { reader: snapshot, access, place: head } = await snapshotAfter(context, place);
  const reader = pacedSnapshot(snapshot, context.pace);
  context.reader = reader;
  context.access = access;
  context.view = viewTree(reader, access);
  context.place = place;
  return head;
}

async function snapshotAfter(context: GraphContext, { number }: JournalPlace): Promise<ViewerSnapshot> {
  const { database, accessBook, viewer, isLong, longReads, signal } = context;
  try {
    const opened = isLong ? await longReads.open(viewer.userId, { signal }) : undefined;
    // From now on it is ended with the answer.
    context.reader = opened?.reader ?? database.openSnapshot();
    context.pace = opened?.pace ?? context.pace;
    const latest = opened ?? (await accessBook.accessFor(context.reader, viewer.userId));
    // The connection leads to a copy that does not have the change yet.
    if (latest.place.number < number) throw database.reportOutdated();
    return { ...latest, reader: context.reader };
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

/** Ends the snapshot of what came before: a change must not wait for its turn with a connection in its hands. */
export function startReadingAnew(context: GraphContext): void {
  context.pace.pause();
  context.reader.end();
  context.reader = endedSnapshot;
}

/** Resolvers of earlier fields that still run must not read from the snapshot of the next field. */
const endedSnapshot: Snapshot = {
  isConsistent: true,
  isEmbedded: true,
  all: () => ended(),
  get: () => ended(),
  end: () => undefined,
};

function ended(): never {
  throw new Error('This snapshot has ended.');
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
