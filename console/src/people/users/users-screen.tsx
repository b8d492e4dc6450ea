/** The list of users, sorted by name and filtered by a text, or the page of one user. */

import { useState } from 'react';
import { useCommands } from '../../actions/palette-commands.ts';
import { usePages, type Page } from '../../graph/use-pages.ts';
import { Link, setQuery, useLocation } from '../../router.tsx';
import { useViewer } from '../../session/session.tsx';
import { Button } from '../../ui/button.tsx';
import { SearchField } from '../../ui/fields.tsx';
import { DataTable, type TableColumn } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { NewUserDialog } from './user-dialogs.tsx';
import { UserPage } from './user-page.tsx';
import { idOf, usePeopleUpdates, userFields, UserState, type UserSummary } from '../people-data.tsx';
import '../people.css';
import { Name } from '../../ui/text.tsx';

const pageSize = 50;

const usersDocument =
  /* GraphQL */ `
    query Users($text: String, $first: Int, $after: String) {
      users(text: $text, first: $first, after: $after) {
        items {
          ...UserSummary
        }
        totalCount
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  ` + userFields;

export function UsersScreen() {
  const id = useLocation().parts[1];
  usePeopleUpdates();
  return id === undefined ? <UserList /> : <UserPage key={id} id={id} />;
}

function UserList() {
  const text = useLocation().query.get('text') ?? '';
  const [isCreating, setCreating] = useState(false);
  const list = usePages<{ users: Page<UserSummary> }, UserSummary>(
    ['people', 'users', text],
    usersDocument,
    { text, first: pageSize },
    ({ users }) => users,
  );
  useCommands([{ id: 'newUser', label: 'New user…', group: 'People', run: () => setCreating(true) }]);
  return (
    <main className="page">
      <header className="page-header">
        <h1>Users</h1>
        {list.data && <span className="soft number">{list.data.totalCount.toLocaleString('en')}</span>}
      </header>
      <div className="toolbar">
        <SearchField label="Filter users" value={text} onChange={(next) => setQuery({ text: next })} />
        <span className="grow" />
        <Button tone="primary" icon="plus" onPress={() => setCreating(true)}>
          New user
        </Button>
      </div>
      <DataTable
        label="Users, sorted by name"
        key={text}
        columns={columns}
        list={list}
        keyOf={idOf}
        empty={
          <Empty icon="user" title={`No user name contains “${text}”`}>
            <Button onPress={() => setQuery({ text: null })}>Show all users</Button>
          </Empty>
        }
      />
      {isCreating && <NewUserDialog onClose={() => setCreating(false)} />}
    </main>
  );
}

const columns: readonly TableColumn<UserSummary>[] = [
  {
    id: 'name',
    label: 'Name',
    isRowHeader: true,
    render: (user) => <UserName user={user} />,
  },
  {
    id: 'administrator',
    label: 'Administrator',
    minTableWidth: 640,
    render: ({ isAdministrator }) =>
      isAdministrator ? (
        <span className="label-chip info">Administrator</span>
      ) : (
        <span className="soft">No</span>
      ),
  },
  {
    id: 'groups',
    label: 'Groups',
    minTableWidth: 640,
    render: ({ groups }) =>
      groups.totalCount === 0 ? <span className="soft">None</span> : <Name>{groupNames(groups)}</Name>,
  },
  {
    id: 'lastLogin',
    label: 'Last login',
    render: ({ lastLoginAt }) =>
      lastLoginAt === null ? <span className="soft">Never</span> : <Time at={lastLoginAt} />,
  },
  { id: 'state', label: 'State', render: ({ isDisabled }) => <UserState isDisabled={isDisabled} /> },
];

function UserName({ user: { id, username, isAdministrator } }: { user: UserSummary }) {
  const viewer = useViewer();
  return (
    <>
      <Link to={`/users/${id}`}>
        <Name>{username}</Name>
      </Link>
      {id === viewer.id && <span className="soft"> (you)</span>}
      {isAdministrator && <p className="narrow-only soft">Administrator</p>}
    </>
  );
}

function groupNames({ items, totalCount }: UserSummary['groups']): string {
  const names = items.map(({ name }) => name).join(', ');
  return totalCount > items.length ? `${names} and ${totalCount - items.length} more` : names;
}
