/**
 * The work of one answer in pieces, so that no user has to wait long for another: how many rows are examined and values
 * completed between two yields is bounded. An answer that fits into one piece is made without waiting. One that does not
 * is made once more, with a permit of its user, and waits for the user's turn between its pieces.
 */

import type { ExecutionResult, GraphQLResolveInfo } from 'graphql';
import { isPromise, maxRowsPerStatement, type PromiseOrValue, type Snapshot } from '../database/database.ts';
import type { Budget } from './price/budget.ts';

/** Divides the work of one operation into pieces. */
export interface Pace {
  /**
   * Called before a step that examines so many rows, or completes so many values. Undefined if the step belongs to the
   * current piece; otherwise resolves at the user's next turn, and the step is the first of the next piece.
   */
  before(rows: number): Promise<void> | undefined;
  /** Called after a step that took more than was known before. */
  add(rows: number): void;
  /** Called before a wait for something else than a turn, for example for the answer of a database: it is not charged. */
  pause(): void;
  /** Called after such a wait. */
  restart(): void;
  /** How many pieces have ended. */
  readonly yields: number;
  /** The reads that wait for a turn or for the database. */
  readonly pendingReads: Set<Promise<unknown>>;
}

/** How many rows one piece may examine, and values it may complete. Each takes about a microsecond. */
export const maxRowsPerPiece = maxRowsPerStatement;
export const maxPieceMs = 5;
/** Thrown where an answer turns out to take more than one piece. Its output is discarded. */
class MoreThanOnePiece extends Error {}

/** graphql-js reports what a field throws as an error of that field. */
export function rethrowMoreThanOnePiece({ errors = [] }: ExecutionResult): void {
  const found = errors.find(({ originalError }) => originalError instanceof MoreThanOnePiece);
  if (found) throw found.originalError!;
}

/**
 * For an answer that must not wait: it holds a connection that is not counted. Only rows count, not time: on a busy
 * machine a short answer takes long, and to make it again would take longer.
 */
export class OnePiece implements Pace {
  readonly #turn: Pick<Pace, 'pause' | 'restart'>;
  readonly yields = 0;
  readonly pendingReads = new Set<Promise<unknown>>();
  #rows = 0;
  /** Nothing more is read then. */
  isExceeded = false;

  /** What the database takes is not charged to the turn that it is made in. */
  constructor(turn: Pick<Pace, 'pause' | 'restart'>) {
    this.#turn = turn;
  }

  before(rows: number): undefined {
    this.isExceeded ||= this.#rows + rows > maxRowsPerPiece;
    if (this.isExceeded) throw new MoreThanOnePiece();
    this.#rows += rows;
  }

  add(rows: number): void {
    this.#rows += rows;
  }

  pause(): void {
    this.#turn.pause();
  }

  restart(): void {
    this.#turn.restart();
  }
}

/** Reads at a pace: before each statement it may be another user's turn. */
export function pacedSnapshot(snapshot: Snapshot, pace: Pace): Snapshot {
  const atPace = <T>(
    rows: number,
    read: () => PromiseOrValue<T>,
    count: (found: T) => number,
  ): PromiseOrValue<T> => {
    const turn = pace.before(rows);
    if (!turn) return run();
    const pending = turn.then(run).finally(() => void pace.pendingReads.delete(pending));
    pace.pendingReads.add(pending);
    return pending;

    function run(): PromiseOrValue<T> {
      const found = read();
      if (!isPromise(found)) return counted(found);
      pace.pause();
      return found.then((later) => {
        pace.restart();
        return counted(later);
      });
    }

    function counted(found: T): T {
      const more = count(found) - rows;
      if (more > 0) pace.add(more);
      return found;
    }
  };
  return {
    isConsistent: true,
    isEmbedded: snapshot.isEmbedded,
    all: (statement, parameters, rows = 1) =>
      atPace(
        rows,
        () => snapshot.all(statement, parameters),
        ({ length }) => length,
      ),
    get: (statement, parameters, rows = 1) =>
      atPace(
        rows,
        () => snapshot.get(statement, parameters),
        () => 1,
      ),
    end: () => snapshot.end(),
  };
}

/** A list for graphql-js, which completes all elements that are there in one go: those of a long list come later. */
export function inPortions<T>(
  list: readonly T[],
  { pace, budget }: { readonly pace: Pace; readonly budget: Budget },
  info: GraphQLResolveInfo,
): readonly PromiseOrValue<T>[] {
  if (list.length === 0) return list;
  const values = budget.valuesOfElement(info);
  const size = Math.max(1, Math.floor(maxRowsPerPiece / values));
  const portions: PromiseOrValue<T>[] = [];
  let previous: Promise<void> | undefined;
  for (let start = 0; start < list.length; start += size) {
    const end = Math.min(start + size, list.length);
    const count = (end - start) * values;
    const turn = previous ? previous.then(() => afterReads(pace, count)) : pace.before(count);
    previous = turn;
    for (let place = start; place < end; place++) {
      const element = list[place]!;
      portions.push(turn ? turn.then(() => element) : element);
    }
  }
  return portions;
}

/** What elements have in common is read once: those that wait for it would all be completed in the same piece. */
async function afterReads(pace: Pace, count: number): Promise<void> {
  while (pace.pendingReads.size > 0) await Promise.allSettled(pace.pendingReads);
  await pace.before(count);
}

/** The text of a large value, written in pieces. */
export async function writeJson(value: unknown, pace: Pace): Promise<string> {
  const values = countValues(value, maxRowsPerPiece + 1);
  if (values <= maxRowsPerPiece) {
    await pace.before(values);
    return JSON.stringify(value);
  }
  const inner: string[] = [];
  if (Array.isArray(value)) {
    for (const element of value) inner.push(await writeJson(element, pace));
    return `[${inner.join()}]`;
  }
  for (const [name, each] of Object.entries(value as object)) {
    inner.push(`${JSON.stringify(name)}:${await writeJson(each, pace)}`);
  }
  return `{${inner.join()}}`;
}

/** How many characters are encoded in the time of one row. */
const charactersPerRow = 2_000;
const charactersPerStep = 2 ** 17;

/** The text in UTF-8, encoded in pieces. */
export async function encode(text: string, pace: Pace): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + charactersPerStep, text.length);
    if (isHighSurrogate(text.charCodeAt(end - 1))) end = Math.min(end + 1, text.length);
    await pace.before(Math.ceil((end - start) / charactersPerRow));
    chunks.push(Buffer.from(text.slice(start, end)));
    start = end;
  }
  return Buffer.concat(chunks);
}

/** The first half of a character that takes two code units. */
function isHighSurrogate(codeUnit: number): boolean {
  return codeUnit >= 0xd800 && codeUnit <= 0xdbff;
}

/** Stops counting at `enough`. */
function countValues(value: unknown, enough: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const name in value) {
    count += countValues((value as Record<string, unknown>)[name], enough - count);
    if (count >= enough) break;
  }
  return count;
}
