/** What each signing key is for, and until when: as operators are shown it. Nothing of a key itself. */

import { signingAt, type KeyRow } from './signing-keys.ts';
import { verifiesUntil } from './sweep-keys.ts';

export type KeyState = 'published' | 'signs' | 'verifies';

export interface ShownKey {
  readonly id: string;
  readonly state: KeyState;
  readonly createdAt: number;
  readonly signsFrom: number;
  /** From then on nothing that it signed can be in use; null while it signs, and before. */
  readonly neededUntil: number | null;
  /** Names the master key; null if it is not sealed. */
  readonly sealedWith: string | null;
}

/** Of keys in their order, the newest first. */
export function keyStates(
  rows: readonly KeyRow[],
  { now, refreshTokenSeconds }: { readonly now: number; readonly refreshTokenSeconds: number },
): ShownKey[] {
  const signing = signingAt(rows, now);
  return rows.map((row, place) => {
    const { id, createdAt, signsFrom, sealedWith } = row;
    const successor = rows[place - 1];
    const isOver = successor !== undefined && successor.signsFrom <= now;
    return {
      id,
      state: row === signing ? 'signs' : isOver ? 'verifies' : 'published',
      createdAt,
      signsFrom: Math.max(signsFrom, createdAt),
      neededUntil: isOver ? verifiesUntil(successor, refreshTokenSeconds) : null,
      sealedWith,
    };
  });
}
