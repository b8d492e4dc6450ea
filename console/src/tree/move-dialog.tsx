/** "Move to…": chooses where folders shall go, and tells beforehand what that does. */

import { useState } from 'react';
import { moveFolder } from '../actions/folder-actions.ts';
import { ActionDialog } from '../ui/dialog.tsx';
import { FolderPicker, type PickedFolder } from './folder-picker.tsx';
import { moveFolders, type WorkFolder } from './folder-work.ts';
import { MovePreview, useMovePreview } from './move-preview.tsx';

interface MoveDialogProps {
  readonly folders: readonly WorkFolder[];
  readonly onClose: () => void;
}

export function MoveDialog({ folders, onClose }: MoveDialogProps) {
  const [target, setTarget] = useState<PickedFolder | null>(null);
  const isThere = target !== null && folders.every(({ parentId }) => parentId === target.id);
  const preview = useMovePreview(folders, isThere ? null : (target?.id ?? null));
  const [first] = folders;
  if (!first) return null;
  const isOne = folders.length === 1;
  return (
    <ActionDialog
      title={isOne ? `Move “${first.name}”` : `Move ${folders.length} folders`}
      verb="Move"
      isReady={target !== null && !isThere && preview.data !== undefined && !preview.error}
      call={
        isOne && target
          ? { action: moveFolder, variables: { input: { id: first.id, parentId: target.id } } }
          : undefined
      }
      onClose={onClose}
      onSubmit={async () => {
        if (target) await moveFolders(folders, target);
      }}
    >
      <FolderPicker
        label="Into"
        value={target}
        without={folders.map(({ id }) => id)}
        autoFocus
        onChange={setTarget}
      />
      {isThere ? <p className="soft">That is where it is already.</p> : <MovePreview of={preview} />}
    </ActionDialog>
  );
}
