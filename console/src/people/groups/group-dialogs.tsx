/** The dialogs to create, rename and delete a group. */

import { updateQueryOptimistically } from '../../actions/optimistic-update.ts';
import { createGroup, deleteGroup, updateGroup } from '../../actions/people-actions.ts';
import type { AnyTask } from '../../actions/task.ts';
import { peopleQueries } from '../../graph/use-graph.ts';
import { navigate } from '../../router.tsx';
import { client } from '../../session/client.ts';
import { whileSignedIn } from '../../session/session-data.ts';
import { ActionDialog, NameDialog } from '../../ui/dialog.tsx';
import { groupKey, type GroupResponse, type GroupFacts } from '../people-data.tsx';

interface GroupDialogProps {
  readonly group: GroupFacts;
  readonly onClose: () => void;
}

export function NewGroupDialog({ onClose }: { onClose: () => void }) {
  return (
    <NameDialog
      title="New group"
      verb="Create group"
      help="You can add users and access on the next page."
      taskOf={createGroupTask}
      onDone={({ createGroup: { group } }) => navigate(`/groups/${group.id}`)}
      onClose={onClose}
    />
  );
}

type CreateResponse = NonNullable<typeof createGroup.result>;

function createGroupTask(name: string) {
  const subject = `“${name}”`;
  return {
    action: createGroup,
    variables: { input: { name } },
    doneText: `Created ${subject}`,
    undoSteps: ({ createGroup: { group } }: CreateResponse) => [
      {
        subject,
        task: () => ({
          action: deleteGroup,
          variables: { input: { id: group.id } },
          staleQueries: peopleQueries,
        }),
        isUnchanged: async () => isUnchangedSinceCreation(await groupNow(group.id), name),
      },
    ],
    staleQueries: peopleQueries,
  } satisfies AnyTask;
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

export function RenameGroupDialog({ group: { id, name: oldName }, onClose }: GroupDialogProps) {
  const taskOf = (name: string) =>
    ({
      action: updateGroup,
      variables: { input: { id, name } },
      staleQueries: peopleQueries,
      optimisticUpdate: () =>
        updateQueryOptimistically<GroupResponse>(groupKey(id), (answer) => ({
          group: answer.group && { ...answer.group, name },
        })),
    }) satisfies AnyTask;
  return (
    <NameDialog
      title={`Rename “${oldName}”`}
      verb="Rename"
      name={oldName}
      taskOf={(name) => ({
        ...taskOf(name),
        doneText: `Renamed to “${name}”`,
        undoSteps: () => [
          {
            subject: `“${name}”`,
            task: () => taskOf(oldName),
            isUnchanged: async () => (await groupNow(id))?.name === name,
          },
        ],
      })}
      onClose={onClose}
    />
  );
}

export function DeleteGroupDialog({ group: { id, name }, onClose }: GroupDialogProps) {
  const task = {
    action: deleteGroup,
    variables: { input: { id } },
    doneText: `Deleted “${name}”`,
    staleQueries: [...peopleQueries, ['folder']] as const,
  };
  return (
    <ActionDialog
      title={`Delete “${name}”`}
      verb="Delete group"
      isDanger
      task={task}
      onDone={() => navigate('/groups', { replace: true })}
      onClose={onClose}
    >
      <p>
        This also deletes the grants of the group. Its members remain users but may lose access. You cannot
        undo this.
      </p>
    </ActionDialog>
  );
}
