/** Follows a subscription, starting after a cursor. Continues after lost connections and server restarts. */

import type { Client } from '@espalier/client';
import { isTransient } from './problem.ts';

interface WithCursor {
  readonly cursor: string;
}

interface FollowOptions<Event extends WithCursor> {
  /** A subscription that selects one field and has the variable `$after`. Each of its events has a cursor. */
  readonly document: string;
  readonly variables?: object;
  /** The cursor of the last event. If it is undefined, only new events are received. */
  readonly after: { current: string | undefined };
  readonly signal: AbortSignal;
  readonly onEvent: (event: Event) => void;
  /** Returns whether an error ends the subscription for good. By default, all errors that are not transient do. */
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
      // Read the cursor before subscribing, so that no event is missed if the connection is lost before the first one arrives.
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
