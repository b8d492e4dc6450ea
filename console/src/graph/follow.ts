/** Follows what the server tells from a place on, across lost connections and servers that are restarted. */

import type { Client } from '@espalier/client';
import { isTransient } from './problem.ts';

interface Told {
  readonly cursor: string;
}

interface Following<What extends Told> {
  /** A subscription with `$after`, to one field that tells its cursor each time. */
  readonly document: string;
  readonly variables?: object;
  /** Moves on with each that is told; where there is none yet, it is the present. */
  readonly after: { current: string | undefined };
  readonly signal: AbortSignal;
  readonly tell: (what: What) => void;
  /** Which error ends it; unless told, each that does not pass by itself. */
  readonly isEnd?: (error: unknown) => boolean;
  /** Before each attempt, and after one that failed. */
  readonly onAttempt?: () => void;
  readonly onFailure?: () => void;
  /** Before it is tried again. */
  readonly pause?: (ms: number) => Promise<void>;
}

const shortestPauseMs = 500;
const longestPauseMs = 15_000;

/** Rejects with the error that ends it, or when the signal is aborted. */
export async function follow<What extends Told>(
  client: Pick<Client, 'query' | 'subscribe'>,
  following: Following<What>,
): Promise<never> {
  const { document, variables, after, signal, tell, onAttempt, onFailure } = following;
  const { isEnd = (error) => !isTransient(error), pause = wait } = following;
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      // Asked for at once: a line that is lost before anything is told must lose nothing.
      after.current ??= (await client.query<Told>('{ cursor }', {}, { signal })).cursor;
      onAttempt?.();
      const told = client.subscribe<Readonly<Record<string, What>>>(
        document,
        () => ({ ...variables, after: after.current }),
        { signal, onGoingAway: (cursor) => (after.current = cursor) },
      );
      for await (const answer of told) {
        const [what] = Object.values(answer);
        if (!what) continue;
        after.current = what.cursor;
        pauseMs = shortestPauseMs;
        tell(what);
      }
    } catch (error) {
      if (signal.aborted || isEnd(error)) throw error;
      onFailure?.();
    }
    await pause(pauseMs);
    signal.throwIfAborted();
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
