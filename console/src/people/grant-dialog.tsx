/** Grants a user or a group an access level on a folder. */

import { useState } from 'react';
import type { Grantee } from '../actions/access-actions.ts';
import { grantCall } from '../actions/grant-actions.ts';
import type { AccessLevel } from '../graph/live.tsx';
import { FolderPicker, type PickedFolder } from '../tree/search/folder-picker.tsx';
import { accessLevels } from '../ui/access-level.tsx';
import { ActionDialog } from '../ui/dialog.tsx';
import { Select } from '../ui/fields.tsx';
import { grantAccess } from './subject-grants.ts';

interface GrantDialogProps {
  readonly grantee: Grantee;
  readonly name: string;
  readonly onClose: () => void;
}

export function GrantDialog({ grantee, name, onClose }: GrantDialogProps) {
  const [folder, setFolder] = useState<PickedFolder | null>(null);
  const [level, setLevel] = useState<AccessLevel>('READ');
  return (
    <ActionDialog
      title={`Grant access to ${name}`}
      verb="Grant access"
      call={folder ? grantCall({ folderId: folder.id, grantee }, level) : undefined}
      isReady={folder !== null}
      onClose={onClose}
      onSubmit={async () => {
        if (folder) await grantAccess(grantee, name, folder, level);
      }}
    >
      <FolderPicker label="Folder" picked={folder} autoFocus onPick={setFolder} />
      <Select label="Level" value={level} options={accessLevels} onChange={setLevel} />
      <p className="hint">Applies to the folder and everything inside, unless a deeper grant overrides it.</p>
    </ActionDialog>
  );
}
