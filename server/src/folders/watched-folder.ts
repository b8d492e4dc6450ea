/**
 * The folder to which somebody's look is limited. It comes and goes with those above it, of which they are not told:
 * so it is known at each entry where it was then.
 */

import { sightEffect } from '../access/access-difference.ts';
import type { Access } from '../access/access.ts';
import { ancestryAt, type PastPlace } from '../access/past-ancestry.ts';
import type { Reader } from '../database/database.ts';
import type { JournalEntry } from '../journal/journal-entry.ts';
import { kindOf, type Effect } from './folder-changes.ts';

export class WatchedFolder {
  readonly id: string;
  /** From the root, or from what was taken off the tree. */
  #way: readonly string[];

  static async at(reader: Reader, place: PastPlace, id: string): Promise<WatchedFolder> {
    const ancestry = await ancestryAt(reader, place, [id]);
    return new WatchedFolder(ancestry.wayFromTop(id));
  }

  private constructor(way: readonly string[]) {
    this.id = way.at(-1)!;
    this.#way = way;
  }

  /** To be told of every entry in order; answers what it did by moving, deleting or restoring one above. */
  follow(entry: JournalEntry, access: Access): Effect | undefined {
    const before = this.#way;
    this.#way = wayAfter(before, entry);
    if (entry.folderId === this.id) return undefined;
    const difference = sightEffect({ access, way: before }, { access, way: this.#way });
    if (!difference) return undefined;
    const effect = { kind: kindOf[difference], folderId: this.id };
    // What was done above is not told where it is seen as before.
    return difference === 'level' ? effect : { ...effect, entry };
  }
}

function wayAfter(before: readonly string[], { kind, folderId, way }: JournalEntry): readonly string[] {
  const place = folderId === null ? -1 : before.indexOf(folderId);
  if (place < 0) return before;
  if (kind === 'DELETE_FOLDER') return before.slice(place);
  const isElsewhere = kind === 'MOVE_FOLDER' || kind === 'RESTORE_FOLDER';
  return isElsewhere ? [...way!, ...before.slice(place + 1)] : before;
}
