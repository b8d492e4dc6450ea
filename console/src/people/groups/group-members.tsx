/** The members of a group. Several users can be added together, and each removal can be undone. */

import { useState } from 'react';
import { updateItemsOptimistically } from '../../actions/optimistic-update.ts';
import { perform, performOrReport } from '../../actions/perform.ts';
import { usePages, type Page } from '../../graph/use-pages.ts';
import { Link } from '../../router.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { actionsColumn, DataTable, type TableColumn } from '../../ui/data-table.tsx';
import { ActionDialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icons.tsx';
import { PersonPicker, type PickedPerson } from '../../ui/person-picker.tsx';
import { joinCall, createAdditionTask, createRemovalTask } from './memberships.ts';
import { idOf, UserState, type GroupFacts } from '../people-data.tsx';
import { Name } from '../../ui/text.tsx';

const pageSize = 50;

const membersDocument = /* GraphQL */ `
  query Members($id: ID!, $first: Int, $after: String) {
    group(id: $id) {
      id
      members(first: $first, after: $after) {
        items {
          id
          username
          isDisabled
        }
        totalCount
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`;

interface Member {
  readonly id: string;
  readonly username: string;
  readonly isDisabled: boolean;
}

interface MembersResponse {
  readonly group: { readonly id: string; readonly members: Page<Member> } | null;
}

const emptyPage: Page<Member> = {
  items: [],
  totalCount: 0,
  pageInfo: { hasNextPage: false, endCursor: null },
};

export function GroupMembers({ group }: { group: GroupFacts }) {
  const [isAdding, setAdding] = useState(false);
  const queryKey = ['people', 'members', group.id] as const;
  const list = usePages<MembersResponse, Member>(
    queryKey,
    membersDocument,
    { id: group.id, first: pageSize },
    ({ group: found }) => found?.members ?? emptyPage,
  );

  const remove = (members: readonly Member[]) => {
    const userIds = members.map(({ id }) => id);
    const who = members.length === 1 ? members[0]!.username : `${members.length.toLocaleString('en')} users`;
    void performOrReport({
      ...createRemovalTask({ group, userIds, who }),
      optimisticUpdate: () =>
        updateItemsOptimistically<Member>(queryKey, (member) =>
          userIds.includes(member.id) ? null : member,
        ),
    });
  };
  return (
    <section className="card" aria-labelledby="members">
      <header className="card-header">
        <h2 id="members">Members</h2>
        {list.data && <span className="soft number">{list.data.totalCount.toLocaleString('en')}</span>}
        <span className="grow" />
        <Button size="small" icon="plus" onPress={() => setAdding(true)}>
          Add users…
        </Button>
      </header>
      <DataTable
        label="Members"
        columns={createColumns((member) => remove([member]))}
        list={list}
        keyOf={idOf}
        empty={<p className="soft">This group has no members yet.</p>}
        loadingLines={3}
        bulkActions={(members) => (
          <Button size="small" icon="close" onPress={() => remove(members)}>
            Remove from group
          </Button>
        )}
      />
      {isAdding && <AddMembersDialog group={group} onClose={() => setAdding(false)} />}
    </section>
  );
}

function createColumns(remove: (member: Member) => void): readonly TableColumn<Member>[] {
  return [
    {
      id: 'name',
      label: 'Name',
      isRowHeader: true,
      render: ({ id, username }) => (
        <Link to={`/users/${id}`}>
          <Name>{username}</Name>
        </Link>
      ),
    },
    { id: 'state', label: 'State', render: ({ isDisabled }) => <UserState isDisabled={isDisabled} /> },
    actionsColumn((member) => (
      <IconButton label={`Remove ${member.username}`} icon="close" onPress={() => remove(member)} />
    )),
  ];
}

/** The server's maximum per request. */
const maxMembers = 1000;

/** Adds several users to a group. */
function AddMembersDialog({ group, onClose }: { group: GroupFacts; onClose: () => void }) {
  const [chosenUsers, setChosenUsers] = useState<readonly PickedPerson[]>([]);
  const userIds = chosenUsers.map(({ id }) => id);
  const who =
    chosenUsers.length === 1 ? chosenUsers[0]!.name : `${chosenUsers.length.toLocaleString('en')} users`;
  return (
    <ActionDialog
      title={`Add users to “${group.name}”`}
      verb={chosenUsers.length > 1 ? `Add ${chosenUsers.length} users` : 'Add user'}
      call={chosenUsers.length > 0 ? joinCall({ group, userIds }) : undefined}
      isReady={chosenUsers.length > 0 && chosenUsers.length <= maxMembers}
      onClose={onClose}
      onSubmit={() => perform(createAdditionTask({ group, userIds, who }))}
    >
      {/* The key changes with each choice, so that the field is empty again. */}
      <PersonPicker
        key={chosenUsers.length}
        label="Users"
        kinds="users"
        placeholder="A part of the name"
        autoFocus
        value={null}
        excludedIds={userIds}
        onChange={(person) => person && setChosenUsers([...chosenUsers, person])}
      />
      {chosenUsers.length === 0 ? (
        <p className="hint">Choose one or more users.</p>
      ) : (
        <ul className="people-chosen" aria-label="Chosen users">
          {chosenUsers.map(({ id, name }) => (
            <li key={id}>
              <Icon name="user" />
              <Name>{name}</Name>
              <IconButton
                label={`Remove ${name}`}
                icon="close"
                onPress={() => setChosenUsers(chosenUsers.filter((one) => one.id !== id))}
              />
            </li>
          ))}
        </ul>
      )}
    </ActionDialog>
  );
}
