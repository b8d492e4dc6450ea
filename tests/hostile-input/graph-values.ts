/** Values for arguments and variables, by name: mostly values that the server accepts. */

import type { Random } from '../many-nodes/chaos/random.ts';

export type Sample = null | boolean | number | string | Sample[] | { [key: string]: Sample };

/** Literals for arguments of any type. */
export const oddLiterals = [
  ...[
    'null',
    '-1',
    '0.5',
    '1e400',
    '99999999999999999999',
    '""',
    '"""block"""',
    '"\\u0000"',
    '"\\ud800"',
    '[]',
    '{}',
  ],
  ...['true', 'NO_SUCH_VALUE', '$undeclared', '[[[1]]]', '{a: {b: {c: null}}}', '"\\u{110000}"'],
];

const names = [
  'A',
  'Floor 2',
  'Floor 10',
  'Étage',
  '日本',
  ' ',
  '',
  '/',
  'a/b',
  '.',
  '..',
  'a\0',
  'x'.repeat(256),
  '🌳',
  '\u202e',
  'ﬀ',
  'İ',
  '\ud800',
];
const numbers = [0, 1, 2, 10, 100, 1_000, 1_001, -1, 2 ** 31 - 1, -(2 ** 31)];
const times = [
  '2026-03-01T12:00:00Z',
  '2026-03-01',
  '9999-12-31T23:59:59.999Z',
  '+275760-09-13T00:00:00Z',
  'yesterday',
  '2026-02-30T00:00:00Z',
  '',
];
const paths = ['/', '', '//', '/A', '/A/B', 'A', '/../A', '/A/', '/'.repeat(2_000), '/\0'];

/** Chooses by the name of the argument first, then by its type. */
export function sampleValue(random: Random, name: string, type: string): Sample {
  if (/password/i.test(name)) return random.pick(['short', '', '$PASSWORD$', '$PASSWORD$'.repeat(20)]);
  if (name === 'after' || name === 'before')
    return random.pick(['$CURSOR$', '$LISTCURSOR$', '$CURSOR$x', '', 'AAAA', 'x'.repeat(500), '=']);
  if (name === 'path') return random.pick(paths);
  switch (type) {
    case 'ID':
      return random.pick(listIds(name));
    case 'Int':
      return random.pick(numbers);
    case 'Float':
      return random.pick([...numbers, 1.5, 1e308]);
    case 'Boolean':
      return random.chance(0.5);
    case 'DateTime':
      return random.pick(times);
    case 'JSON':
      return { [random.pick(['a', 'b', 'toString'])]: random.pick([...numbers, ...names, null]) };
    default:
      return random.chance(0.5) ? random.pick(names) : `n${random.below(1_000)}`;
  }
}

function listIds(name: string): string[] {
  const strange = [
    '',
    '0',
    '00000000-0000-4000-8000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '$FOLDERA$x',
    '\0',
  ];
  const existing = /user/i.test(name)
    ? ['$USER$']
    : /group/i.test(name)
      ? ['$GROUP$']
      : ['$FOLDERA$', '$FOLDERB$', '$FOLDERC$', '$USER$', '$GROUP$', '$SESSION$'];
  return [...existing, ...existing, ...existing, ...strange];
}
