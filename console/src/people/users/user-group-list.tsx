/** The groups of a user: joins and leaves them optimistically, with Undo. */

import { useState } from 'react';
import { updateQueryOptimistically } from '../../actions/optimistic-update.ts';
import { performOrReport } from '../../actions/perform.ts';
import { userGroupsKey, useUserGroups, type GroupName } from '../../graph/user-groups.ts';
import { Link } from '../../router.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { PersonPicker } from '../../ui/person-picker.tsx';
import { TruncatedList } from '../../ui/show-more.tsx';
import { QueryResult, Loading } from '../../ui/states.tsx';
import { createAdditionTask, createRemovalTask } from '../groups/memberships.ts';
import type { UserSummary } from '../people-data.ts';

export function UserGroups({ user }: { user: UserSummary }) {
  const { username } = user;
  const answer = useUserGroups(user.id);
  const [choices, setChoices] = useState(0);
  return (
    <section className="card" aria-labelledby="user-groups">
      <h2 id="user-groups">Groups</h2>
      <QueryResult query={answer} loading={<Loading lines={2} />}>
        {(groups) =>
          groups.length === 0 ? (
            <p className="soft">{username} is in no group.</p>
          ) : (
            <TruncatedList items={groups} noun="groups">
              {(part) => (
                <ul className="people-list">
                  {part.map((group) => (
                    <li key={group.id}>
                      <Icon name="group" />
                      <Link to={`/groups/${group.id}`}>{group.name}</Link>
                      <span className="grow" />
                      <IconButton
                        label={`Remove from ${group.name}`}
                        icon="close"
                        onPress={() => void leave(user, group)}
                      />
                    </li>
                  ))}
                </ul>
              )}
            </TruncatedList>
          )
        }
      </QueryResult>
      {/* The key changes with each choice, so that the field is empty again. */}
      <PersonPicker
        key={choices}
        label="Add to group"
        kinds="groups"
        placeholder="Name of a group"
        value={null}
        excludedIds={answer.data?.map(({ id }) => id) ?? []}
        onChange={(group) => {
          if (!group) return;
          setChoices(choices + 1);
          void join(user, group);
        }}
      />
    </section>
  );
}

function withGroups(user: UserSummary, change: (groups: readonly GroupName[]) => readonly GroupName[]) {
  return () => updateQueryOptimistically<readonly GroupName[]>(userGroupsKey(user.id), change);
}

function join(user: UserSummary, { id, name }: GroupName) {
  const group = { id, name };
  return performOrReport({
    ...createAdditionTask({ group, userIds: [user.id], who: user.username }),
    optimisticUpdate: withGroups(user, (groups) => [...groups, group]),
  });
}

function leave(user: UserSummary, group: GroupName) {
  return performOrReport({
    ...createRemovalTask({ group, userIds: [user.id], who: user.username }),
    optimisticUpdate: withGroups(user, (groups) => groups.filter(({ id }) => id !== group.id)),
  });
}
