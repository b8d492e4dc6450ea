/**
 * Import and export of folders: the open dialog, and files that are dropped on a folder of the tree or on the page of a
 * folder. The dialogs are loaded when one opens.
 */

import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import { reportFailure } from '../../actions/perform.ts';
import type { FolderRow } from '../../graph/live.tsx';
import { onSignOut } from '../../session/session-data.ts';
import { formatLevel } from '../../ui/access-level.tsx';
import { Name } from '../../ui/text.tsx';
import { rightsOf } from '../edit/folder-rights.ts';
import { mainTree } from '../tree.ts';
import type { TransferFolder } from './import-run.ts';
import './transfer.css';

export interface Transfer {
  readonly kind: 'import' | 'export';
  readonly folder: TransferFolder;
  /** A file that was dropped on the folder. */
  readonly file?: File;
  /** Called when the dialog closes, for example to return the focus. */
  readonly onClose?: () => void;
}

const ImportDialog = lazy(async () => ({ default: (await import('./import-dialog.tsx')).ImportDialog }));
const ExportDialog = lazy(async () => ({ default: (await import('./export-dialog.tsx')).ExportDialog }));

const listeners = new Set<() => void>();
let current: Transfer | null = null;

function setTransfer(transfer: Transfer | null): void {
  current = transfer;
  for (const listener of listeners) listener();
}

onSignOut(() => setTransfer(null));

/** Opens the dialog for an import or an export. */
export const openTransfer: (transfer: Transfer) => void = setTransfer;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Transfers() {
  const transfer = useSyncExternalStore(subscribe, () => current);
  const target = useFileDrop();
  const close = () => {
    setTransfer(null);
    transfer?.onClose?.();
  };
  return (
    <>
      {target && <DropHint target={target} />}
      <Suspense>
        {transfer?.kind === 'import' && <ImportDialog {...transfer} onClose={close} />}
        {transfer?.kind === 'export' && <ExportDialog {...transfer} onClose={close} />}
      </Suspense>
    </>
  );
}

interface DropTarget {
  readonly folder: FolderRow;
  readonly rect: DOMRect;
}

/** Shows the folder into which a dropped file is imported. The hint covers the target, but does not receive the drop. */
function DropHint({ target: { folder, rect } }: { target: DropTarget }) {
  const { left, top, width, height } = rect;
  const isAllowed = mayImport(folder);
  return (
    <div
      className="drop-hint"
      data-refused={!isAllowed || undefined}
      style={{ left, top, width, height }}
      aria-hidden="true"
    >
      <span className="drop-hint-text">
        <Name>{isAllowed ? `Import into “${folder.name}”` : `You cannot import into “${folder.name}”`}</Name>
      </span>
    </div>
  );
}

function mayImport(folder: FolderRow): boolean {
  return rightsOf(mainTree.store, folder).create;
}

/** Returns the target under a dragged file. A file that is dropped elsewhere would replace the page in the browser. */
function useFileDrop(): DropTarget | null {
  const [target, setTarget] = useState<DropTarget | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const onDragOver = (event: DragEvent) => {
      if (event.defaultPrevented || !event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      const found = findTarget(event);
      event.dataTransfer.dropEffect = found ? 'copy' : 'none';
      setTarget((before) => (isSameTarget(before, found) ? before : found));
    };
    const onDragLeave = ({ relatedTarget }: DragEvent) => relatedTarget === null && setTarget(null);
    const onDrop = (event: DragEvent) => {
      setTarget(null);
      if (event.defaultPrevented || !event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      const found = findTarget(event);
      if (found) dropFiles(event.dataTransfer, found.folder);
    };
    addEventListener('dragover', onDragOver, { signal });
    addEventListener('dragleave', onDragLeave, { signal });
    addEventListener('drop', onDrop, { signal });
    return () => controller.abort();
  }, []);
  return target;
}

/** Finds the folder of a tree row, or else the folder of the page. Returns null while a dialog is open. */
function findTarget({ target }: DragEvent): DropTarget | null {
  if (!(target instanceof Element) || document.querySelector('[role=dialog]')) return null;
  const { store } = mainTree;
  const row = target.closest<HTMLElement>('.tree-pane [role=tree] [data-index]');
  const page = target.closest<HTMLElement>('[data-folder-id]');
  const pageId = page?.dataset['folderId'];
  const ofPage = pageId === 'root' ? store.root : store.folder(pageId ?? '');
  const folder = row ? store.rowAt(Number(row.dataset['index']))?.folder : page && ofPage;
  const area = row ?? page;
  return folder && area ? { folder, rect: area.getBoundingClientRect() } : null;
}

function isSameTarget(one: DropTarget | null, other: DropTarget | null): boolean {
  return one?.folder === other?.folder && one?.rect.top === other?.rect.top;
}

function dropFiles(data: DataTransfer, folder: FolderRow): void {
  const problem = findProblem(data, folder);
  if (problem !== undefined) reportFailure(problem);
  else openTransfer({ kind: 'import', folder, file: data.files[0]! });
}

/** Explains why the files cannot be imported, before any file is read. */
function findProblem(data: DataTransfer, folder: FolderRow): string | undefined {
  if (!mayImport(folder)) {
    const level =
      folder.accessLevel === 'NONE' ? 'no access' : `only ${formatLevel(folder.accessLevel)} access`;
    return `Nothing was imported, because you have ${level} to “${folder.name}”. An import needs ${formatLevel('WRITE')} access.`;
  }
  const isDirectory = [...data.items].some((item) => item.webkitGetAsEntry()?.isDirectory);
  if (isDirectory) {
    return 'Nothing was imported, because this is a directory. Drop a CSV, JSON or NDJSON file, or run “espalier folder import” on the directory.';
  }
  const { length } = data.files;
  return length === 1
    ? undefined
    : `Nothing was imported, because these are ${length} files. Drop one file at a time.`;
}
