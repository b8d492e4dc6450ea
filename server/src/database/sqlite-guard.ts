/** Keeps from writing to a file that is damaged, or no longer in its place; tells the operator once, and clients why. */

import type { DatabaseOptions } from './database.ts';
import { asRefusal, damagedRefusal, damageText, isDamage, movedRefusal } from './sqlite-errors.ts';
import { watchPlaces } from './sqlite-file.ts';

export interface Guard {
  readonly toRefusal: (error: unknown) => unknown;
  /** What is written to a damaged file may be lost, or make it worse. */
  requireWhole(): void;
  /** With a transaction open. SQLite goes on with files that nobody will find again. */
  requireInPlace(): void;
}

export function createGuard(file: string, tell: NonNullable<DatabaseOptions['tell']>): Guard {
  const findMoved = watchPlaces(file);
  let isDamaged = false;
  let isMoved = false;
  return {
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
      const moved = findMoved();
      if (moved !== undefined && !isMoved) {
        tell(
          'error',
          `The file ${moved} was moved, deleted or replaced while it was used. Put it back, or restart the server.`,
        );
      }
      isMoved = moved !== undefined;
      if (isMoved) throw movedRefusal();
    },
  };
}
