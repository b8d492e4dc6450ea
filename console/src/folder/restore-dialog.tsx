/** Puts a deleted folder back elsewhere, or under another name. */

import { useState } from 'react';
import { FolderPicker, type PickedFolder } from '../tree/folder-picker.tsx';
import { ActionDialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/fields.tsx';
import { restore, restoreCall, type RestoreChoice, type TrashedFolder } from './trash.ts';

interface RestoreDialogProps {
  readonly folder: TrashedFolder;
  /** Why it is asked, if it could not just be restored. */
  readonly reason: string | null;
  readonly onClose: () => void;
}

export function RestoreDialog({ folder, reason, onClose }: RestoreDialogProps) {
  const [parent, setParent] = useState<PickedFolder | null>(folder.formerParent);
  const [name, setName] = useState(folder.name);
  const choice: RestoreChoice = {
    ...(parent && parent.id !== folder.formerParent?.id && { parent }),
    ...(name !== folder.name && { name }),
  };
  return (
    <ActionDialog
      title={`Restore “${folder.title}”`}
      verb="Restore"
      call={parent ? restoreCall(folder, choice) : undefined}
      isReady={parent !== null && name !== ''}
      onSubmit={() => restore(folder, choice)}
      onClose={onClose}
    >
      {reason !== null && <p className="hint">{reason}</p>}
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        help="Free in the folder that it goes to."
        autoFocus
      />
      <FolderPicker label="Into" value={parent} onChange={setParent} />
    </ActionDialog>
  );
}
