/**
 * The folders that each user has marked as favorites, and the ones that the user visited last. Only this user reads them, so they
 * are not part of the journal, and changing them does not take the journal's lock.
 */

import type { Access } from '../access/access.ts';
import { cannotLogIn } from '../access/access-cache.ts';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { forKeyShare, forUpdate, isRowId, list, sql } from '../database/statement.ts';
import type { Caller, Changed, ChangeRunner } from '../journal/change-runner.ts';
import { Refusal } from '../refusal.ts';
import { sortKey } from './folder-texts.ts';
import {
  noSuchFolder,
  readFolders,
  requireFolder,
  viewTree,
  type Folder,
  type TreeView,
} from './tree-view.ts';

type Kind = 'favorite' | 'recent';

export const maxFavorites = 200;
export const maxRecentFolders = 20;

interface PersonalList {
  readonly userId: string;
  readonly kind: Kind;
}
type Row = PersonalList & { readonly folderId: string };

const isInPersonalList = sql`user_id = ${'userId'} and kind = ${'kind'}`;

const findAll = sql<PersonalList, { id: string; markedAt: number }>`
  select folder_id as id, marked_at as "markedAt" from personal_folders
  where ${isInPersonalList} order by marked_at desc, folder_id desc`;
const findUserForUpdate = sql<{ userId: string }, { id: string }>`
  select id from users where id = ${'userId'} ${forUpdate}`;
const findFolderToRefer = sql<{ folderId: string }, { id: string }>`
  select id from folders where id = ${'folderId'} ${forKeyShare}`;
const putRow = sql<Row & { now: number }>`
  insert into personal_folders (user_id, kind, folder_id, marked_at)
  values (${'userId'}, ${'kind'}, ${'folderId'}, ${'now'})
  on conflict (user_id, kind, folder_id) do update set marked_at = excluded.marked_at`;
const removeByIds = sql<PersonalList & { ids: readonly string[] }>`
  delete from personal_folders where ${isInPersonalList} and folder_id in (select value from ${list('ids')})`;

export class PersonalFolders {
  readonly #changes: Pick<ChangeRunner<Access>, 'runUnrecorded'>;

  constructor(changes: Pick<ChangeRunner<Access>, 'runUnrecorded'>) {
    this.#changes = changes;
  }

  /** Only a folder that the caller sees can become a favorite. */
  setFavorite(
    caller: Caller,
    { folderId, isFavorite }: { readonly folderId: string; readonly isFavorite: boolean },
  ): Promise<Changed<void>> {
    refuseApiKey(caller);
    const personalList = { userId: caller.userId, kind: 'favorite' } as const;
    return this.#changes.runUnrecorded(caller, {
      read: async (snapshot, access) => {
        const view = viewTree(snapshot, access);
        if (isFavorite) await requireFolder(view, folderId);
        const ids = await readIds(snapshot, personalList);
        if (ids.includes(folderId) === isFavorite) return undefined;
        const visible = isFavorite && ids.length >= maxFavorites ? await readFolders(view, ids) : undefined;
        return { hiddenIds: visible ? ids.filter((id) => !visible.has(id)) : [] };
      },
      write: async (transaction, { hiddenIds }, now) => {
        if (!isFavorite) {
          if (isRowId(folderId)) await transaction.run(removeByIds, { ...personalList, ids: [folderId] });
          return;
        }
        await lockUser(transaction, caller);
        // Favorites that the user no longer sees are removed to make room for others.
        if (hiddenIds.length > 0) await transaction.run(removeByIds, { ...personalList, ids: hiddenIds });
        const ids = await readIds(transaction, personalList);
        if (ids.length >= maxFavorites && !ids.includes(folderId)) {
          throw new Refusal(
            'CONFLICT',
            `You have ${maxFavorites} favorites, which is the limit. Remove one first.`,
          );
        }
        await putFolder(transaction, { ...personalList, folderId, now });
      },
    });
  }

  /** Repeating the latest visit writes nothing. */
  visit(caller: Caller, { folderId }: { readonly folderId: string }): Promise<Changed<void>> {
    refuseApiKey(caller);
    const personalList = { userId: caller.userId, kind: 'recent' } as const;
    return this.#changes.runUnrecorded(caller, {
      read: async (snapshot, access) => {
        await requireFolder(viewTree(snapshot, access), folderId);
        const [latest] = await readIds(snapshot, personalList);
        return latest === folderId ? undefined : {};
      },
      write: async (transaction, _, now) => {
        await lockUser(transaction, caller);
        const [latest] = await transaction.all(findAll, personalList);
        // The visit must be later than the previous one, even if the clock of another node is ahead.
        await putFolder(transaction, {
          ...personalList,
          folderId,
          now: Math.max(now, (latest?.markedAt ?? 0) + 1),
        });
        const ids = (await readIds(transaction, personalList)).slice(maxRecentFolders);
        if (ids.length > 0) await transaction.run(removeByIds, { ...personalList, ids });
      },
    });
  }
}

/** A key sees only some of the favorites, so it must not remove those that it does not see. */
function refuseApiKey({ apiKeyId }: Caller): void {
  if (apiKeyId === undefined) return;
  throw new Refusal(
    'FORBIDDEN',
    'An API key cannot change favorites or recent folders. Log in and use an auth token.',
  );
}

/**
 * Prevents two requests from adding a favorite at the same time. Refuses a user who was deleted since the rights were read.
 */
async function lockUser(transaction: Transaction, { userId }: Caller): Promise<void> {
  if (!(await transaction.get(findUserForUpdate, { userId }))) throw cannotLogIn();
}

/** Refuses a folder that was purged since it was read. */
async function putFolder(transaction: Transaction, row: Row & { readonly now: number }): Promise<void> {
  const { folderId } = row;
  if (!(await transaction.get(findFolderToRefer, { folderId }))) throw noSuchFolder(folderId);
  await transaction.run(putRow, row);
}

async function readIds(reader: Reader, personalList: PersonalList): Promise<readonly string[]> {
  return (await reader.all(findAll, personalList)).map(({ id }) => id);
}

/** Includes folders that the user does not see. */
export function readFavoriteIds(reader: Reader, userId: string): Promise<readonly string[]> {
  return readIds(reader, { userId, kind: 'favorite' });
}

/** The visited folders that the user sees, latest first. */
export async function readRecentFolders(view: TreeView, first: number): Promise<readonly Folder[]> {
  const ids = await readIds(view.reader, { userId: view.access.userId, kind: 'recent' });
  const visible = await readFolders(view, ids);
  return ids.flatMap((id) => visible.get(id) ?? []).slice(0, first);
}

/** A position in a list of folders in the natural order of their names. */
export type NamePosition = Pick<Folder, 'id' | 'name'>;

/** The folders that the viewer sees, in the natural order of their names. */
export function readSortedByName(view: TreeView, ids: readonly string[]): PromiseOrValue<readonly Folder[]> {
  return whenDone(readFolders(view, ids), (found) => {
    const foldersWithKeys = [...found.values()].map((folder) => ({ folder, ...keyOf(folder) }));
    return foldersWithKeys.sort(compareKeys).map(({ folder }) => folder);
  });
}

/** The index of the first folder after a position, which need not be in the list. */
export function indexAfter(sorted: readonly Folder[], position: NamePosition): number {
  const index = sorted.findIndex((folder) => compareKeys(keyOf(folder), keyOf(position)) > 0);
  return index < 0 ? sorted.length : index;
}

interface NameKey {
  readonly id: string;
  readonly key: Uint8Array;
}

function keyOf({ id, name }: NamePosition): NameKey {
  return { id, key: sortKey(name) };
}

function compareKeys(one: NameKey, other: NameKey): number {
  return Buffer.compare(one.key, other.key) || (one.id < other.id ? -1 : Number(one.id > other.id));
}
