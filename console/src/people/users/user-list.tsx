/** The list of users, sorted by name and filtered by a text. */

import { useState } from 'react';
import { useCommands } from '../../actions/palette-commands.ts';
import { usePages, type Page } from '../../graph/use-pages.ts';
import { Link, setQuery, useLocation } from '../../router.tsx';
import { useViewer } from '../../session/session.tsx';
import { Button } from '../../ui/button.tsx';
import { SearchField } from '../../ui/fields.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { QueryResult, Empty } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { NewUserDialog } from './new-user-dialog.tsx';
import { userFields, type UserSummary } from '../people-data.ts';

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

export function UserList() {
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
        <SearchField label="Search users" value={text} onChange={(next) => setQuery({ text: next })} />
        <span className="grow" />
        <Button tone="primary" icon="plus" onPress={() => setCreating(true)}>
          New user
        </Button>
      </div>
      <QueryResult query={list}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="user" title={`No user name contains “${text}”`}>
              <Button onPress={() => setQuery({ text: null })}>Show all users</Button>
            </Empty>
          ) : (
            <UserTable users={items} />
          )
        }
      </QueryResult>
      <ShowMore pages={list} noun="users" />
      {isCreating && <NewUserDialog onClose={() => setCreating(false)} />}
    </main>
  );
}

function UserTable({ users }: { users: readonly UserSummary[] }) {
  const viewer = useViewer();
  return (
    <div className="table-frame">
      <table className="table people-table">
        <caption className="visually-hidden">Users, sorted by name</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" className="wide-only">
              Administrator
            </th>
            <th scope="col" className="wide-only">
              Groups
            </th>
            <th scope="col">Last login</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {users.map(({ id, username, isAdministrator, isDisabled, groups, lastLoginAt }) => (
            <tr key={id}>
              <th scope="row">
                <Link to={`/users/${id}`}>{username}</Link>
                {id === viewer.id && <span className="soft"> (you)</span>}
                {isAdministrator && <p className="narrow-only soft">Administrator</p>}
              </th>
              <td className="wide-only">
                {isAdministrator ? (
                  <span className="label-chip info">Administrator</span>
                ) : (
                  <span className="soft">No</span>
                )}
              </td>
              <td className="wide-only">
                {groups.totalCount === 0 ? <span className="soft">None</span> : groupNames(groups)}
              </td>
              <td>
                {lastLoginAt === null ? <span className="soft">Never</span> : <Time at={lastLoginAt} />}
              </td>
              <td>
                <UserState isDisabled={isDisabled} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function groupNames({ items, totalCount }: UserSummary['groups']): string {
  const names = items.map(({ name }) => name).join(', ');
  return totalCount > items.length ? `${names} and ${totalCount - items.length} more` : names;
}

export function UserState({ isDisabled }: { isDisabled: boolean }) {
  return isDisabled ? (
    <span className="label-chip danger">Disabled</span>
  ) : (
    <span className="label-chip good">Active</span>
  );
}
