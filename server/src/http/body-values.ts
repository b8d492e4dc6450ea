/**
 * How much there is in a JSON text, told without parsing it: millions of tiny values cost seconds to parse, in which
 * nobody else is served. Counts; does not judge whether it is JSON.
 */

import { randomInt } from 'node:crypto';

export interface ValueLimits {
  /** Members of lists and objects, and lists and objects themselves. */
  readonly values: number;
  /** Different names of members. The parser remembers each: one costs as much as ten that it has seen. */
  readonly names: number;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const openBrace = 0x7b;
const space = 0x20;

/** What there is too much of, if anything. */
export function excessOf(text: Uint8Array, limits: ValueLimits): keyof ValueLimits | undefined {
  const names = new DigestSet(limits.names);
  const [factor, otherFactor] = [drawFactor(), drawFactor()];
  const [start, otherStart] = [randomInt(2 ** 32) | 0, randomInt(2 ** 32) | 0];
  let values = 0;
  for (let place = 0; place < text.length; place++) {
    const byte = text[place];
    if (byte === quote) {
      let digest = start;
      let other = otherStart;
      for (place++; place < text.length && text[place] !== quote; place++) {
        if (text[place] === backslash) place++;
        digest = Math.imul(digest ^ text[place]!, factor);
        other = Math.imul(other ^ text[place]!, otherFactor);
      }
      const isName = text[place + 1] === colon || isNamed(text, place + 1);
      if (isName && !names.add(digest, other)) return 'names';
    } else if (byte === comma || byte === openBrace || byte === openBracket) {
      if (++values > limits.values) return 'values';
    }
  }
  return undefined;
}

/** Drawn anew each time: nobody can choose names that look the same. One near 1 would hardly tell any apart. */
function drawFactor(): number {
  return (randomInt(2 ** 32) & ~7) | 5;
}

/** With white space before the colon, which hardly anybody writes. */
function isNamed(text: Uint8Array, start: number): boolean {
  let place = start;
  while (place < text.length && text[place]! <= space) place++;
  return text[place] === colon;
}

/** Counts different pairs of numbers up to a bound, in a table that is made once: 32 bits alone would mix up a few. */
class DigestSet {
  readonly #slots: Int32Array;
  readonly #mask: number;
  readonly #shift: number;
  #left: number;

  constructor(most: number) {
    const bits = Math.ceil(Math.log2(2 * most + 2));
    this.#slots = new Int32Array(2 * 2 ** bits);
    this.#mask = 2 ** bits - 1;
    this.#shift = 32 - bits;
    this.#left = most;
  }

  /** False if it is one too many. */
  add(digest: number, other: number): boolean {
    const wanted = digest || 1;
    const slots = this.#slots;
    let slot = Math.imul(wanted, 0x9e3779b1) >>> this.#shift;
    while (slots[2 * slot] !== 0) {
      if (slots[2 * slot] === wanted && slots[2 * slot + 1] === other) return true;
      slot = (slot + 1) & this.#mask;
    }
    slots[2 * slot] = wanted;
    slots[2 * slot + 1] = other;
    return --this.#left >= 0;
  }
}
