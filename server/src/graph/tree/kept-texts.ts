/**
 * Answers that were written once, to be given again while nothing has changed: after a change many clients ask for the
 * same again, and the first of them has it written for all. Whether nothing has changed, the journal is asked each time.
 */

import { LRUCache } from 'lru-cache';
import type { JournalHead } from '../../journal/journal.ts';

/** A letter of a text, at most. */
const bytesOfALetter = 2;

interface WrittenText {
  /** Where the journal had got to before it was written. */
  readonly head: JournalHead;
  readonly text: string;
}

export class KeptTexts {
  readonly #kept: LRUCache<string, WrittenText>;

  constructor(megabytes: number) {
    this.#kept = new LRUCache({
      maxSize: megabytes * 2 ** 20,
      sizeCalculation: ({ text }, name) => bytesOfALetter * (text.length + name.length),
    });
  }

  /** The text of this name, if nothing has changed since it was written. */
  get(name: string, head: JournalHead): string | undefined {
    const written = this.#kept.get(name);
    return written && isSame(written.head, head) ? written.text : undefined;
  }

  /** The head is to be read before the text is: what has changed in between is then taken for a later change. */
  keep(name: string, head: JournalHead, text: string): void {
    this.#kept.set(name, { head, text });
  }
}

function isSame(one: JournalHead, other: JournalHead): boolean {
  return one.number === other.number && one.nonce === other.nonce && one.accessNumber === other.accessNumber;
}
