/** Keeps from writing to a file that is damaged, or no longer in its place; tells the operator once, and clients why. */

import type { DatabaseOptions } from './database.ts';
import { asRefusal, damagedRefusal, damageText, isDamage, movedRefusal, movedText } from './sqlite-errors.ts';
import { watchPlaces } from './sqlite-file.ts';

export interface Guard {
  readonly toRefusal: (error: unknown) => unknown;
  /** What is written to a damaged file may be lost, or make it worse. */
  requireWhole(): void;
  /** SQLite goes on with files that nobody will find again. */
  requireInPlace(): void;
  /** What the operator has to know then; undefined while the files are in their places. */
  readonly findMoved: () => string | undefined;
}

export function createGuard(file: string, tell: NonNullable<DatabaseOptions['tell']>): Guard {
  const lookForMoved = watchPlaces(file);
  let isDamaged = false;
  let movedBefore: string | undefined;
  const findMoved = () => {
    const moved = lookForMoved();
    const text = moved && movedText(moved);
    if (text !== undefined && movedBefore === undefined) tell('error', text);
    if (moved === undefined && movedBefore !== undefined) {
      tell('info', `The file ${movedBefore} is back in its place: changes are written again.`);
    }
    movedBefore = moved;
    return text;
  };
  return {
    findMoved,
    toRefusal: (error) => {
      if (isDamage(error) && !isDamaged) {
        isDamaged = true;
        tell('error', damageText(file, (error as Error).message));
      }
      return asRefusal(error, file);
    },
    requireWhole: () => {
      if (isDamaged) throw damagedRefusal();
    },
    requireInPlace: () => {
      if (findMoved() !== undefined) throw movedRefusal();
    },
  };
}
