/** The name of a folder, changed in a dialog. */

import { useState } from 'react';
import { updateFolder } from '../actions/folder-actions.ts';
import { changeFolder, type WorkFolder } from '../tree/folder-work.ts';
import { ActionDialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/fields.tsx';

export function RenameDialog({ folder, onClose }: { folder: WorkFolder; onClose: () => void }) {
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
