/** Saves what was typed of a folder, unless it would overwrite what somebody else did meanwhile. */

import type { FolderTexts } from '../../actions/folder-actions.ts';
import { describeProblem } from '../../graph/problem.ts';
import { queries, type GraphQueryKey } from '../../graph/use-graph.ts';
import { whileSignedIn } from '../../session/session-data.ts';
import { changeFolder, toFolderRef } from '../../tree/edit/folder-operations.ts';
import { afterSaving, changesOf, clashesOf, formerOf, isDirty, savedOf, withChanges } from './draft.ts';
import { drafts } from './draft-store.ts';
import type { OpenFolder } from '../open-folder.ts';

const mostAttempts = 4;

/** Leaves the draft as it is where it clashes or is not right yet. Rejects with any other refusal. */
export async function saveDraft(folderId: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const folder = readFolder(folderId);
    const draft = draftOf(folderId);
    if (!folder || !draft) return;
    const saved = savedOf(folder);
    const changes = changesOf(draft, saved);
    if (!changes || clashesOf(draft, saved).length > 0) return;
    try {
      const { version: expectedVersion } = saved;
      const former = formerOf(changes, saved);
      const version = await changeFolder(toFolderRef(folder), { ...changes, expectedVersion }, former);
      noteSaved(folderId, changes, version);
      break;
    } catch (error) {
      if (describeProblem(error).code !== 'CONFLICT' || attempt === mostAttempts) throw error;
      // Others have been at it: if they changed something else, it can be saved all the same.
      await readAgain(folderId);
    }
  }
  await readAgain(folderId);
  dropIfSaved(folderId);
}

/** On the page as well, which is read again only now. */
function noteSaved(id: string, changes: FolderTexts, version: number): void {
  queries.setQueryData<{ folder: OpenFolder | null }>(aboutPage(id), (read) =>
    read?.folder ? { folder: withChanges(read.folder, changes, version) } : read,
  );
  const one = drafts.read().find(({ folderId }) => folderId === id);
  if (one) drafts.put({ ...one, draft: afterSaving(one.draft, changes) });
}

/** What was typed while it was being saved stays. */
function dropIfSaved(folderId: string): void {
  const folder = readFolder(folderId);
  const draft = draftOf(folderId);
  if (folder && draft && !isDirty(draft, savedOf(folder))) drafts.drop(folderId);
}

function draftOf(id: string) {
  return drafts.read().find(({ folderId }) => folderId === id)?.draft;
}

const aboutPage = (id: string): GraphQueryKey => ['folder', id, 'page'];

function readFolder(id: string): OpenFolder | null | undefined {
  return queries.getQueryData<{ folder: OpenFolder | null }>(aboutPage(id))?.folder;
}

function readAgain(id: string): Promise<void> {
  return whileSignedIn(queries.refetchQueries({ queryKey: aboutPage(id) }));
}
