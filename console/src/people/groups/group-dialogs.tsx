/** The dialogs to create, rename and delete a group. */

import { useState } from 'react';
import { updateQueryOptimistically } from '../../actions/optimistic-update.ts';
import { createGroup, deleteGroup, updateGroup } from '../../actions/people-actions.ts';
import type { AnyTask } from '../../actions/task.ts';
import { perform } from '../../actions/perform.ts';
import { navigate } from '../../router.tsx';
import { client } from '../../session/client.ts';
import { whileSignedIn } from '../../session/session-data.ts';
import { ActionDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { aboutGroup, peopleStale, type GroupAnswer, type GroupFacts } from '../people-data.ts';

interface GroupDialogProps {
  readonly group: GroupFacts;
  readonly onClose: () => void;
}

export function NewGroupDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const call = { action: createGroup, variables: { input: { name } } };
  return (
    <ActionDialog
      title="New group"
      verb="Create group"
      call={call}
      isReady={name.trim() !== ''}
      onClose={onClose}
      onSubmit={async () => {
        const { createGroup: made } = await perform({
          ...call,
          doneText: `Created “${name}”`,
          undoSteps: ({
            createGroup: {
              group: { id },
            },
          }) => [
            {
              subject: `“${name}”`,
              task: () => ({ action: deleteGroup, variables: { input: { id } }, staleQueries: peopleStale }),
              isUnchanged: async () => isUnchangedSinceCreation(await groupNow(id), name),
            },
          ],
          staleQueries: peopleStale,
        });
        navigate(`/groups/${made.group.id}`);
      }}
    >
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        help="You can add users and access on the next page."
        isRequired
        autoFocus
        autoComplete="off"
      />
    </ActionDialog>
  );
}

interface GroupNow {
  readonly name: string;
  readonly members: { readonly totalCount: number };
  readonly grants: { readonly totalCount: number };
}

const nowDocument = /* GraphQL */ `
  query GroupNow($id: ID!) {
    group(id: $id) {
      name
      members(first: 1) {
        totalCount
      }
      grants(first: 1) {
        totalCount
      }
    }
  }
`;

async function groupNow(id: string): Promise<GroupNow | null> {
  return (await whileSignedIn(client.query<{ group: GroupNow | null }>(nowDocument, { id }))).group;
}

/** Checks that the group has no members and no grants. */
function isUnchangedSinceCreation(group: GroupNow | null, name: string): boolean {
  return group?.name === name && group.members.totalCount === 0 && group.grants.totalCount === 0;
}

export function RenameGroupDialog({ group, onClose }: GroupDialogProps) {
  const { id } = group;
  const [name, setName] = useState(group.name);
  const task = (newName: string) =>
    ({
      action: updateGroup,
      variables: { input: { id, name: newName } },
      staleQueries: peopleStale,
      optimisticUpdate: () =>
        updateQueryOptimistically<GroupAnswer>(aboutGroup(id), (answer) => ({
          group: answer.group && { ...answer.group, name: newName },
        })),
    }) satisfies AnyTask;
  return (
    <ActionDialog
      title={`Rename “${group.name}”`}
      verb="Rename"
      call={task(name)}
      isReady={name.trim() !== '' && name !== group.name}
      onClose={onClose}
      onSubmit={() =>
        perform({
          ...task(name),
          doneText: `Renamed to “${name}”`,
          undoSteps: () => [
            {
              subject: `“${name}”`,
              task: () => task(group.name),
              isUnchanged: async () => (await groupNow(id))?.name === name,
            },
          ],
        })
      }
    >
      <TextField label="Name" value={name} onChange={setName} isRequired autoFocus autoComplete="off" />
    </ActionDialog>
  );
}

export function DeleteGroupDialog({ group: { id, name }, onClose }: GroupDialogProps) {
  const call = { action: deleteGroup, variables: { input: { id } } };
  return (
    <ActionDialog
      title={`Delete “${name}”`}
      verb="Delete group"
      isDanger
      call={call}
      onClose={onClose}
      onSubmit={async () => {
        await perform({ ...call, doneText: `Deleted “${name}”`, staleQueries: [...peopleStale, ['folder']] });
        navigate('/groups', { replace: true });
      }}
    >
      <p>
        This also deletes the grants of the group. Its members remain users but may lose access. You cannot
        undo this.
      </p>
    </ActionDialog>
  );
}
