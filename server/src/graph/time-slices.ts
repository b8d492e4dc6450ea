/**
 * Divides the computation of a response into time slices, so that no user waits long for another. A response that fits into one
 * slice is computed without waiting. A longer response is computed again as a long read, which yields between its slices.
 */

import type { ExecutionResult, GraphQLResolveInfo } from 'graphql';
import { isPromise, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { maxRowsPerSlice, type Task } from '../concurrency/fair-scheduler.ts';
import type { Snapshot } from '../database/database.ts';
import type { Budget } from './cost/budget.ts';

/** Thrown when a response takes more than one slice. Its output is discarded. */
class SliceExceededError extends Error {}

/** graphql-js turns an exception of a resolver into an error of its field. */
export function rethrowSliceExceeded({ errors = [] }: ExecutionResult): void {
  const found = errors.find(({ originalError }) => originalError instanceof SliceExceededError);
  if (found) throw found.originalError!;
}

/**
 * For a response that must not wait for a slice, because it holds a database connection without the permit of
 * `ViewerReads.openLong`. Only rows count, not time: on a busy machine even a short response takes long, and computing it again
 * would take longer.
 */
export class SingleSlice implements Task {
  readonly #task: Pick<Task, 'pause' | 'resume'>;
  readonly yields = 0;
  readonly pendingReads = new Set<Promise<unknown>>();
  #rows = 0;
  /** If true, further reads fail. */
  isExceeded = false;

  /** `task` computes the response, and is not charged for the time of the database. */
  constructor(task: Pick<Task, 'pause' | 'resume'>) {
    this.#task = task;
  }

  yieldBefore(rows: number): undefined {
    this.isExceeded ||= this.#rows + rows > maxRowsPerSlice;
    if (this.isExceeded) throw new SliceExceededError();
    this.#rows += rows;
  }

  addRows(rows: number): void {
    this.#rows += rows;
  }

  pause(): void {
    this.#task.pause();
  }

  resume(): void {
    this.#task.resume();
  }
}

/** Reads from a snapshot for a task, which can yield before each statement. */
export function yieldingSnapshot(snapshot: Snapshot, task: Task): Snapshot {
  const read = <T>(rows: number, start: () => PromiseOrValue<T>): PromiseOrValue<T> => {
    const counted = (found: T): T => {
      const more = (Array.isArray(found) ? found.length : 1) - rows;
      if (more > 0) task.addRows(more);
      return found;
    };
    const run = (): PromiseOrValue<T> => {
      const found = start();
      if (!isPromise(found)) return counted(found);
      task.pause();
      return found.then((later) => {
        task.resume();
        return counted(later);
      });
    };
    const nextSlice = task.yieldBefore(rows);
    if (!nextSlice) return run();
    const pending = nextSlice.then(run).finally(() => void task.pendingReads.delete(pending));
    task.pendingReads.add(pending);
    return pending;
  };
  return {
    isConsistent: true,
    isEmbedded: snapshot.isEmbedded,
    all: (statement, parameters, rows = 1) => read(rows, () => snapshot.all(statement, parameters)),
    get: (statement, parameters, rows = 1) => read(rows, () => snapshot.get(statement, parameters)),
    end: () => snapshot.end(),
  };
}

/** A list for graphql-js, which completes all elements that are not promises in one slice. Elements of later slices are promises. */
export function completeInSlices<T>(
  list: readonly T[],
  { task, budget }: { readonly task: Task; readonly budget: Budget },
  info: GraphQLResolveInfo,
): readonly PromiseOrValue<T>[] {
  if (list.length === 0) return list;
  const valuesPerElement = budget.valuesOfElement(info);
  const size = Math.max(1, Math.floor(maxRowsPerSlice / valuesPerElement));
  const elements: PromiseOrValue<T>[] = [];
  let previous: Promise<void> | undefined;
  for (let start = 0; start < list.length; start += size) {
    const end = Math.min(start + size, list.length);
    const count = (end - start) * valuesPerElement;
    const nextSlice = previous ? previous.then(() => afterReads(task, count)) : task.yieldBefore(count);
    previous = nextSlice;
    for (let index = start; index < end; index++) {
      const element = list[index]!;
      elements.push(nextSlice ? nextSlice.then(() => element) : element);
    }
  }
  return elements;
}

/**
 * Waits for pending reads first. Elements of several slices can share one read, and its end would complete all of them in one
 * slice.
 */
async function afterReads(task: Task, count: number): Promise<void> {
  while (task.pendingReads.size > 0) await Promise.allSettled(task.pendingReads);
  await task.yieldBefore(count);
}

/** Writes the JSON text of a large value in several slices. */
export async function writeJson(value: unknown, task: Task): Promise<string> {
  const valueCount = countValues(value, maxRowsPerSlice + 1);
  if (valueCount <= maxRowsPerSlice) {
    await task.yieldBefore(valueCount);
    return JSON.stringify(value);
  }
  const inner: string[] = [];
  if (Array.isArray(value)) {
    for (const element of value) inner.push(await writeJson(element, task));
    return `[${inner.join()}]`;
  }
  for (const [name, each] of Object.entries(value as object)) {
    inner.push(`${JSON.stringify(name)}:${await writeJson(each, task)}`);
  }
  return `{${inner.join()}}`;
}

/** Encoding this many characters takes about as long as examining a row. */
const charactersPerRow = 2_000;
const charactersPerStep = 2 ** 17;

/** Encodes a text in UTF-8 in several slices. */
export async function encode(text: string, task: Task): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + charactersPerStep, text.length);
    if (isHighSurrogate(text.charCodeAt(end - 1))) end = Math.min(end + 1, text.length);
    await task.yieldBefore(Math.ceil((end - start) / charactersPerRow));
    chunks.push(Buffer.from(text.slice(start, end)));
    start = end;
  }
  return Buffer.concat(chunks);
}

/** The first half of a surrogate pair. */
function isHighSurrogate(codeUnit: number): boolean {
  return codeUnit >= 0xd800 && codeUnit <= 0xdbff;
}

/** Stops counting at `limit`. */
function countValues(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const name in value) {
    count += countValues((value as Record<string, unknown>)[name], limit - count);
    if (count >= limit) break;
  }
  return count;
}
