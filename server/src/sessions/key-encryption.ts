/**
 * The seal on private keys in the database: with a master key, which is kept elsewhere, a copy of the database is not
 * enough to make tokens. Each is sealed under its own name, so that none can be put in the place of another.
 */

import { StartError } from '../config/start-error.ts';
import { openBytes, sealBytes, sealingKey } from '../database/encrypted-bytes.ts';

export interface StoredKey {
  readonly id: string;
  readonly privateKey: Uint8Array;
  /** Names the master key; null if it is not sealed. */
  readonly sealedWith: string | null;
}

export interface KeyEncryption {
  /** Names the master key, and does not tell it; null if there is none. */
  readonly id: string | null;
  /** As it is without a master key. */
  seal(id: string, privateKey: Uint8Array): StoredKey;
  /** The private key; a StartError that says what to do if it cannot be had. */
  open(stored: StoredKey): Uint8Array;
}

const idBytes = 6;
const ifLost = 'docs/keys.md tells how it is changed, and what to do if it is lost.';

export function createKeyEncryption(masterKey: string | undefined): KeyEncryption {
  if (masterKey === undefined) return noSeal;
  const derive = (purpose: string) => sealingKey(masterKey, { salt: '', purpose });
  const key = derive('espalier signing keys');
  const sealId = Buffer.from(derive('espalier master key name')).subarray(0, idBytes).toString('hex');
  return {
    id: sealId,
    seal: (id, privateKey) => ({ id, privateKey: sealBytes(privateKey, key, id), sealedWith: sealId }),
    open: ({ id, privateKey, sealedWith }) => {
      if (sealedWith === null) return privateKey;
      const opened = sealedWith === sealId ? openBytes(privateKey, key, id) : undefined;
      if (opened) return opened;
      throw new StartError(
        sealedWith === sealId
          ? `The signing key ${id} in the database has been changed by somebody: its seal is broken. Retire it: espalier keys retire ${id}`
          : `The signing key ${id} in the database is sealed with another master key (${sealedWith}; the given one is ${sealId}). Give the one that it was sealed with. ${ifLost}`,
      );
    },
  };
}

const noSeal: KeyEncryption = {
  id: null,
  seal: (id, privateKey) => ({ id, privateKey, sealedWith: null }),
  open: ({ privateKey, sealedWith }) => {
    if (sealedWith === null) return privateKey;
    throw new StartError(
      `The signing keys in the database are sealed with a master key (${sealedWith}), and none is given. Give it by ESPALIER_MASTER_KEY_FILE. ${ifLost}`,
    );
  },
};
