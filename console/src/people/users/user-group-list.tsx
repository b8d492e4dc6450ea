/** The groups of a user. Additions and removals are shown immediately and can be undone. */

import { useState } from 'react';
import { updateQueryOptimistically } from '../../actions/optimistic-update.ts';
import { performOrReport } from '../../actions/perform.ts';
import { userGroupsKey, useUserGroups, type GroupName } from '../../graph/user-groups.ts';
import { Link } from '../../router.tsx';
import { IconButton } from '../../ui/button.tsx';
import { actionsColumn, DataTable, type TableColumn } from '../../ui/data-table.tsx';
import { PersonPicker } from '../../ui/person-picker.tsx';
import { createAdditionTask, createRemovalTask } from '../groups/memberships.ts';
import { idOf, type UserSummary } from '../people-data.tsx';
import { Name } from '../../ui/text.tsx';

export function UserGroups({ user }: { user: UserSummary }) {
  const { username } = user;
  const list = useUserGroups(user.id);
  const [choices, setChoices] = useState(0);
  return (
    <section className="card" aria-labelledby="user-groups">
      <h2 id="user-groups">Groups</h2>
      <DataTable
        label="Groups"
        columns={createColumns((group) => void leave(user, group))}
        list={list}
        keyOf={idOf}
        empty={
          <p className="soft">
            <Name>{`${username} is in no group.`}</Name>
          </p>
        }
        loadingLines={2}
      />
      {/* The key changes with each choice, so that the field is empty again. */}
      <PersonPicker
        key={choices}
        label="Add to group"
        kinds="groups"
        placeholder="Name of a group"
        value={null}
        excludedIds={list.data?.map(({ id }) => id) ?? []}
        onChange={(group) => {
          if (!group) return;
          setChoices(choices + 1);
          void join(user, group);
        }}
      />
    </section>
  );
}

function createColumns(leaveGroup: (group: GroupName) => void): readonly TableColumn<GroupName>[] {
  return [
    {
      id: 'name',
      label: 'Name',
      isRowHeader: true,
      render: ({ id, name }) => (
        <Link to={`/groups/${id}`}>
          <Name>{name}</Name>
        </Link>
      ),
    },
    actionsColumn((group) => (
      <IconButton label={`Remove from ${group.name}`} icon="close" onPress={() => leaveGroup(group)} />
    )),
  ];
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
