/** The dialogs of what can be done with a folder, of which one is open at a time: on its page, or in the table above it. */

import { updateFolder } from '../actions/folder-actions.ts';
import { useState } from 'react';
import { navigate } from '../router.tsx';
import { DeleteDialog } from '../tree/edit/delete-dialog.tsx';
import { changeFolder, type FolderRef } from '../tree/edit/folder-operations.ts';
import { MoveDialog } from '../tree/edit/move-dialog.tsx';
import { NewFolderDialog } from '../tree/edit/new-folder-dialog.tsx';
import { ActionDialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/fields.tsx';

export interface OpenDialog {
  readonly kind: 'new' | 'rename' | 'move' | 'delete';
  readonly folder: FolderRef;
}

interface FolderWorkDialogsProps {
  readonly open: OpenDialog | null;
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
}

export function FolderWorkDialogs({ open, onClose, onDeleted }: FolderWorkDialogsProps) {
  if (!open) return null;
  const { kind, folder } = open;
  switch (kind) {
    case 'new':
      return (
        <NewFolderDialog parent={folder} onClose={onClose} onCreated={(id) => navigate(`/folders/${id}`)} />
      );
    case 'rename':
      return <RenameDialog folder={folder} onClose={onClose} />;
    case 'move':
      return <MoveDialog folders={[folder]} onClose={onClose} />;
    case 'delete':
      return <DeleteDialog folders={[folder]} onClose={onClose} {...(onDeleted ? { onDeleted } : {})} />;
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
        value={name}
        onChange={setName}
        help="Unique beside its siblings. No slashes; at most 255 characters."
        autoFocus
      />
    </ActionDialog>
  );
}
