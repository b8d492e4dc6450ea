/** The answers to a subscription, one at a time: the next is made when it is asked for. */

import type { GraphQLFormattedError } from 'graphql';
import type { Followed } from '../journal/follow.ts';
import { toJournalCursor } from '../journal/journal-cursor.ts';
import type { JournalPlace } from '../journal/journal-entry.ts';

export interface GraphResult {
  /** False when the request failed before anything was run: then there is no `data`. */
  readonly isExecuted: boolean;
  /** The answer as JSON. */
  readonly text: string;
  /** Of a request that failed before anything was run. */
  readonly errors?: readonly GraphQLFormattedError[];
  /** Nothing could be had right now, and it may be tried again after so many seconds. */
  readonly retryAfterSeconds?: number;
}

export interface GraphStream extends AsyncIterableIterator<GraphResult, undefined> {
  /** Ends it at once, even while an answer is awaited: that one comes as done. */
  return(): Promise<IteratorResult<GraphResult, undefined>>;
  /** Where whoever has been sent its answers up to this one may go on; undefined for what has no cursor. */
  cursorAfter(last: GraphResult | undefined): string | undefined;
  /** The number of the journal's entry that it has come to. */
  readonly reached: number;
  /** It goes on to the entry of that number, and then waits to be ended. */
  stopAfter(number: number): void;
}

const end = { done: true, value: undefined } as const;

export function createGraphStream<Told extends { readonly place: JournalPlace }>(
  followed: Followed<Told>,
  { answer, onEnd }: { answer: (told: Told) => Promise<GraphResult>; onEnd: () => void },
): GraphStream {
  /** The last answer, until the next is asked for: that one is asked for when this one was sent. */
  let given: { result: GraphResult; place: JournalPlace } | undefined;
  let isOpen = true;
  const close = () => {
    if (isOpen) onEnd();
    isOpen = false;
  };
  const stream: GraphStream = {
    async next() {
      given = undefined;
      const next = await followed.next();
      if (next.done) {
        close();
        return end;
      }
      given = { result: await answer(next.value), place: next.value.place };
      return { done: false, value: given.result };
    },
    async return() {
      close();
      await followed.return();
      return end;
    },
    cursorAfter(last) {
      const isSent = given !== undefined && given.result === last;
      return toJournalCursor(isSent ? given!.place : followed.toldUpTo);
    },
    get reached() {
      return (given?.place ?? followed.toldUpTo).number;
    },
    stopAfter: (number) => followed.stopAfter(number),
    [Symbol.asyncIterator]: () => stream,
  };
  return stream;
}
