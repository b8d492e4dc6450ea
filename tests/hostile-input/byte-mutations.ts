/** Damages a text at random. Each character of the text is one byte. */

import type { Random } from '../many-nodes/chaos/random.ts';

type Mutation = (random: Random, text: string) => string;

/** Numbers that often cause errors. */
export const oddNumbers = [
  ...[
    '0',
    '-0',
    '-1',
    '1',
    '00',
    '+5',
    '0x10',
    '1e3',
    '1.5',
    ' 7',
    '2147483647',
    '2147483648',
    '-2147483649',
  ],
  ...[
    '4294967296',
    '9007199254740993',
    '18446744073709551616',
    '99999999999999999999999',
    '1e999',
    'NaN',
    '',
  ],
];

/** Characters that often cause errors, as valid or invalid UTF-8. */
export const oddBytes = [
  '\0',
  '\n',
  '\r',
  '\r\n',
  '\t',
  '\x7f',
  '\x80',
  '\xff',
  '\xc0\xaf',
  '\xed\xa0\x80',
  '%00',
  '"',
  '\\',
  ':',
  ';',
  ' ',
  '\xef\xbb\xbf',
];

const mutations: readonly Mutation[] = [
  function flipBit(random, text) {
    const at = random.below(text.length);
    const flipped = String.fromCharCode(text.charCodeAt(at) ^ (1 << random.below(8)));
    return text.slice(0, at) + flipped + text.slice(at + 1);
  },
  function truncate(random, text) {
    return text.slice(0, random.below(text.length));
  },
  function removeBytes(random, text) {
    const at = random.below(text.length);
    return text.slice(0, at) + text.slice(at + 1 + random.below(8));
  },
  function repeatBytes(random, text) {
    const at = random.below(text.length);
    const piece = text.slice(at, at + 1 + random.below(40));
    return text.slice(0, at) + piece.repeat(1 + random.below(4)) + text.slice(at);
  },
  function insertOddByte(random, text) {
    const at = random.below(text.length);
    return text.slice(0, at) + random.pick(oddBytes) + text.slice(at);
  },
  function replaceNumber(random, text) {
    const numbers = [...text.matchAll(/\d+/g)];
    if (numbers.length === 0) return text;
    const { index, 0: old } = random.pick(numbers);
    return text.slice(0, index) + random.pick(oddNumbers) + text.slice(index + old.length);
  },
  function shuffleBytes(random, text) {
    const at = random.below(text.length);
    const end = at + 2 + random.below(12);
    return text.slice(0, at) + random.shuffle([...text.slice(at, end)]).join('') + text.slice(end);
  },
];

/** Applies one or a few mutations. */
export function mutateBytes(random: Random, text: string): string {
  let mutated = text;
  do {
    if (mutated.length > 0) mutated = random.pick(mutations)(random, mutated);
  } while (random.chance(0.35));
  return mutated;
}

/** Joins the start of one text and the end of another. */
export function splice(random: Random, one: string, other: string): string {
  return one.slice(0, random.below(one.length + 1)) + other.slice(random.below(other.length + 1));
}
