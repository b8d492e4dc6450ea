/** Adds members to groups and removes them. Every change can be undone. */

import { addToGroup, removeFromGroup } from '../../actions/people-actions.ts';
import type { GroupName } from '../../graph/user-groups.ts';
import { peopleStale } from '../people-data.ts';

interface Joined {
  readonly group: GroupName;
  readonly userIds: readonly string[];
  /** The subject of the message's sentence. */
  readonly who: string;
}

type Added = NonNullable<typeof addToGroup.result>;

export function joinCall({ group, userIds }: Omit<Joined, 'who'>) {
  return { action: addToGroup, variables: createVariables(group, userIds) };
}

export function joining({ group, userIds, who }: Joined) {
  const what = `${who} in “${group.name}”`;
  return {
    ...joinCall({ group, userIds }),
    stale: peopleStale,
    done: ({ addToGroup: { added } }: Added) => addedText(added, who, group.name, userIds.length),
    // Undo is not offered if some users were members before, because the response does not name the new ones.
    back: ({ addToGroup: { added } }: Added) =>
      added === userIds.length
        ? [{ what, task: () => ({ ...leaveCall(group, userIds), stale: peopleStale }) }]
        : [],
  };
}

export function leaving({ group, userIds, who }: Joined) {
  return {
    ...leaveCall(group, userIds),
    stale: peopleStale,
    done: `Removed ${who} from “${group.name}”`,
    back: () => [
      {
        what: `${who} in “${group.name}”`,
        task: () => ({ ...joinCall({ group, userIds }), stale: peopleStale }),
      },
    ],
  };
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
