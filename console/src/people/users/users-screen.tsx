/** The list of users, sorted by name and filtered by a text, or the page of one user. */

import { useState } from 'react';
import { useCommands } from '../../actions/palette-commands.ts';
import { usePages, type Page } from '../../graph/use-pages.ts';
import { Link, setQuery, useLocation } from '../../router.tsx';
import { useViewer } from '../../session/session.tsx';
import { Button } from '../../ui/button.tsx';
import { SearchField, Select } from '../../ui/fields.tsx';
import { DataTable, type TableColumn } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { NewUserDialog } from './new-user-dialog.tsx';
import { UserPage } from './user-page.tsx';
import {
  idOf,
  KindChip,
  usePeopleUpdates,
  userFields,
  UserState,
  type UserSummary,
} from '../people-data.tsx';
import '../people.css';
import { Name } from '../../ui/text.tsx';

const pageSize = 50;

const usersDocument =
  /* GraphQL */ `
    query Users($text: String, $hasSecondFactor: Boolean, $first: Int, $after: String) {
      users(text: $text, hasSecondFactor: $hasSecondFactor, first: $first, after: $after) {
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
  const { query } = useLocation();
  const text = query.get('text') ?? '';
  const factor = readFactorFilter(query.get('second-factor'));
  const [isCreating, setCreating] = useState(false);
  const list = usePages<{ users: Page<UserSummary> }, UserSummary>(
    ['people', 'users', text, factor],
    usersDocument,
    { text, hasSecondFactor: factor === 'any' ? undefined : factor === 'on', first: pageSize },
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
        <Select
          label="Second factor"
          isLabelHidden
          value={factor}
          options={factorFilters}
          onChange={(next) => setQuery({ 'second-factor': next === 'any' ? null : next })}
        />
        <span className="grow" />
        <Button tone="primary" icon="plus" onPress={() => setCreating(true)}>
          New user
        </Button>
      </div>
      <DataTable
        label="Users, sorted by name"
        key={`${text} ${factor}`}
        columns={columns}
        list={list}
        keyOf={idOf}
        empty={
          <Empty icon="user" title={text === '' ? 'No matching users' : `No user name contains “${text}”`}>
            <Button onPress={() => setQuery({ text: null, 'second-factor': null })}>Show all users</Button>
          </Empty>
        }
      />
      {isCreating && <NewUserDialog onClose={() => setCreating(false)} />}
    </main>
  );
}

const factorFilters = [
  { id: 'any', label: 'Second factor on or off' },
  { id: 'on', label: 'Second factor on' },
  { id: 'off', label: 'Second factor off' },
] as const;

type FactorFilter = (typeof factorFilters)[number]['id'];

function readFactorFilter(value: string | null): FactorFilter {
  return value === 'on' || value === 'off' ? value : 'any';
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
    id: 'secondFactor',
    label: 'Second factor',
    minTableWidth: 800,
    render: ({ kind, hasSecondFactor }) =>
      kind === 'SERVICE' ? null : hasSecondFactor ? (
        <span className="label-chip good">On</span>
      ) : (
        <span className="soft">Off</span>
      ),
  },
  {
    id: 'lastLogin',
    label: 'Last login',
    render: ({ lastLoginAt }) =>
      lastLoginAt === null ? <span className="soft">Never</span> : <Time at={lastLoginAt} />,
  },
  { id: 'state', label: 'State', render: ({ isDisabled }) => <UserState isDisabled={isDisabled} /> },
];

function UserName({ user: { id, kind, username, isAdministrator } }: { user: UserSummary }) {
  const viewer = useViewer();
  return (
    <>
      <Link to={`/users/${id}`}>
        <Name>{username}</Name>
      </Link>
      {id === viewer.id && <span className="soft"> (you)</span>} <KindChip kind={kind} />
      {isAdministrator && <p className="narrow-only soft">Administrator</p>}
    </>
  );
}

function groupNames({ items, totalCount }: UserSummary['groups']): string {
  const names = items.map(({ name }) => name).join(', ');
  return totalCount > items.length ? `${names} and ${totalCount - items.length} more` : names;
}
