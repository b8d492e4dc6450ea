/**
 * The journal with the eyes of somebody: what each entry did to the folders that they see. A folder that comes into
 * their sight is created for them, and one that leaves it is deleted, whatever really happened to it.
 */

import { compareSight } from '../access/access-difference.ts';
import { accessLevels } from '../access/access-level.ts';
import type { Access } from '../access/access.ts';
import { Ancestry } from '../access/ancestry.ts';
import type { Reader } from '../database/database.ts';
import type { JournalEntry } from '../journal/journal-entry.ts';

export type FolderChangeKind = 'CREATE' | 'UPDATE' | 'MOVE' | 'DELETE' | 'IMPORT' | 'RESYNC';

export interface FolderChange {
  readonly kind: FolderChangeKind;
  /** Whoever knows of this change, and of all before it, may go on after this number. */
  readonly number: number;
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
export type Effect = Omit<FolderChange, 'number'>;

export interface Sight {
  readonly before: Access;
  readonly after: Access;
  /** Only this folder and what is inside. */
  readonly under: string | undefined;
}

const { READ } = accessLevels;

export function resyncAt(number: number): FolderChange {
  return { kind: 'RESYNC', number, folderId: null };
}

/** Only the last of an entry's changes leads beyond it: whoever has missed one of them gets all of them again. */
export function numbered(entry: JournalEntry, effects: readonly Effect[]): FolderChange[] {
  const last = effects.length - 1;
  return effects.map((effect, place) => ({ ...effect, number: entry.number - (place < last ? 1 : 0) }));
}

/** What an entry itself did for somebody whose access was `before`, and is `after` by now. */
export function effectOf(entry: JournalEntry, { before, after, under }: Sight): Effect | undefined {
  const { kind, folderId, way, oldWay } = entry;
  if (!folderId || !way) return undefined;
  const isInside = (place: readonly string[]) => under === undefined || place.includes(under);
  const sees = (access: Access, place: readonly string[]) =>
    isInside(place) && access.isVisible(place.at(-1)!, access.levelAlong(place));
  const reads = (access: Access, place: readonly string[]) => access.levelAlong(place) >= READ;
  const effect = (kindForViewer: FolderChangeKind): Effect => ({ kind: kindForViewer, folderId, entry });

  if (kind === 'CREATE_FOLDER' || kind === 'RESTORE_FOLDER') {
    return sees(after, way) ? effect('CREATE') : undefined;
  }
  if (kind === 'UPDATE_FOLDER') {
    // Of a passage only the name is shown.
    return sees(after, way) && (reads(after, way) || hasNewName(entry)) ? effect('UPDATE') : undefined;
  }
  if (kind === 'IMPORT_FOLDERS') {
    const isSeen = isInside(way) && reads(after, way);
    return isSeen ? { ...effect('IMPORT'), count: detailsOf(entry.after)['count'] as number } : undefined;
  }
  if (kind === 'DELETE_FOLDER') {
    return sees(before, way) || sees(after, way) ? effect('DELETE') : undefined;
  }
  if (kind !== 'MOVE_FOLDER' || !oldWay) return undefined;
  const wasSeen = sees(before, oldWay) || sees(after, oldWay);
  if (!sees(after, way)) return wasSeen ? effect('DELETE') : undefined;
  if (!wasSeen || reads(before, oldWay) !== reads(after, way)) return effect('CREATE');
  return { ...effect('MOVE'), oldParentId: oldWay.at(-2), newParentId: way.at(-2) };
}

/** What a change of access did by itself. The topmost folders that came into sight or left it. */
export async function effectsOfAccess(
  reader: Reader,
  { before, after, under }: Sight,
): Promise<readonly Effect[]> {
  if (before === after) return [];
  const ancestry = new Ancestry(reader, after.rootId);
  const effects = await compareSight(before, after, { ancestry, under });
  return effects.map(({ folderId, effect }) => ({ kind: kindOf[effect], folderId }));
}

const kindOf = { uncovered: 'CREATE', hidden: 'DELETE', level: 'UPDATE' } as const;

function hasNewName({ after }: JournalEntry): boolean {
  return 'name' in detailsOf(after);
}

function detailsOf(text: string | null): Record<string, unknown> {
  return text === null ? {} : (JSON.parse(text) as Record<string, unknown>);
}
