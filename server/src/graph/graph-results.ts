/** Turns the result of an execution into a response: errors in the order of their fields, with codes and without internals. */

import { toGraphCode, type GraphCode } from '@espalier/contract';
import {
  execute,
  GraphQLError,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLFormattedError,
} from 'graphql';
import type { Task } from '../concurrency/fair-scheduler.ts';
import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { Refusal } from '../refusal.ts';
import type { GraphResult, Operation } from './operation.ts';
import { encode, writeJson } from './time-slices.ts';

export interface ResultOptions {
  /** Called with an unexpected error; the client receives only `INTERNAL`, with the same request id. */
  readonly onBug: (error: unknown, requestId: string | undefined) => void;
  /** Called with the cause of a temporary error. */
  readonly onUnavailable: (error: unknown) => void;
}

/** The operation that errors belong to. Without `requestId` if several subscriptions share the response. */
type ErrorSource = Pick<Operation, 'query' | 'requestId'>;

/** Texts of this length or more are encoded in slices. Encoding this many characters takes about 0.2 ms. */
const longText = 2 ** 20;
/** A response may have one error for each folder of a list; the client receives only the first 100. */
const maxErrors = 100;

export class Results {
  readonly #options: ResultOptions;

  constructor(options: ResultOptions) {
    this.#options = options;
  }

  /** Like `toResult()`, but writes the text in several slices. */
  async toLongResult(done: ExecutionResult, source: ErrorSource, task: Task): Promise<GraphResult> {
    if (done.errors) return this.toResult(done, source);
    return encodeLong({ isExecuted: true, text: `{"data":${await writeJson(done.data, task)}}` }, task);
  }

  /** `isChanged` is true if a mutation has made a change. */
  toResult({ data, errors }: ExecutionResult, source: ErrorSource, isChanged = false): GraphResult {
    const { query, requestId } = source;
    const isExecuted = data !== undefined;
    if (!errors) return { isExecuted, text: JSON.stringify({ data }) };
    const formatted = sortByField(errors, data)
      .slice(0, maxErrors)
      // A subscription field can throw before there is any data: then the error has a path.
      .map((error) => (isExecuted || error.path ? this.#fieldError(error, requestId) : requestError(error)));
    const located = withLocations(formatted, query);
    if (!isExecuted) return notExecutedResult(located, requestId);
    // A client must not retry a mutation that made a change.
    const retryAfterSeconds =
      isEmpty(data) && !isChanged ? findUnavailable(errors)?.details.retryAfterSeconds : undefined;
    const text = JSON.stringify({ errors: withRequestId(located, requestId), data });
    return { isExecuted, text, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  }

  #fieldError(error: GraphQLError, requestId: string | undefined): GraphQLFormattedError {
    const cause = error.originalError;
    if (cause instanceof Refusal) {
      if (cause.cause !== undefined) this.#options.onUnavailable(cause.cause);
      return withCode(error, toGraphCode(cause.code), cause.details.facts);
    }
    this.#options.onBug(cause ?? error, requestId);
    return { ...withCode(error, 'INTERNAL'), message: 'Internal server error.' };
  }
}

/** Encodes a long result in slices: in one slice, it would delay other users. */
export async function encodeLong(result: GraphResult, task: Task): Promise<GraphResult> {
  if (result.text.length < longText) return result;
  const bytes = await encode(result.text, task);
  return { ...result, bytes: () => bytes };
}

function isEmpty(data: ExecutionResult['data']): boolean {
  return !data || Object.values(data).every((value) => value === null);
}

/** The first temporary error. */
export function findUnavailable(errors: readonly GraphQLError[] = []): Refusal | undefined {
  return errors
    .map(({ originalError }) => originalError)
    .find((cause): cause is Refusal => cause instanceof Refusal && cause.code === 'UNAVAILABLE');
}

/** The response to a request that this server does not support. */
export function unsupportedResult(
  message: string,
  code: GraphCode,
  requestId: string | undefined,
): GraphResult {
  return notExecutedResult([withCode(new GraphQLError(message), code)], requestId);
}

export function notExecutedResult(
  found: readonly GraphQLFormattedError[],
  requestId: string | undefined,
): GraphResult {
  const errors = withRequestId(found, requestId);
  return { isExecuted: false, text: JSON.stringify({ errors }), errors };
}

/** Adds the id under which the server logs the request. */
function withRequestId(
  errors: readonly GraphQLFormattedError[],
  requestId: string | undefined,
): readonly GraphQLFormattedError[] {
  if (requestId === undefined) return errors;
  return errors.map((error) => ({ ...error, extensions: { ...error.extensions, requestId } }));
}

export function tryExecute(request: ExecutionArgs): PromiseOrValue<ExecutionResult> {
  return tryRequest(() => execute(request));
}

/** graphql-js coerces input recursively. Input that exhausts the stack is invalid. */
export function tryRequest<T>(run: () => T): T | ExecutionResult {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError) return { errors: [nestingError()] };
    throw error;
  }
}

/** Also formats a RangeError from the coercion of variables, which graphql-js does not wrap. */
function requestError(error: Error): GraphQLFormattedError {
  if (error instanceof GraphQLError) return withCode(error, 'BAD_INPUT');
  if (error instanceof RangeError) return withCode(nestingError(), 'BAD_INPUT');
  throw error;
}

export function nestingError(): GraphQLError {
  return new GraphQLError(`The variables are nested too deeply: at most ${maxVariableLevels} levels.`);
}

/** Formats an error with its code. */
export function withCode(
  error: GraphQLError,
  code: GraphCode,
  facts?: Readonly<Record<string, string | number>>,
): GraphQLFormattedError {
  return { ...error.toJSON(), extensions: { code, ...facts } };
}

type Path = readonly (string | number)[];

/** Sorts errors in the order of the response's fields, independent of the order in which they occurred. */
export function sortByField(errors: readonly GraphQLError[], data: unknown): readonly GraphQLError[] {
  if (errors.length < 2) return errors;
  return errors.toSorted((one, other) => {
    const [path, otherPath] = [one.path ?? [], other.path ?? []];
    const index = path.findIndex((step, at) => step !== otherPath[at]);
    if (index < 0 || otherPath[index] === undefined) return path.length - otherPath.length;
    const [step, otherStep] = [path[index]!, otherPath[index]];
    if (typeof step === 'number' || typeof otherStep === 'number') return Number(step) - Number(otherStep);
    const keys = Object.keys(valueAt(data, path.slice(0, index)) ?? {});
    return keys.includes(step) ? keys.indexOf(step) - keys.indexOf(otherStep) : startOf(one) - startOf(other);
  });
}

/** Undefined if an error below has set the value to null. */
function valueAt(data: unknown, path: Path): object | undefined {
  let at = data;
  for (const step of path) at = (at as Record<string | number, unknown> | null | undefined)?.[step];
  return typeof at === 'object' && at !== null ? at : undefined;
}

function startOf({ nodes }: GraphQLError): number {
  return nodes?.[0]?.loc?.start ?? 0;
}

/** graphql-js coerces variables recursively, so their depth is limited. */
export const maxVariableLevels = 300;

/** Copies nothing and makes no call for plain values, because an import may contain 100,000 folders. */
export function areNestedTooDeeply(variables: object, levelsLeft: number = maxVariableLevels): boolean {
  if (levelsLeft < 0) return true;
  if (Array.isArray(variables)) {
    for (const value of variables as unknown[]) {
      if (typeof value === 'object' && value !== null && areNestedTooDeeply(value, levelsLeft - 1))
        return true;
    }
    return false;
  }
  for (const name in variables) {
    const value = (variables as Record<string, unknown>)[name];
    if (typeof value === 'object' && value !== null && areNestedTooDeeply(value, levelsLeft - 1)) return true;
  }
  return false;
}

const maxLocations = 5;

/**
 * Replaces the offsets in errors by lines and columns. For each error, graphql-js searches the text from its start, and a response
 * may have thousands of errors. So documents are parsed without their text: columns are then offsets, and an index of lines
 * converts them.
 */
export function withLocations(
  errors: readonly GraphQLFormattedError[],
  query: string,
): readonly GraphQLFormattedError[] {
  const starts = lineStarts(query);
  return errors.map((error) => {
    const locations = error.locations?.slice(0, maxLocations).map(({ column }) => {
      const line = linesUntil(starts, column - 1);
      return { line, column: column - starts[line - 1]! };
    });
    return locations ? { ...error, locations } : error;
  });
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(/\r\n|[\n\r]/g)) starts.push(index + end.length);
  return starts;
}

/** How many lines start at or before an offset. */
function linesUntil(starts: readonly number[], offset: number): number {
  let low = 1;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle - 1]! <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
