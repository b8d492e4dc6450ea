/**
 * Answers that were written once, to be given again while nothing has changed: after a change many clients ask for the
 * same again, and the first of them has it written for all. Whether nothing has changed, the journal is asked each time.
 */

import { LRUCache } from 'lru-cache';
import type { WrittenText } from '../../folders/folder-text.ts';
import type { JournalHead } from '../../journal/journal.ts';

/** A letter of a text, at most. */
const bytesOfALetter = 2;

export class KeptTexts {
  readonly #kept: LRUCache<string, WrittenText> | undefined;

  constructor(megabytes: number) {
    if (megabytes === 0) return;
    this.#kept = new LRUCache({
      maxSize: megabytes * 2 ** 20,
      sizeCalculation: ({ text }, name) => bytesOfALetter * (text.length + name.length),
    });
  }

  /** Of any moment. */
  get(name: string): WrittenText | undefined {
    return this.#kept?.get(name);
  }

  keep(name: string, written: WrittenText): void {
    this.#kept?.set(name, written);
  }
}

export function isOf({ number, nonce, accessNumber }: WrittenText, head: JournalHead): boolean {
  return number === head.number && nonce === head.nonce && accessNumber === head.accessNumber;
}
