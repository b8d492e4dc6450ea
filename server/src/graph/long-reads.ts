/**
 * Reads that may take long: searches, counts, everything below a folder. All of one moment, with the rights of that
 * moment, and only a few at a time for each person, so that nobody's hold up everybody's.
 */

import type { AccessBook } from '../access/access-book.ts';
import type { Access } from '../access/access.ts';
import type { Database } from '../database/database.ts';
import { viewTree, type TreeView } from '../folders/folders.ts';
import { createPlaces, type Places } from '../places.ts';

export interface LongReads {
  /** Answers also with the access by which it was read: what was taken away meanwhile is not shown. */
  run<T>(userId: string, work: (view: TreeView) => Promise<T>): Promise<{ result: T; access: Access }>;
}

const mostPerPerson = 2;

export function createLongReads(database: Database, accessBook: AccessBook): LongReads {
  const byPerson = new Map<string, Places>();

  return {
    async run(userId, work) {
      const places = byPerson.get(userId) ?? createPlaces(mostPerPerson);
      byPerson.set(userId, places);
      try {
        return await places.use(() =>
          database.snapshot(async (reader) => {
            const { access } = await accessBook.accessIn(reader, userId);
            return { result: await work(viewTree(reader, access)), access };
          }),
        );
      } finally {
        if (places.areEmpty) byPerson.delete(userId);
      }
    },
  };
}
