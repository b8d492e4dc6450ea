/** Saves the draft of a folder, unless it conflicts with changes by other users. */

import type { FolderTexts } from '../../actions/folder-actions.ts';
import { describeProblem } from '../../graph/problem.ts';
import { queries, type GraphQueryKey } from '../../graph/use-graph.ts';
import { whileSignedIn } from '../../session/session-data.ts';
import { changeFolder, toFolderRef } from '../../tree/edit/folder-operations.ts';
import {
  rebaseDraft,
  collectChanges,
  findConflicts,
  collectSavedValues,
  isDirty,
  toSavedFields,
  applyChanges,
} from './draft.ts';
import { drafts } from './draft-store.ts';
import type { CurrentFolder } from '../current-folder.ts';

const maxAttempts = 4;

/** Does nothing if the draft has conflicts or invalid properties. Rejects with all other errors. */
export async function saveDraft(folderId: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const folder = readCachedFolder(folderId);
    const draft = draftOf(folderId);
    if (!folder || !draft) return;
    const saved = toSavedFields(folder);
    const changes = collectChanges(draft, saved);
    if (!changes || findConflicts(draft, saved).length > 0) return;
    try {
      const { version: expectedVersion } = saved;
      const before = collectSavedValues(changes, saved);
      const version = await changeFolder(toFolderRef(folder), { ...changes, expectedVersion }, before);
      applySaved(folderId, changes, version);
      break;
    } catch (error) {
      if (describeProblem(error).code !== 'CONFLICT' || attempt === maxAttempts) throw error;
      // Another user has changed the folder. If other fields changed, the next attempt succeeds.
      await refetchFolder(folderId);
    }
  }
  await refetchFolder(folderId);
  dropIfSaved(folderId);
}

/** Updates the cached folder and the draft before the folder is read again. */
function applySaved(id: string, changes: FolderTexts, version: number): void {
  queries.setQueryData<{ folder: CurrentFolder | null }>(pageQueryKey(id), (cached) =>
    cached?.folder ? { folder: applyChanges(cached.folder, changes, version) } : cached,
  );
  const stored = drafts.read().find(({ folderId }) => folderId === id);
  if (stored) drafts.put({ ...stored, draft: rebaseDraft(stored.draft, changes) });
}

/** Keeps text that was typed during the save. */
function dropIfSaved(folderId: string): void {
  const folder = readCachedFolder(folderId);
  const draft = draftOf(folderId);
  if (folder && draft && !isDirty(draft, toSavedFields(folder))) drafts.drop(folderId);
}

function draftOf(id: string) {
  return drafts.read().find(({ folderId }) => folderId === id)?.draft;
}

const pageQueryKey = (id: string): GraphQueryKey => ['folder', id, 'page'];

function readCachedFolder(id: string): CurrentFolder | null | undefined {
  return queries.getQueryData<{ folder: CurrentFolder | null }>(pageQueryKey(id))?.folder;
}

function refetchFolder(id: string): Promise<void> {
  return whileSignedIn(queries.refetchQueries({ queryKey: pageQueryKey(id) }));
}
