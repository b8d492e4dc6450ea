/**
 * Values that are promises only if the database is remote: an embedded database returns plain values. `await` accepts both. Hot
 * paths use these functions, because `await` on a plain value takes a round through the microtask queue.
 */

export type PromiseOrValue<T> = T | Promise<T>;

export function isPromise<T>(value: PromiseOrValue<T>): value is Promise<T> {
  return value instanceof Promise;
}

/** Like `then()`, but synchronous for a plain value. */
export function whenDone<T, U>(
  value: PromiseOrValue<T>,
  next: (value: T) => PromiseOrValue<U>,
): PromiseOrValue<U> {
  return isPromise(value) ? value.then(next) : next(value);
}

/** Like `catch()`: returns the result of `work`, or of `recover` if `work` fails. */
export function whenFailed<T, U>(
  work: () => PromiseOrValue<T>,
  recover: (error: unknown) => PromiseOrValue<U>,
): PromiseOrValue<T | U> {
  try {
    const result = work();
    return isPromise(result) ? result.catch(recover) : result;
  } catch (error) {
    return recover(error);
  }
}

/** Like `finally()`: calls `end` when the work has succeeded or failed. */
export function whenSettled<T>(work: () => PromiseOrValue<T>, end: () => void): PromiseOrValue<T> {
  try {
    const result = work();
    if (isPromise(result)) return result.finally(end);
    end();
    return result;
  } catch (error) {
    end();
    throw error;
  }
}

/** Starts two reads together: a remote database receives both before it responds to the first. */
export function together<T, U>(
  first: () => PromiseOrValue<T>,
  second: () => PromiseOrValue<U>,
): PromiseOrValue<[T, U]> {
  const one = first();
  // An error that `second` throws synchronously must not leave the first promise without a handler.
  if (isPromise(one)) return Promise.all([one, (async () => second())()]);
  return whenDone(second(), (other): [T, U] => [one, other]);
}

/** Calls `work` for each item, one after the other; synchronous as long as `work` returns no promise. */
export function inOrder<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => PromiseOrValue<R>,
  results: R[] = [],
): PromiseOrValue<R[]> {
  for (let index = results.length; index < items.length; index++) {
    const result = work(items[index]!, index);
    if (isPromise(result)) {
      return result.then((value) => {
        results.push(value);
        return inOrder(items, work, results);
      });
    }
    results.push(result);
  }
  return results;
}
