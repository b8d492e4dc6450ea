/** The actions on a folder: one list for the tree, the tables, the page of the folder and the command palette. */

import { reportDone, reportFailure } from '../../actions/perform.ts';
import type { AccessLevel } from '../../graph/folder-change.ts';
import { navigate, toAddress } from '../../router.tsx';
import { currentView } from '../../session/view-as.ts';
import type { MenuAction } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy.tsx';
import { isCachedFavorite, toggleFavorite } from '../personal-folders.tsx';
import { openTransfer } from '../transfer/transfer.tsx';
import { copyFolder, type FolderRef } from './folder-operations.ts';
import { rightsAt } from './folder-rights.ts';

/** The actions that first ask for input or confirmation, in a dialog or in the row of the tree. */
export type FolderDialogKind = 'create' | 'rename' | 'move' | 'delete';

export interface MenuFolder extends FolderRef {
  readonly path: string;
  readonly accessLevel: AccessLevel;
  /** Undefined for the root. */
  readonly parentLevel: AccessLevel | undefined;
}

export interface FolderAction extends MenuAction {
  readonly id:
    | FolderDialogKind
    | 'open'
    | 'duplicate'
    | 'import'
    | 'export'
    | 'access'
    | 'favorite'
    | `copy-${'link' | 'path' | 'id'}`;
  /** The label with the name of the folder, for the command palette. */
  readonly command: string;
  /** The label for several folders. Without it, the action is for one folder only. */
  readonly labelFor?: (count: number) => string;
  /** Further words that find the command. */
  readonly keywords?: string;
}

export interface FolderMenuOptions {
  readonly open: (kind: FolderDialogKind) => void;
  /** Called when another dialog closes, for example to return the focus. */
  readonly onClose?: () => void;
}

/** Returns what the viewer may do with the folder, in groups. */
export function listFolderActions(
  folder: MenuFolder,
  options: FolderMenuOptions,
): readonly (readonly FolderAction[])[] {
  return [
    listEditActions(folder, options),
    listTreeActions(folder, options),
    listTransferActions(folder, options),
    listPersonalActions(folder),
  ].filter((group) => group.length > 0);
}

/** Adds an action to a list: `...includeIf(isAllowed, action)`. */
function includeIf(isAllowed: boolean, action: FolderAction): readonly FolderAction[] {
  return isAllowed ? [action] : [];
}

function listEditActions(folder: MenuFolder, { open }: FolderMenuOptions): readonly FolderAction[] {
  const { id, name } = folder;
  const rights = rightsOf(folder);
  return [
    {
      id: 'open',
      label: 'Open',
      command: `Open “${name}”`,
      icon: 'folder',
      onAction: () => navigate(`/folders/${id}`),
    },
    ...includeIf(rights.create, {
      id: 'create',
      label: 'New folder…',
      command: `New folder in “${name}”…`,
      icon: 'plus',
      onAction: () => open('create'),
    }),
    ...includeIf(rights.rename, {
      id: 'rename',
      label: 'Rename…',
      command: `Rename “${name}”…`,
      icon: 'edit',
      onAction: () => open('rename'),
    }),
  ];
}

function listTreeActions(folder: MenuFolder, { open }: FolderMenuOptions): readonly FolderAction[] {
  const { name } = folder;
  const rights = rightsOf(folder);
  return [
    ...includeIf(rights.duplicate, {
      id: 'duplicate',
      label: 'Duplicate',
      command: `Duplicate “${name}”`,
      icon: 'copy',
      keywords: 'copy clone',
      onAction: () => void copyFolder(folder),
    }),
    ...includeIf(rights.remove, {
      id: 'move',
      label: 'Move to…',
      command: `Move “${name}” to…`,
      labelFor: (count) => `Move ${count} folders to…`,
      icon: 'move',
      onAction: () => open('move'),
    }),
    ...includeIf(rights.remove, {
      id: 'delete',
      label: 'Delete…',
      command: `Delete “${name}”…`,
      labelFor: (count) => `Delete ${count} folders…`,
      icon: 'trash',
      keywords: 'remove trash',
      isDanger: true,
      onAction: () => open('delete'),
    }),
  ];
}

function listTransferActions(folder: MenuFolder, { onClose }: FolderMenuOptions): readonly FolderAction[] {
  const keywords = 'csv json ndjson file upload download';
  const transfer = (kind: 'import' | 'export') => () =>
    openTransfer({ kind, folder, ...(onClose && { onClose }) });
  return [
    ...includeIf(rightsOf(folder).create, {
      id: 'import',
      label: 'Import…',
      command: `Import into “${folder.name}”…`,
      icon: 'upload',
      keywords,
      onAction: transfer('import'),
    }),
    {
      id: 'export',
      label: 'Export…',
      command: `Export “${folder.name}”…`,
      icon: 'download',
      keywords,
      onAction: transfer('export'),
    },
  ];
}

function listPersonalActions({ id, name, path, accessLevel }: MenuFolder): readonly FolderAction[] {
  const isFavorite = isCachedFavorite(id);
  const manages = accessLevel === 'MANAGE';
  const link = location.origin + toAddress(`/folders/${id}`);
  const createCopyAction = (what: 'link' | 'path' | 'id', text: string): FolderAction => ({
    id: `copy-${what}`,
    label: `Copy ${what}`,
    command: `Copy the ${what} of “${name}”`,
    icon: 'copy',
    onAction: () => void copyLines(what, [text]),
  });
  return [
    {
      id: 'access',
      label: manages ? 'Who has access' : 'Your access',
      command: manages ? `Show who has access to “${name}”` : `Show your access to “${name}”`,
      icon: 'shield',
      keywords: 'grants permissions rights',
      onAction: () => navigate(`/folders/${id}?tab=access`),
    },
    ...includeIf(!currentView, {
      id: 'favorite',
      label: isFavorite ? 'Remove from favorites' : 'Add to favorites',
      command: isFavorite ? `Remove “${name}” from favorites` : `Add “${name}” to favorites`,
      icon: 'star',
      keywords: 'star bookmark',
      onAction: () => void toggleFavorite({ id, name }, !isFavorite),
    }),
    createCopyAction('link', link),
    createCopyAction('path', path),
    createCopyAction('id', id),
  ];
}

/** Copies one or several texts, which are all of the kind `noun`. */
export async function copyLines(noun: 'link' | 'path' | 'id', lines: readonly string[]): Promise<void> {
  const subject = lines.length === 1 ? `the ${noun}` : `${lines.length.toLocaleString('en')} ${noun}s`;
  const text = lines.join('\n');
  if (await copyText(text)) reportDone(`Copied ${subject}`, []);
  else reportFailure(`Could not copy ${subject}: ${text}`);
}

function rightsOf({ accessLevel, parentLevel }: MenuFolder) {
  return rightsAt(accessLevel, parentLevel);
}
