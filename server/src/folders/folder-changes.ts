/**
 * The journal with the eyes of somebody: what each entry did to the folders that they see. A folder that comes into
 * their sight is created for them, and one that leaves it is deleted, whatever really happened to it.
 */

import { compareSight, sightEffect, type AccessChange } from '../access/access-difference.ts';
import { accessLevels } from '../access/access-level.ts';
import type { Access } from '../access/access.ts';
import type { Reader } from '../database/database.ts';
import { detailsOf, type JournalEntry, type JournalPlace } from '../journal/journal-entry.ts';

export type FolderChangeKind = 'CREATE' | 'UPDATE' | 'MOVE' | 'DELETE' | 'IMPORT' | 'RESYNC';

export interface FolderChange {
  readonly kind: FolderChangeKind;
  /** Whoever knows of this change, and of all before it, may go on after this entry. */
  readonly place: JournalPlace;
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
  return { kind: 'RESYNC', place: { number, nonce }, folderId: null };
}

/** Only the last of an entry's changes leads beyond it: whoever has missed one of them gets all of them again. */
export function placed(
  entry: JournalEntry,
  previous: JournalPlace,
  effects: readonly Effect[],
): FolderChange[] {
  const last = effects.length - 1;
  return effects.map((effect, index) => ({ ...effect, place: index < last ? previous : entry }));
}

/** What an entry did to the folder that it names, with these eyes: inside the folder `under`, or anywhere. */
export function effectOf(entry: JournalEntry, access: Access, under: string | undefined): Effect | undefined {
  const { kind, folderId, way, oldWay } = entry;
  if (!folderId || !way) return undefined;
  const isInside = (place: readonly string[]) => under === undefined || place.includes(under);
  const isSeen = isInside(way) && access.seesAlong(way);
  const isRead = isSeen && access.levelAlong(way) >= READ;
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
  if (kind !== 'MOVE_FOLDER' || !oldWay) return undefined;
  const wasSeen = isInside(oldWay) && access.seesAlong(oldWay);
  if (!isSeen) return wasSeen ? effect('DELETE') : undefined;
  const isSame = wasSeen && sightEffect({ access, way: oldWay }, { access, way }) !== 'uncovered';
  if (!isSame) return effect('CREATE');
  return { ...effect('MOVE'), oldParentId: oldWay.at(-2), newParentId: way.at(-2) };
}

/** What a change of access did by itself: the topmost folders that came into sight or left it. */
export async function effectsOfAccess(reader: Reader, change: AccessChange): Promise<readonly Effect[]> {
  if (change.before.isLike(change.after)) return [];
  const effects = await compareSight(reader, change);
  return effects.map(({ folderId, effect }) => ({ kind: kindOf[effect], folderId }));
}

export const kindOf = { uncovered: 'CREATE', hidden: 'DELETE', level: 'UPDATE' } as const;

function hasNewName({ after }: JournalEntry): boolean {
  return 'name' in detailsOf(after);
}
