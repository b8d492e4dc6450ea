/**
 * Spent refresh tokens that came back a moment later, as a lost reply or a second tab makes them. They are counted in
 * memory and written down now and then: whoever sends them by the thousand must not cause a write with each.
 */

import type { Database } from '../database/database.ts';
import { recordReplays, type Replays, type TokenUse } from './spent-tokens.ts';

export interface ReplayNotes {
  add(use: TokenUse): void;
  store(database: Database): Promise<void>;
}

/** Of different tokens; what is beyond is not counted. */
const mostNotes = 10_000;

export function createReplayNotes(): ReplayNotes {
  let notes = new Map<string, Replays>();
  return {
    add(use) {
      const key = Buffer.from(use.digest).toString('base64');
      const known = notes.get(key);
      if (known || notes.size < mostNotes) notes.set(key, { ...use, times: (known?.times ?? 0) + 1 });
    },
    async store(database) {
      if (notes.size === 0) return;
      const stored = [...notes.values()];
      notes = new Map();
      await database.change((transaction) => recordReplays(transaction, stored));
    },
  };
}
