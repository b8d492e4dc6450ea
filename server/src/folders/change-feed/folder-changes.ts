/**
 * The changes that a viewer sees in the journal. For the viewer, a folder that becomes visible is a CREATE, and a folder that becomes
 * hidden is a DELETE, whatever the entry did.
 */

import {
  compareVisibility,
  hasAccessChanged,
  visibilityChange,
  type AccessChange,
} from '../../access/access-history.ts';
import { accessLevels, type Access } from '../../access/access.ts';
import { readPastAncestry } from '../../access/ancestry.ts';
import type { ConsistentReader, Reader } from '../../database/database.ts';
import {
  detailsOf,
  hasEntry,
  readEntries,
  readOldest,
  type JournalEntry,
  type JournalKind,
  type JournalPosition,
} from '../../journal/journal-entry.ts';
import type { TreeView } from '../tree-view.ts';

export type FolderChangeKind = 'CREATE' | 'UPDATE' | 'MOVE' | 'DELETE' | 'IMPORT' | 'RESYNC';

export interface FolderChange {
  readonly kind: FolderChangeKind;
  /** A client that has applied this change, and all before it, can continue after this journal entry. */
  readonly position: JournalPosition;
  /** For IMPORT, the folder that contains the new folders. Null for RESYNC. */
  readonly folderId: string | null;
  readonly oldParentId?: string | undefined;
  readonly newParentId?: string | undefined;
  /** For IMPORT, the number of new folders. */
  readonly count?: number | undefined;
  /** Missing if only the viewer's access has changed. */
  readonly entry?: JournalEntry;
}

/** A change whose position is not determined yet, because the same entry may have further changes. */
export type Effect = Omit<FolderChange, 'position'>;

const { READ } = accessLevels;

export function resyncAt({ number, nonce }: JournalPosition): FolderChange {
  return { kind: 'RESYNC', position: { number, nonce }, folderId: null };
}

/**
 * Only the last change of an entry has the entry's position. So a client that has missed one change of an entry receives all its
 * changes again.
 */
export function withPositions(
  entry: JournalEntry,
  previous: JournalPosition,
  effects: readonly Effect[],
): FolderChange[] {
  const last = effects.length - 1;
  return effects.map((effect, index) => ({ ...effect, position: index < last ? previous : entry }));
}

/**
 * The change that a viewer with this access sees in an entry. `under` limits it to this folder and the folders inside it. `before` is the
 * access before the entry.
 */
export function effectOf(
  entry: JournalEntry,
  access: Access,
  under: string | undefined,
  before = access,
): Effect | undefined {
  const { kind, folderId, pathIds, oldPathIds } = entry;
  if (!folderId || !pathIds) return undefined;
  const isInside = (path: readonly string[]) => under === undefined || path.includes(under);
  const isSeen = isInside(pathIds) && access.sees(pathIds);
  const isReadable = isSeen && access.levelAt(pathIds) >= READ;
  const effect = (kindForViewer: FolderChangeKind): Effect => ({ kind: kindForViewer, folderId, entry });

  if (createKinds.includes(kind)) return isSeen ? effect('CREATE') : undefined;
  if (kind === 'DELETE_FOLDER') return isSeen ? effect('DELETE') : undefined;
  if (kind === 'UPDATE_FOLDER') {
    // The viewer sees only the name of a passage.
    return isReadable || (isSeen && hasNewName(entry)) ? effect('UPDATE') : undefined;
  }
  if (kind === 'IMPORT_FOLDERS') {
    return isReadable ? { ...effect('IMPORT'), count: detailsOf(entry.after)['count'] as number } : undefined;
  }
  if (kind !== 'MOVE_FOLDER' || !oldPathIds) return undefined;
  const wasSeen = isInside(oldPathIds) && access.sees(oldPathIds) && before.sees(oldPathIds);
  if (!isSeen) return wasSeen ? effect('DELETE') : undefined;
  const isSame =
    wasSeen && visibilityChange({ access, pathIds: oldPathIds }, { access, pathIds }) !== 'uncovered';
  if (!isSame) return effect('CREATE');
  return { ...effect('MOVE'), oldParentId: oldPathIds.at(-2), newParentId: pathIds.at(-2) };
}

const createKinds: readonly JournalKind[] = ['CREATE_FOLDER', 'RESTORE_FOLDER', 'DUPLICATE_FOLDER'];

function hasNewName({ after }: JournalEntry): boolean {
  return 'name' in detailsOf(after);
}

/** The effects of a change of access: the topmost folders that became visible or hidden. */
export async function effectsOfAccess(reader: Reader, change: AccessChange): Promise<readonly Effect[]> {
  if (change.before.hasSameRightsAs(change.after)) return [];
  const effects = await compareVisibility(reader, change);
  return effects.map(({ folderId, effect }) => ({ kind: kindOf[effect], folderId }));
}

const kindOf = { uncovered: 'CREATE', hidden: 'DELETE', level: 'UPDATE' } as const;

/**
 * The folder that a client follows. Entries about its ancestors, which the client does not receive, can show or hide it. So its
 * path is tracked from entry to entry.
 */
export class TrackedFolder {
  readonly id: string;
  /** From the root, or from a deleted folder. */
  #pathIds: readonly string[];

  /** The folder as it was after the entry `number`; undefined if the client follows all folders. */
  static async at(
    reader: Reader,
    { rootId }: Access,
    number: number,
    id: string | undefined,
  ): Promise<TrackedFolder | undefined> {
    if (id === undefined) return undefined;
    const ancestry = await readPastAncestry(reader, { rootId, number }, [id]);
    return new TrackedFolder(id, ancestry.pathFromTop(id));
  }

  private constructor(id: string, pathIds: readonly string[]) {
    this.id = id;
    this.#pathIds = pathIds;
  }

  /** Must be called with every entry in order. Returns the effect of moving, deleting or restoring an ancestor. */
  apply(entry: JournalEntry, access: Access): Effect | undefined {
    const before = this.#pathIds;
    this.#pathIds = pathAfter(before, entry);
    if (entry.folderId === this.id) return undefined;
    const difference = visibilityChange({ access, pathIds: before }, { access, pathIds: this.#pathIds });
    if (!difference) return undefined;
    const effect = { kind: kindOf[difference], folderId: this.id };
    // If the folder remains visible, the change of its ancestor is not revealed.
    return difference === 'level' ? effect : { ...effect, entry };
  }
}

function pathAfter(before: readonly string[], { kind, folderId, pathIds }: JournalEntry): readonly string[] {
  const index = folderId === null ? -1 : before.indexOf(folderId);
  if (index < 0) return before;
  if (kind === 'DELETE_FOLDER') return before.slice(index);
  const isElsewhere = kind === 'MOVE_FOLDER' || kind === 'RESTORE_FOLDER';
  return isElsewhere ? [...pathIds!, ...before.slice(index + 1)] : before;
}

export interface FollowedFolders {
  /** The last entry that the client has received. */
  readonly after: JournalPosition;
  /** Limits the changes to this folder and the folders inside it. */
  readonly under: string | undefined;
}

export interface ChangePage {
  readonly under: string | undefined;
  readonly changes: readonly FolderChange[];
  /** The position after which the next page begins. */
  readonly position: JournalPosition;
  readonly hasMore: boolean;
}

const batchSize = 200;
const maxScannedPerPage = 10_000;

/** Reads a page of changes after an entry, or starting with the oldest entry. A page scans a bounded number of entries. */
export async function readChanges(
  { reader, access }: TreeView,
  head: JournalPosition,
  { after, under }: Partial<FollowedFolders>,
  first: number,
): Promise<ChangePage> {
  const resync = { under, changes: [resyncAt(head)], position: head, hasMore: false };
  const start = after ?? (await beforeOldest(reader, head));
  const isComplete = after
    ? await canContinueAfter(reader, access, after, head)
    : !(await hasAccessChanged(reader, access, { after: start.number, upTo: head.number }));
  if (!isComplete) return resync;
  const changes: FolderChange[] = [];
  const trackedFolder = await TrackedFolder.at(reader, access, start.number, under);
  let position = start;
  for (let scanned = 0; scanned < maxScannedPerPage; scanned += batchSize) {
    const entries = await readEntries(reader, position.number, batchSize);
    // The journal may have been pruned meanwhile.
    const isPruned = position.number < head.number && entries[0]?.number !== position.number + 1;
    if (isPruned) return resync;
    for (const entry of entries) {
      // The access is older than an entry after the head, so it cannot be used for that entry.
      if (entry.number > head.number) return { under, changes, position, hasMore: true };
      const trackedEffect = trackedFolder?.apply(entry, access);
      const effect = effectOf(entry, access, under) ?? trackedEffect;
      if (effect && changes.length === first) return { under, changes, position, hasMore: true };
      if (effect) changes.push(...withPositions(entry, position, [effect]));
      position = entry;
    }
    if (entries.length < batchSize) return { under, changes, position, hasMore: false };
  }
  return { under, changes, position, hasMore: true };
}

/** The position before the oldest entry, for a client without a cursor. */
async function beforeOldest(reader: ConsistentReader, head: JournalPosition): Promise<JournalPosition> {
  const oldest = await readOldest(reader);
  return oldest === undefined ? head : { number: oldest - 1, nonce: 0 };
}

/**
 * Whether all changes after an entry can be reported: the entry is still in the journal, and the viewer's access has not changed
 * since.
 */
export async function canContinueAfter(
  reader: ConsistentReader,
  access: Access,
  after: JournalPosition,
  head: JournalPosition,
): Promise<boolean> {
  if (after.number > head.number) return false;
  const isEntry = after.number === head.number ? after.nonce === head.nonce : await hasEntry(reader, after);
  return isEntry && !(await hasAccessChanged(reader, access, { after: after.number, upTo: head.number }));
}
