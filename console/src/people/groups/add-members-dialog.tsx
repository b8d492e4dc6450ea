/** Adds several users to a group. */

import { useState } from 'react';
import { perform } from '../../actions/perform.ts';
import { IconButton } from '../../ui/button.tsx';
import { ActionDialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icons.tsx';
import { PersonPicker, type PickedPerson } from '../../ui/person-picker.tsx';
import { joinCall, createAdditionTask } from './memberships.ts';
import type { GroupFacts } from '../people-data.ts';

/** The server's maximum per request. */
const maxMembers = 1000;

export function AddMembersDialog({ group, onClose }: { group: GroupFacts; onClose: () => void }) {
  const [chosen, setChosen] = useState<readonly PickedPerson[]>([]);
  const userIds = chosen.map(({ id }) => id);
  const who = chosen.length === 1 ? chosen[0]!.name : `${chosen.length.toLocaleString('en')} users`;
  return (
    <ActionDialog
      title={`Add users to “${group.name}”`}
      verb={chosen.length > 1 ? `Add ${chosen.length} users` : 'Add user'}
      call={chosen.length > 0 ? joinCall({ group, userIds }) : undefined}
      isReady={chosen.length > 0 && chosen.length <= maxMembers}
      onClose={onClose}
      onSubmit={() => perform(createAdditionTask({ group, userIds, who }))}
    >
      {/* The key changes with each choice, so that the field is empty again. */}
      <PersonPicker
        key={chosen.length}
        label="Users"
        kinds="users"
        placeholder="A part of the name"
        autoFocus
        value={null}
        excludedIds={userIds}
        onChange={(person) => person && setChosen([...chosen, person])}
      />
      {chosen.length === 0 ? (
        <p className="hint">Choose one or more users.</p>
      ) : (
        <ul className="people-chosen" aria-label="Chosen users">
          {chosen.map(({ id, name }) => (
            <li key={id}>
              <Icon name="user" />
              {name}
              <IconButton
                label={`Remove ${name}`}
                icon="close"
                onPress={() => setChosen(chosen.filter((one) => one.id !== id))}
              />
            </li>
          ))}
        </ul>
      )}
    </ActionDialog>
  );
}
