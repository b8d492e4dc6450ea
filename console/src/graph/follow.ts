/** Follows a subscription from a cursor on, across lost connections and server restarts. */

import type { Client } from '@espalier/client';
import { isTransient } from './problem.ts';

interface WithCursor {
  readonly cursor: string;
}

interface FollowOptions<Event extends WithCursor> {
  /** A subscription with `$after` to one field, whose events carry a cursor. */
  readonly document: string;
  readonly variables?: object;
  /** The cursor of the last event. Undefined starts at the present. */
  readonly after: { current: string | undefined };
  readonly signal: AbortSignal;
  readonly onEvent: (event: Event) => void;
  /** Which errors end it. By default, all that are not transient. */
  readonly isFinalError?: (error: unknown) => boolean;
  /** Called before each attempt. */
  readonly onAttempt?: () => void;
  /** Called after each failed attempt. */
  readonly onFailure?: () => void;
  /** Waits before the next attempt. */
  readonly pause?: (ms: number) => Promise<void>;
}

const minBackoffMs = 500;
const maxBackoffMs = 15_000;

/** Rejects with the final error, or when the signal is aborted. */
export async function followSubscription<Event extends WithCursor>(
  client: Pick<Client, 'query' | 'subscribe'>,
  options: FollowOptions<Event>,
): Promise<never> {
  const { document, variables, after, signal, onEvent, onAttempt, onFailure } = options;
  const { isFinalError = (error) => !isTransient(error), pause = wait } = options;
  for (let backoffMs = minBackoffMs; ; backoffMs = Math.min(backoffMs * 2, maxBackoffMs)) {
    try {
      // Read the cursor before subscribing, so that a connection lost before the first event loses none.
      after.current ??= (await client.query<WithCursor>('{ cursor }', {}, { signal })).cursor;
      onAttempt?.();
      const events = client.subscribe<Readonly<Record<string, Event>>>(
        document,
        () => ({ ...variables, after: after.current }),
        { signal, onGoingAway: (cursor) => (after.current = cursor) },
      );
      for await (const response of events) {
        const [event] = Object.values(response);
        if (!event) continue;
        after.current = event.cursor;
        backoffMs = minBackoffMs;
        onEvent(event);
      }
    } catch (error) {
      if (signal.aborted || isFinalError(error)) throw error;
      onFailure?.();
    }
    await pause(backoffMs);
    signal.throwIfAborted();
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
