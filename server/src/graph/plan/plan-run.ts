/** One execution of a query plan: the state that its fields share, and the errors of its nullable fields. */

import { GraphQLError, type GraphQLResolveInfo } from 'graphql';
import { inOrder, isPromise, whenSettled, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import { Refusal } from '../../refusal.ts';
import type { GraphContext } from '../schema/builder.ts';
import type { SelectedField, Variables } from './selections.ts';

/** Runs the read of a field inside the span of that field. */
export type TraceField = <T>(info: GraphQLResolveInfo, read: () => T) => T;

export class PlanRun {
  readonly context: GraphContext;
  readonly variables: Variables;
  readonly instants = new InstantWriter();
  readonly errors: GraphQLError[] = [];
  /** For each level of lists, the index of the first element of each list among all elements of the level. */
  readonly #levels: (readonly number[])[] = [];
  readonly #trace: TraceField | undefined;

  constructor(context: GraphContext, variables: Variables, trace?: TraceField) {
    this.context = context;
    this.variables = variables;
    this.#trace = trace;
  }

  /** Charges a text to the budget of the response. */
  spendText(text: string, { info }: SelectedField, index: number): void {
    try {
      this.context.budget.spendText(text, info);
    } catch (error) {
      throw this.located(error, info, index);
    }
  }

  /** Charges this number of folders to the budget of the response. */
  spendFolders(count: number, { info }: SelectedField, index: number): void {
    try {
      this.context.budget.spendFolders(count, info);
    } catch (error) {
      throw this.located(error, info, index);
    }
  }

  /** Writes a nullable field: an error in it is reported, and the field is null. */
  nullable(write: () => string): string {
    try {
      return write();
    } catch (error) {
      this.report(error);
      return 'null';
    }
  }

  /** Reports a refusal, after which the field is null. Throws any other error. */
  report(error: unknown): void {
    if (!(error instanceof GraphQLError && error.originalError instanceof Refusal)) throw error;
    this.errors.push(error);
  }

  /** Calls the resolver of a field. */
  resolve<T>({ definition, info }: SelectedField, input: Variables, source?: unknown): PromiseOrValue<T> {
    return definition!.resolve!(source, input, this.context, info) as PromiseOrValue<T>;
  }

  /** Runs work on the elements of several lists, so that the path of an error contains the right indices. */
  inLists<T>(starts: readonly number[], work: () => PromiseOrValue<T>): PromiseOrValue<T> {
    this.#levels.push(starts);
    return whenSettled(work, () => void this.#levels.pop());
  }

  /** Reads a field of each object. */
  readEach<T, R>(
    field: SelectedField,
    objects: readonly T[],
    read: (object: T, index: number) => PromiseOrValue<R>,
  ): PromiseOrValue<R[]> {
    const readAll = () => inOrder(objects, read);
    const trace = this.#trace;
    return this.locate(field, trace ? () => trace(field.info, readAll) : readAll);
  }

  /** Adds the location of a field to a refusal that concerns all objects together. */
  locate<T>({ info }: SelectedField, work: () => PromiseOrValue<T>): PromiseOrValue<T> {
    try {
      const result = work();
      if (!isPromise(result)) return result;
      return result.catch((error: unknown) => {
        throw this.located(error, info, 0);
      });
    } catch (error) {
      throw this.located(error, info, 0);
    }
  }

  /** Adds the location to a refusal. Returns other errors unchanged. */
  located(error: unknown, { fieldNodes, path }: GraphQLResolveInfo, index: number): unknown {
    if (!(error instanceof Refusal)) return error;
    return new GraphQLError(error.message, {
      nodes: fieldNodes,
      path: pathOf(path, this.#indicesOf(index)),
      originalError: error,
    });
  }

  /** The index of an object in its list, and the indices of the lists around it, the outermost first. */
  #indicesOf(index: number): number[] {
    const indices: number[] = [];
    let at = index;
    for (const starts of this.#levels.toReversed()) {
      const list = starts.findLastIndex((start) => start <= at);
      indices.unshift(at - (starts[list] ?? 0));
      at = Math.max(0, list);
    }
    return indices;
  }
}

/** The static path of a field with the indices of lists filled in. */
function pathOf(path: GraphQLResolveInfo['path'], indices: readonly number[]): (string | number)[] {
  const keys: (string | number)[] = [];
  let next = indices.length;
  for (let at: GraphQLResolveInfo['path'] | undefined = path; at; at = at.prev) {
    keys.unshift(typeof at.key === 'number' ? (indices[--next] ?? 0) : at.key);
  }
  return keys;
}

const needsNoEscape = /^[^"\\\x00-\x1f]*$/; // oxlint-disable-line no-control-regex
/** Returns the text as a JSON string. Most texts need no escape sequences, so `JSON.stringify` is not called for them. */
export function quote(text: string): string {
  return needsNoEscape.test(text) && text.isWellFormed() ? `"${text}"` : JSON.stringify(text);
}

const msPerDay = 86_400_000;
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/** Writes instants as `Date.toISOString` does, in a tenth of its time: many folders of a page have the same date. */
export class InstantWriter {
  #day = NaN;
  #dayText = '';

  write(milliseconds: number): string {
    const day = Math.floor(milliseconds / msPerDay);
    if (day !== this.#day) {
      this.#dayText = new Date(day * msPerDay).toISOString().slice(0, -'00:00:00.000Z'.length);
      this.#day = day;
    }
    const rest = milliseconds - day * msPerDay;
    const seconds = Math.floor(rest / 1000);
    const minutes = Math.floor(seconds / 60);
    const hours = Math.floor(minutes / 60);
    const time = `${twoDigits[hours]!}:${twoDigits[minutes - hours * 60]!}:${twoDigits[seconds - minutes * 60]!}`;
    return `"${this.#dayText}${time}.${String(rest - seconds * 1000).padStart(3, '0')}Z"`;
  }
}
