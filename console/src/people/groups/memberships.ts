/** Adds members to groups and removes them. Every change can be undone. */

import { addToGroup, removeFromGroup } from '../../actions/people-actions.ts';
import type { AnyTask } from '../../actions/task.ts';
import type { GroupName } from '../../graph/user-groups.ts';
import { peopleQueries } from '../../graph/use-graph.ts';

interface MembershipChange {
  readonly group: GroupName;
  readonly userIds: readonly string[];
  /** The users as named in messages, for example `ada` or `3 users`. */
  readonly who: string;
}

type AddResponse = NonNullable<typeof addToGroup.result>;

export function joinCall({ group, userIds }: Omit<MembershipChange, 'who'>) {
  return { action: addToGroup, variables: createVariables(group, userIds) };
}

export function createAdditionTask({ group, userIds, who }: MembershipChange) {
  const subject = `${who} in “${group.name}”`;
  return {
    ...joinCall({ group, userIds }),
    staleQueries: peopleQueries,
    doneText: ({ addToGroup: { added } }: AddResponse) => addedText(added, who, group.name, userIds.length),
    // Undo is not offered if some users were members before, because the response does not name the new ones.
    undoSteps: ({ addToGroup: { added } }: AddResponse) =>
      added === userIds.length
        ? [{ subject, task: () => ({ ...leaveCall(group, userIds), staleQueries: peopleQueries }) }]
        : [],
  } satisfies AnyTask;
}

export function createRemovalTask({ group, userIds, who }: MembershipChange) {
  return {
    ...leaveCall(group, userIds),
    staleQueries: peopleQueries,
    doneText: `Removed ${who} from “${group.name}”`,
    undoSteps: () => [
      {
        subject: `${who} in “${group.name}”`,
        task: () => ({ ...joinCall({ group, userIds }), staleQueries: peopleQueries }),
      },
    ],
  } satisfies AnyTask;
}

function leaveCall(group: GroupName, userIds: readonly string[]) {
  return { action: removeFromGroup, variables: createVariables(group, userIds) };
}

function createVariables(group: GroupName, userIds: readonly string[]) {
  return { input: { groupId: group.id, userIds } };
}

function addedText(added: number, who: string, group: string, requested: number): string {
  if (added === 0)
    return requested === 1 ? `${who} is already in “${group}”` : `They are already in “${group}”`;
  if (added === requested) return `Added ${who} to “${group}”`;
  return `Added ${added.toLocaleString('en')} of ${requested.toLocaleString('en')} users to “${group}”`;
}
