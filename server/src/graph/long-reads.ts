/**
 * Reads that may take long: searches, exports, everything below a folder. All of one moment, with the rights of that
 * moment, and only a few at a time for each person, so that nobody's hold up everybody's.
 */

import { visit, type DocumentNode } from 'graphql';
import type { AccessBook, Standing } from '../access/access-book.ts';
import type { Database, Reader } from '../database/database.ts';
import { createPlaces, type Places } from '../places.ts';
import type { FairTurns } from './fair-turns.ts';

export interface LongReads {
  run<T>(userId: string, work: (reader: Reader, standing: Standing) => Promise<T>): Promise<T>;
}

const mostPerPerson = 2;

/** Whoever asks for one of them has the whole answer read as one that takes long. */
const longFields = new Set(['search', 'descendants', 'exportFolders']);
const known = new WeakMap<DocumentNode, boolean>();

export function takesLong(document: DocumentNode): boolean {
  let found = known.get(document);
  if (found === undefined) {
    found = false;
    visit(document, { Field: ({ name }) => void (found ||= longFields.has(name.value)) });
    known.set(document, found);
  }
  return found;
}

export function createLongReads(
  database: Database,
  accessBook: AccessBook,
  turns: Pick<FairTurns, 'wait'>,
): LongReads {
  const byPerson = new Map<string, Places>();

  return {
    async run(userId, work) {
      const places = byPerson.get(userId) ?? createPlaces(mostPerPerson);
      byPerson.set(userId, places);
      try {
        return await places.use(() =>
          turns.wait(userId, () =>
            database.snapshot(async (reader) => work(reader, await accessBook.accessIn(reader, userId))),
          ),
        );
      } finally {
        if (places.taken === 0) byPerson.delete(userId);
      }
    },
  };
}
