/** The responses of a subscription: each is computed when the transport requests it. */

import type { GraphQLFormattedError } from 'graphql';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { FolderChange } from '../folders/changes/folder-changes.ts';
import type { ChangeStream } from '../journal/change-stream.ts';
import { toJournalCursor, type JournalPosition } from '../journal/journal-entry.ts';
import type { JournalEvent } from '../journal/journal-subscription.ts';

export interface GraphResult {
  /** False when the request failed before anything was executed: then there is no `data`. */
  readonly isExecuted: boolean;
  /** The response as JSON. */
  readonly text: string;
  /** The text in UTF-8, if it is long or if several subscriptions share it: then it is encoded once. */
  readonly bytes?: () => Buffer;
  /** The errors of a request that was not executed. */
  readonly errors?: readonly GraphQLFormattedError[];
  /** The request failed for now; the client can retry after this time. */
  readonly retryAfterSeconds?: number;
}

const end = { done: true, value: undefined } as const;

/** A change that a subscription reports. */
export type ReportedChange = FolderChange | JournalEvent;

export interface GraphStream {
  /** Synchronous if the response is in memory. There must be no more than one call at a time. */
  next(): PromiseOrValue<IteratorResult<GraphResult, undefined>>;
  /** Ends the stream at once; a pending `next` then returns done. */
  return(): Promise<unknown>;
  /** Where the client can continue. `isSent` says whether the last response was sent. */
  cursorAfter(isSent: boolean): string | undefined;
  /** The number of the last journal entry that was returned. */
  readonly reached: number;
  /** Returns the responses of the entries up to that number, and then waits for `return`. */
  stopAfter(number: number): void;
}

export interface GraphStreamOptions {
  readonly changes: ChangeStream<ReportedChange>;
  readonly respond: (change: ReportedChange) => PromiseOrValue<GraphResult>;
  readonly onEnd: () => void;
}

export class ResponseStream implements GraphStream {
  readonly #options: GraphStreamOptions;
  /** The position of the last response, until the next one is requested: until then it may not have been sent. */
  #returned: JournalPosition | undefined;
  #isOpen = true;

  constructor(options: GraphStreamOptions) {
    this.#options = options;
  }

  next(): PromiseOrValue<IteratorResult<GraphResult, undefined>> {
    const { changes, respond } = this.#options;
    this.#returned = undefined;
    return whenDone(changes.next(), (next) => {
      if (next.done) {
        this.#close();
        return end;
      }
      return whenDone(respond(next.value), (value) => {
        this.#returned = next.value.position;
        return { done: false, value };
      });
    });
  }

  return(): Promise<void> {
    this.#close();
    this.#options.changes.return();
    return Promise.resolve();
  }

  cursorAfter(isSent: boolean): string | undefined {
    return toJournalCursor((isSent ? this.#returned : undefined) ?? this.#options.changes.deliveredUpTo);
  }

  get reached(): number {
    return (this.#returned ?? this.#options.changes.deliveredUpTo).number;
  }

  stopAfter(number: number): void {
    this.#options.changes.stopAfter(number);
  }

  #close(): void {
    if (this.#isOpen) this.#options.onEnd();
    this.#isOpen = false;
  }
}
