/** The dialogs of what can be done with a folder, of which one is open at a time: on its page, or in the table above it. */

import { navigate } from '../router.tsx';
import { DeleteDialog } from '../tree/delete-dialog.tsx';
import type { WorkFolder } from '../tree/folder-work.ts';
import { MoveDialog } from '../tree/move-dialog.tsx';
import { NewFolderDialog } from '../tree/new-folder-dialog.tsx';
import { RenameDialog } from './rename-dialog.tsx';

export interface OpenDialog {
  readonly kind: 'new' | 'rename' | 'move' | 'delete';
  readonly folder: WorkFolder;
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
        <NewFolderDialog parent={folder} onClose={onClose} onMade={(id) => navigate(`/folders/${id}`)} />
      );
    case 'rename':
      return <RenameDialog folder={folder} onClose={onClose} />;
    case 'move':
      return <MoveDialog folders={[folder]} onClose={onClose} />;
    case 'delete':
      return <DeleteDialog folders={[folder]} onClose={onClose} {...(onDeleted ? { onDeleted } : {})} />;
  }
}
