/**
 * Encrypts the private keys in the database with the master key, which is stored elsewhere. A copy of the database is then not
 * enough to sign tokens. Each key is bound to its id, so that keys cannot be exchanged.
 */

import { StartError } from '../config/start-error.ts';
import { decryptBytes, encryptBytes, deriveKey } from '../database/encrypted-bytes.ts';

export interface StoredKey {
  readonly id: string;
  readonly privateKey: Uint8Array;
  /** The id of the master key, or null if the key is not encrypted. */
  readonly sealedWith: string | null;
}

export interface KeyEncryption {
  /** An id of the master key that does not reveal it, or null without a master key. */
  readonly id: string | null;
  /** Returns the key unchanged without a master key. */
  encrypt(id: string, privateKey: Uint8Array): StoredKey;
  /** Returns the private key. Throws a StartError with instructions if it cannot be decrypted. */
  decrypt(stored: StoredKey): Uint8Array;
}

const idBytes = 6;
const ifLost = 'docs/keys.md tells how it is changed, and what to do if it is lost.';

export function createKeyEncryption(masterKey: string | undefined): KeyEncryption {
  if (masterKey === undefined) return noEncryption;
  const derive = (purpose: string) => deriveKey(masterKey, { salt: '', purpose });
  const key = derive('espalier signing keys');
  const keyId = Buffer.from(derive('espalier master key name')).subarray(0, idBytes).toString('hex');
  return {
    id: keyId,
    encrypt: (id, privateKey) => ({ id, privateKey: encryptBytes(privateKey, key, id), sealedWith: keyId }),
    decrypt: ({ id, privateKey, sealedWith }) => {
      if (sealedWith === null) return privateKey;
      const opened = sealedWith === keyId ? decryptBytes(privateKey, key, id) : undefined;
      if (opened) return opened;
      throw new StartError(
        sealedWith === keyId
          ? `The signing key ${id} in the database has been changed by somebody: its seal is broken. Retire it: espalier keys retire ${id}`
          : `The signing key ${id} in the database is sealed with another master key (${sealedWith}; the given one is ${keyId}). Give the one that it was sealed with. ${ifLost}`,
      );
    },
  };
}

const noEncryption: KeyEncryption = {
  id: null,
  encrypt: (id, privateKey) => ({ id, privateKey, sealedWith: null }),
  decrypt: ({ privateKey, sealedWith }) => {
    if (sealedWith === null) return privateKey;
    throw new StartError(
      `The signing keys in the database are sealed with a master key (${sealedWith}), and none is given. Give it by ESPALIER_MASTER_KEY_FILE. ${ifLost}`,
    );
  },
};
