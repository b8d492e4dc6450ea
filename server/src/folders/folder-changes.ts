/**
 * The journal with the eyes of somebody: what each entry did to the folders that they see. A folder that comes into
 * their sight is created for them, and one that leaves it is deleted, whatever really happened to it.
 */

import { compareVisibility, visibilityChange, type AccessChange } from '../access/access-history.ts';
import { accessLevels } from '../access/access.ts';
import type { Access } from '../access/access.ts';
import { type PastTree, readPastAncestry } from '../access/ancestry.ts';
import type { Reader } from '../database/database.ts';
import { detailsOf, type JournalEntry, type JournalPlace } from '../journal/journal-entry.ts';
import type { Effect } from './folder-changes.ts';

export type FolderChangeKind = 'CREATE' | 'UPDATE' | 'MOVE' | 'DELETE' | 'IMPORT' | 'RESYNC';

export interface FolderChange {
  readonly kind: FolderChangeKind;
  /** Whoever knows of this change, and of all before it, may go on after this entry. */
  readonly position: JournalPlace;
  /** Which folder; for an import, where to. None when all is to be read anew. */
  readonly folderId: string | null;
  readonly oldParentId?: string | undefined;
  readonly newParentId?: string | undefined;
  /** How many folders were imported. */
  readonly count?: number | undefined;
  /** Where it is written down; not for what only the viewer's access makes of it. */
  readonly entry?: JournalEntry;
}

/** A change before it is known whether others belong to the same entry. */
export type Effect = Omit<FolderChange, 'place'>;

const { READ } = accessLevels;

export function resyncAt({ number, nonce }: JournalPlace): FolderChange {
  return { kind: 'RESYNC', position: { number, nonce }, folderId: null };
}

/** Only the last of an entry's changes leads beyond it: whoever has missed one of them gets all of them again. */
export function withPositions(
  entry: JournalEntry,
  previous: JournalPlace,
  effects: readonly Effect[],
): FolderChange[] {
  const last = effects.length - 1;
  return effects.map((effect, index) => ({ ...effect, position: index < last ? previous : entry }));
}

/** What an entry did to the folder that it names, with these eyes: inside the folder `under`, or anywhere. */
export function effectOf(entry: JournalEntry, access: Access, under: string | undefined): Effect | undefined {
  const { kind, folderId, pathIds, oldPathIds } = entry;
  if (!folderId || !pathIds) return undefined;
  const isInside = (position: readonly string[]) => under === undefined || position.includes(under);
  const isSeen = isInside(pathIds) && access.sees(pathIds);
  const isRead = isSeen && access.levelAt(pathIds) >= READ;
  const effect = (kindForViewer: FolderChangeKind): Effect => ({ kind: kindForViewer, folderId, entry });

  if (kind === 'CREATE_FOLDER' || kind === 'RESTORE_FOLDER') return isSeen ? effect('CREATE') : undefined;
  if (kind === 'DELETE_FOLDER') return isSeen ? effect('DELETE') : undefined;
  if (kind === 'UPDATE_FOLDER') {
    // Of a passage only the name is shown.
    return isRead || (isSeen && hasNewName(entry)) ? effect('UPDATE') : undefined;
  }
  if (kind === 'IMPORT_FOLDERS') {
    return isRead ? { ...effect('IMPORT'), count: detailsOf(entry.after)['count'] as number } : undefined;
  }
  if (kind !== 'MOVE_FOLDER' || !oldPathIds) return undefined;
  const wasSeen = isInside(oldPathIds) && access.sees(oldPathIds);
  if (!isSeen) return wasSeen ? effect('DELETE') : undefined;
  const isSame =
    wasSeen && visibilityChange({ access, pathIds: oldPathIds }, { access, pathIds }) !== 'uncovered';
  if (!isSame) return effect('CREATE');
  return { ...effect('MOVE'), oldParentId: oldPathIds.at(-2), newParentId: pathIds.at(-2) };
}

/** What a change of access did by itself: the topmost folders that came into sight or left it. */
export async function effectsOfAccess(reader: Reader, change: AccessChange): Promise<readonly Effect[]> {
  if (change.before.hasSameRightsAs(change.after)) return [];
  const effects = await compareVisibility(reader, change);
  return effects.map(({ folderId, effect }) => ({ kind: kindOf[effect], folderId }));
}

export const kindOf = { uncovered: 'CREATE', hidden: 'DELETE', level: 'UPDATE' } as const;

function hasNewName({ after }: JournalEntry): boolean {
  return 'name' in detailsOf(after);
}
export class TrackedFolder {
  readonly id: string;
  /** From the root, or from what was taken off the tree. */
  #way: readonly string[];

  static async at(reader: Reader, position: PastTree, id: string): Promise<TrackedFolder> {
    const ancestry = await readPastAncestry(reader, position, [id]);
    return new TrackedFolder(ancestry.pathFromTop(id));
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
    const difference = visibilityChange({ access, pathIds: before }, { access, pathIds: this.#way });
    if (!difference) return undefined;
    const effect = { kind: kindOf[difference], folderId: this.id };
    // What was done above is not told where it is seen as before.
    return difference === 'level' ? effect : { ...effect, entry };
  }
}
function wayAfter(before: readonly string[], { kind, folderId, pathIds }: JournalEntry): readonly string[] {
  const position = folderId === null ? -1 : before.indexOf(folderId);
  if (position < 0) return before;
  if (kind === 'DELETE_FOLDER') return before.slice(position);
  const isElsewhere = kind === 'MOVE_FOLDER' || kind === 'RESTORE_FOLDER';
  return isElsewhere ? [...pathIds!, ...before.slice(position + 1)] : before;
}
