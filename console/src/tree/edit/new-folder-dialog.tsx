/** The dialog that creates a folder inside another. */

import { useState } from 'react';
import { createFolder } from '../../actions/folder-actions.ts';
import { ActionDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { createNewFolder, type FolderRef } from './folder-operations.ts';

interface NewFolderDialogProps {
  readonly parent: FolderRef;
  readonly onClose: () => void;
  readonly onCreated?: (id: string) => void;
}

export function NewFolderDialog({ parent, onClose, onCreated }: NewFolderDialogProps) {
  const [name, setName] = useState('');
  const [title, setTitle] = useState('');
  const texts = { name, ...(title.trim() === '' ? {} : { title }) };
  return (
    <ActionDialog
      title={`New folder in “${parent.name}”`}
      verb="Create folder"
      isReady={name.trim() !== ''}
      call={{ action: createFolder, variables: { input: { parentId: parent.id, ...texts } } }}
      onClose={onClose}
      onSubmit={async () => {
        const id = await createNewFolder(parent.id, texts);
        onCreated?.(id);
      }}
    >
      <TextField
        label="Name"
        name="name"
        value={name}
        onChange={setName}
        maxLength={255}
        autoFocus
        isRequired
      />
      <TextField
        label="Title"
        name="title"
        help="Displayed after the name. Optional."
        value={title}
        onChange={setTitle}
        maxLength={255}
      />
    </ActionDialog>
  );
}
