/** The dialog that grants a user or a group access to a folder. */

import { useState } from 'react';
import type { AccessLevel } from '../../graph/live.tsx';
import { accessLevels, formatLevel } from '../../ui/access-level.tsx';
import { ActionDialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/fields.tsx';
import { PersonPicker, type PickedPerson } from '../../ui/person-picker.tsx';
import { grantLevel, createGrantCall, isGrantTo, type Grant } from './grants.ts';
import type { OpenFolder } from '../open-folder.ts';

interface GrantDialogProps {
  readonly folder: Pick<OpenFolder, 'id' | 'title'>;
  /** The grants on this folder. */
  readonly grants: readonly Grant[];
  readonly onClose: () => void;
}

const explanations: Readonly<Record<AccessLevel, string>> = {
  NONE: 'They get nothing here and below, whatever they have above. Something deeper may still be opened for them.',
  READ: 'They see this folder and everything inside, and change nothing.',
  WRITE:
    'They see and change this folder and everything inside: names, texts, new folders, moves, deletions.',
  MANAGE: 'They do all that, and decide who else may do what here and below.',
};

export function GrantDialog({ folder, grants, onClose }: GrantDialogProps) {
  const [person, setPerson] = useState<PickedPerson | null>(null);
  const [level, setLevel] = useState<AccessLevel>('READ');
  const before = person ? grants.find((grant) => isGrantTo(grant, person)) : undefined;
  return (
    <ActionDialog
      title={`Grant access to “${folder.title}”`}
      verb="Grant"
      call={person ? createGrantCall(folder.id, person, level) : undefined}
      isReady={person !== null && before?.level !== level}
      onSubmit={async () => {
        if (person) await grantLevel(folder.id, person, level);
      }}
      onClose={onClose}
    >
      <PersonPicker
        label="Person or group"
        kinds="usersAndGroups"
        value={person}
        onChange={setPerson}
        autoFocus
      />
      <Select label="Level" value={level} options={accessLevels} onChange={setLevel} />
      <p className="hint">{explanations[level]}</p>
      {before && (
        <p className="hint" role="status">
          {person?.name} has {formatLevel(before.level)} here already
          {before.level === level ? '.' : '; this replaces it.'}
        </p>
      )}
    </ActionDialog>
  );
}
