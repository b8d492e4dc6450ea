/** The answers to a subscription, one at a time: the next is made when it is asked for. */

import type { GraphQLFormattedError } from 'graphql';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { ChangeStream } from '../journal/change-stream.ts';
import { toJournalCursor } from '../journal/journal-entry.ts';
import type { JournalPlace } from '../journal/journal-entry.ts';

export interface GraphResult {
  /** False when the request failed before anything was run: then there is no `data`. */
  readonly isExecuted: boolean;
  /** The answer as JSON. */
  readonly text: string;
  /** The text in UTF-8, if it is long or if several subscriptions share it: then it is encoded once. */
  readonly bytes?: () => Buffer;
  /** Of a request that failed before anything was run. */
  readonly errors?: readonly GraphQLFormattedError[];
  /** Nothing could be had right now, and it may be tried again after so many seconds. */
  readonly retryAfterSeconds?: number;
}

export interface GraphStream {
  /** At once if the answer is in memory. Asked for one at a time. */
  next(): PromiseOrValue<IteratorResult<GraphResult, undefined>>;
  /** Ends it at once, even while an answer is awaited: that one comes as done. */
  return(): Promise<unknown>;
  /** Where the client may go on. `isSent`: it was sent the last answer that `next` gave, not only those before. */
  cursorAfter(isSent: boolean): string | undefined;
  /** The number of the journal's entry that it has come to. */
  readonly reached: number;
  /** It goes on to the entry of that number, and then waits to be ended. */
  stopAfter(number: number): void;
}

const end = { done: true, value: undefined } as const;

export function createGraphStream<Told extends { readonly place: JournalPlace }>(
  followed: ChangeStream<Told>,
  { answer, onEnd }: { answer: (told: Told) => PromiseOrValue<GraphResult>; onEnd: () => void },
): GraphStream {
  /** The change of the last answer, until the next is asked for: that one is asked for when this one was sent. */
  let given: JournalPlace | undefined;
  let isOpen = true;
  const close = () => {
    if (isOpen) onEnd();
    isOpen = false;
  };
  const stream: GraphStream = {
    next() {
      given = undefined;
      return whenDone(followed.next(), (next) => {
        if (next.done) {
          close();
          return end;
        }
        return whenDone(answer(next.value), (value) => {
          given = next.value.place;
          return { done: false, value };
        });
      });
    },
    async return() {
      close();
      await followed.return();
    },
    cursorAfter: (isSent) => toJournalCursor((isSent ? given : undefined) ?? followed.deliveredUpTo),
    get reached() {
      return (given ?? followed.deliveredUpTo).number;
    },
    stopAfter: (number) => followed.stopAfter(number),
  };
  return stream;
}
