/** JSON with wrong values and keys, and texts that are almost JSON. */

import type { Random } from '../many-nodes/chaos/random.ts';
import { mutateBytes, oddNumbers } from './byte-mutations.ts';
import { toBytes } from './hostile-request.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const oddTexts = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  '\u2028',
  '\ufeff',
  'é'.repeat(300),
  'x'.repeat(5_000),
  '{}',
  '../../etc/passwd',
  "' or 1=1 --",
  '%s%n',
  '\u202e',
  '__proto__',
];
const oddKeys = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '',
  'length',
  'then',
  'query',
  '\0',
];

export function oddValue(random: Random, depth = 0): Json {
  switch (random.below(depth > 3 ? 6 : 9)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
      return random.pick([0, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e300, 5e-324]);
    case 3:
    case 4:
    case 5:
      return random.pick(oddTexts);
    case 6:
      return Array.from({ length: random.below(4) }, () => oddValue(random, depth + 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random.below(4) }, () => [random.pick(oddKeys), oddValue(random, depth + 1)]),
      );
  }
}

/** Changes, removes or adds one part of the value. */
export function mutateJson(random: Random, value: Json): Json {
  if (typeof value !== 'object' || value === null || random.chance(0.15)) return oddValue(random);
  if (Array.isArray(value)) {
    const changed = value.map((each) => (random.chance(0.5) ? mutateJson(random, each) : each));
    return random.chance(0.2) ? [...changed, ...changed] : changed;
  }
  const keys = Object.keys(value);
  const chosen = keys.length > 0 ? random.pick(keys) : random.pick(oddKeys);
  const { [chosen]: old = null, ...rest } = value;
  switch (random.below(5)) {
    case 0:
      return rest;
    case 1:
      return { ...value, [random.pick(oddKeys)]: oddValue(random) };
    case 2:
      return { ...rest, [chosen.toUpperCase()]: old };
    default:
      return { ...value, [chosen]: mutateJson(random, old) };
  }
}

/** Returns the bytes of the value as JSON in UTF-8, and sometimes bytes that are invalid. */
export function writeJson(random: Random, value: Json): string {
  const text = toBytes(JSON.stringify(value));
  if (random.chance(0.6)) return text;
  switch (random.below(9)) {
    case 0:
      return text.replace('{', `{"${random.pick(oddKeys)}":${random.pick(oddNumbers)},`);
    case 1:
      return text.replace(/"(\w+)":/, (key: string) => `${key}${random.pick(oddNumbers)},${key}`);
    case 2:
      return text.replace('{', '{"__proto__":{"isAdministrator":true,"username":"x"},');
    case 3:
      return random.pick(['[', '{"a":', '[[],']).repeat(1 + random.below(3_000)) + text;
    case 4:
      return text.replace(/"[^"]*"(?=[,}])/, () =>
        random.pick(['"\\ud800"', '"\\u0000"', '"\xff"', '"\n"', "'x'"]),
      );
    case 5:
      return `\xef\xbb\xbf${text}`;
    case 6:
      return Buffer.from(JSON.stringify(value), 'utf16le').toString('latin1');
    case 7:
      return text + random.pick([' ', ',', text, '// x', '\0', '}']);
    default:
      return mutateBytes(random, text);
  }
}
