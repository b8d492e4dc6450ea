/** What an execution has come to, as an answer: errors in the order of their fields, with codes, and nothing private. */

import { toGraphCode, type GraphCode } from '@espalier/contract';
import {
  execute,
  GraphQLError,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLFormattedError,
} from 'graphql';
import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { Refusal } from '../refusal.ts';
import type { GraphResult } from './graph-stream.ts';
import { withLocations } from './locations.ts';
import { encode, writeJson } from './time-slices.ts';
import type { Task } from '../concurrency/fair-scheduler.ts';

export interface ResultOptions {
  /** Told of what should not have happened; the client learns only that it did. */
  readonly onBug: (error: unknown) => void;
  /** Told of what stood in the way of an answer and may pass. */
  readonly onUnavailable: (error: unknown) => void;
}

export interface Results {
  readonly toResult: (
    done: ExecutionResult,
    query: string,
    options?: { readonly isChanged: boolean },
  ) => GraphResult;
  /** The same, with the text written in pieces. */
  readonly toLongResult: (done: ExecutionResult, query: string, task: Task) => Promise<GraphResult>;
}

/** A text of more characters is long. To encode so many takes about 0.2 ms. */
const longText = 2 ** 20;
/** Of an answer's errors; one for each folder of a list says no more than that. */
const mostErrors = 100;

export function createResults({ onBug, onUnavailable }: ResultOptions): Results {
  return { toResult, toLongResult };

  async function toLongResult(done: ExecutionResult, query: string, task: Task): Promise<GraphResult> {
    if (done.errors) return toResult(done, query);
    return encodeLong({ isExecuted: true, text: `{"data":${await writeJson(done.data, task)}}` }, task);
  }

  function toResult(
    { data, errors }: ExecutionResult,
    query: string,
    { isChanged }: { readonly isChanged: boolean } = { isChanged: false },
  ): GraphResult {
    const isExecuted = data !== undefined;
    if (!errors) return { isExecuted, text: JSON.stringify({ data }) };
    const formatted = inOrderOfFields(errors, data)
      .slice(0, mostErrors)
      // A subscription may be refused by its field before there is any data.
      .map((error) => (isExecuted || error.path ? fieldError(error) : requestError(error)));
    const shown = withLocations(formatted, query);
    if (!isExecuted) return notExecuted(shown);
    // What has been changed is not to be tried again.
    const retryAfterSeconds = isNothing(data) && !isChanged ? pauseOf(errors) : undefined;
    const text = JSON.stringify({ errors: shown, data });
    return { isExecuted, text, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  }

  function fieldError(error: GraphQLError): GraphQLFormattedError {
    const cause = error.originalError;
    if (cause instanceof Refusal) {
      if (cause.cause !== undefined) onUnavailable(cause.cause);
      return coded(error, toGraphCode(cause.code), cause.details.facts);
    }
    onBug(cause ?? error);
    return { ...coded(error, 'INTERNAL'), message: 'Internal server error.' };
  }
}

/** Encodes a long result in pieces: in one go, it would delay other users. */
export async function encodeLong(result: GraphResult, task: Task): Promise<GraphResult> {
  if (result.text.length < longText) return result;
  const bytes = await encode(result.text, task);
  return { ...result, bytes: () => bytes };
}

function isNothing(data: ExecutionResult['data']): boolean {
  return !data || Object.values(data).every((value) => value === null);
}

/** How long to wait before it is tried again, if that may help. */
function pauseOf(errors: readonly GraphQLError[]): number | undefined {
  return findUnavailable(errors)?.details.retryAfterSeconds;
}

/** What stood in the way and may pass. */
export function findUnavailable(errors: readonly GraphQLError[] = []): Refusal | undefined {
  return errors
    .map(({ originalError }) => originalError)
    .find((cause): cause is Refusal => cause instanceof Refusal && cause.code === 'UNAVAILABLE');
}

export function cannotStream(): GraphResult {
  const error = new GraphQLError(
    'A subscription needs a WebSocket, or a request with Accept: text/event-stream.',
  );
  return notExecuted([coded(error, 'BAD_INPUT')]);
}

/** Clients compare the message, and then send the text of the query. */
export function persistedQueryNotSupported(): GraphResult {
  const error = new GraphQLError('PersistedQueryNotSupported');
  return notExecuted([coded(error, 'PERSISTED_QUERY_NOT_SUPPORTED')]);
}

export function notExecuted(errors: readonly GraphQLFormattedError[]): GraphResult {
  return { isExecuted: false, text: JSON.stringify({ errors }), errors };
}

export function tryExecute(request: ExecutionArgs): PromiseOrValue<ExecutionResult> {
  return tryRequest(() => execute(request));
}

/** Input is coerced by recursion; what exhausts the stack is the caller's mistake. */
export function tryRequest<T>(run: () => T): T | ExecutionResult {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError) return { errors: [nestedTooDeeply()] };
    throw error;
  }
}

/** graphql-js passes on as it is whatever a variable's coercion threw. */
function requestError(error: Error): GraphQLFormattedError {
  if (error instanceof GraphQLError) return coded(error, 'BAD_INPUT');
  if (error instanceof RangeError) return coded(nestedTooDeeply(), 'BAD_INPUT');
  throw error;
}

export function nestedTooDeeply(): GraphQLError {
  return new GraphQLError(`The variables are nested too deeply: at most ${mostVariableLevels} levels.`);
}
export function coded(
  error: GraphQLError,
  code: GraphCode,
  facts?: Readonly<Record<string, string | number>>,
): GraphQLFormattedError {
  return { ...error.toJSON(), extensions: { code, ...facts } };
}
type Path = readonly (string | number)[];

export function inOrderOfFields(errors: readonly GraphQLError[], data: unknown): readonly GraphQLError[] {
  if (errors.length < 2) return errors;
  return errors.toSorted((one, other) => {
    const [path, otherPath] = [one.path ?? [], other.path ?? []];
    const place = path.findIndex((step, at) => step !== otherPath[at]);
    if (place < 0 || otherPath[place] === undefined) return path.length - otherPath.length;
    const [step, otherStep] = [path[place]!, otherPath[place]];
    if (typeof step === 'number' || typeof otherStep === 'number') return Number(step) - Number(otherStep);
    const keys = Object.keys(valueAt(data, path.slice(0, place)) ?? {});
    return keys.includes(step) ? keys.indexOf(step) - keys.indexOf(otherStep) : startOf(one) - startOf(other);
  });
}
/** Undefined if there is nothing left of it: an error below has taken it away. */
function valueAt(data: unknown, path: Path): object | undefined {
  let at = data;
  for (const step of path) at = (at as Record<string | number, unknown> | null | undefined)?.[step];
  return typeof at === 'object' && at !== null ? at : undefined;
}
function startOf({ nodes }: GraphQLError): number {
  return nodes?.[0]?.loc?.start ?? 0;
}
/** Variables are coerced by recursion, so how deep they are nested has a bound. How many there are has none here. */

export const mostVariableLevels = 300;
/** Copies nothing and calls nothing for plain values: an import may hold 100,000 folders. */

export function areNestedTooDeeply(variables: object, levelsLeft: number = mostVariableLevels): boolean {
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
