/** The commands about signing keys, in the order of help. */

import type { ListedCommand } from '../command.ts';

export const keysCommands: readonly ListedCommand[] = [
  {
    name: 'keys list',
    about: 'List the keys that sign auth tokens',
    isGroupDefault: true,
    load: async () => (await import('./list.ts')).listKeys,
  },
  {
    name: 'keys rotate',
    about: 'Publish a new signing key, which becomes active later',
    load: async () => (await import('./rotate.ts')).rotateKey,
  },
  {
    name: 'keys retire',
    about: 'Retire a signing key and invalidate the tokens that it signed',
    load: async () => (await import('./retire.ts')).retireKey,
  },
  {
    name: 'keys seal',
    about: 'Seal the signing keys with a master key',
    load: async () => (await import('./seal.ts')).encryptKeys,
  },
];
