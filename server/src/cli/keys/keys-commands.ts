/** The commands about signing keys, in the order of help. */

import type { ListedCommand } from '../command.ts';

export const keysCommands: readonly ListedCommand[] = [
  {
    name: 'keys list',
    about: 'Show the keys that sign auth tokens',
    isMeantByFirstWord: true,
    load: async () => (await import('./list.ts')).listKeys,
  },
  {
    name: 'keys rotate',
    about: 'Publish a new signing key, which signs a little later',
    load: async () => (await import('./rotate.ts')).rotateKey,
  },
  {
    name: 'keys retire',
    about: 'Take a signing key away, with the tokens that it signed',
    load: async () => (await import('./retire.ts')).retireKey,
  },
  {
    name: 'keys seal',
    about: 'Seal the signing keys with the master key, or with another',
    load: async () => (await import('./seal.ts')).encryptKeys,
  },
];
