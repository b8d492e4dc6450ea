/** The dialogs for changing a folder, on its page and in the table of subfolders. Only one is open at a time. */

import { updateFolder } from '../actions/folder-actions.ts';
import { useState } from 'react';
import { navigate } from '../router.tsx';
import { DeleteDialog } from '../tree/edit/delete-dialog.tsx';
import type { FolderDialogKind } from '../tree/edit/folder-menu.ts';
import { changeFolder, type FolderRef } from '../tree/edit/folder-operations.ts';
import { MoveDialog } from '../tree/edit/move-dialog.tsx';
import { NewFolderDialog } from '../tree/edit/new-folder-dialog.tsx';
import { ActionDialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/fields.tsx';

export interface OpenDialog {
  readonly kind: FolderDialogKind;
  /** Only the dialogs that move and delete accept several folders. */
  readonly folders: readonly FolderRef[];
}

interface FolderDialogsProps {
  readonly open: OpenDialog | null;
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
}

export function FolderDialogs({ open, onClose, onDeleted }: FolderDialogsProps) {
  if (!open) return null;
  const { kind, folders } = open;
  const [folder] = folders;
  if (!folder) return null;
  switch (kind) {
    case 'create':
      return (
        <NewFolderDialog parent={folder} onClose={onClose} onCreated={(id) => navigate(`/folders/${id}`)} />
      );
    case 'rename':
      return <RenameDialog folder={folder} onClose={onClose} />;
    case 'move':
      return <MoveDialog folders={folders} onClose={onClose} />;
    case 'delete':
      return <DeleteDialog folders={folders} onClose={onClose} {...(onDeleted ? { onDeleted } : {})} />;
  }
}

function RenameDialog({ folder, onClose }: { folder: FolderRef; onClose: () => void }) {
  const [name, setName] = useState(folder.name);
  return (
    <ActionDialog
      title={`Rename “${folder.name}”`}
      verb="Rename"
      call={{ action: updateFolder, variables: { input: { id: folder.id, name } } }}
      isReady={name !== '' && name !== folder.name}
      onSubmit={() => changeFolder(folder, { name }, { name: folder.name })}
      onClose={onClose}
    >
      <TextField
        label="Name"
        name="name"
        value={name}
        onChange={setName}
        help="Must be unique in the parent folder. No slashes, at most 255 characters."
        autoFocus
      />
    </ActionDialog>
  );
}
