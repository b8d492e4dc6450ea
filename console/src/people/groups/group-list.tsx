/** The list of groups, sorted by name and filtered by a text. */

import { useState } from 'react';
import { useCommands } from '../../actions/palette-commands.ts';
import { usePages, type Page } from '../../graph/use-pages.ts';
import { Link, setQuery, useLocation } from '../../router.tsx';
import { Button } from '../../ui/button.tsx';
import { SearchField } from '../../ui/fields.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { QueryResult, Empty } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { NewGroupDialog } from './group-dialogs.tsx';
import type { GroupFacts } from '../people-data.ts';

const pageSize = 50;

const groupsDocument = /* GraphQL */ `
  query Groups($text: String, $first: Int, $after: String) {
    groups(text: $text, first: $first, after: $after) {
      items {
        id
        name
        createdAt
        members(first: 1) {
          totalCount
        }
      }
      totalCount
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`;

interface GroupRow extends GroupFacts {
  readonly members: { readonly totalCount: number };
}

export function GroupList() {
  const text = useLocation().query.get('text') ?? '';
  const [isCreating, setCreating] = useState(false);
  const list = usePages<{ groups: Page<GroupRow> }, GroupRow>(
    ['people', 'groups', text],
    groupsDocument,
    { text, first: pageSize },
    ({ groups }) => groups,
  );
  useCommands([{ id: 'newGroup', label: 'New group…', group: 'People', run: () => setCreating(true) }]);
  return (
    <main className="page">
      <header className="page-header">
        <h1>Groups</h1>
        {list.data && <span className="soft number">{list.data.totalCount.toLocaleString('en')}</span>}
      </header>
      <div className="toolbar">
        <SearchField label="Search groups" value={text} onChange={(next) => setQuery({ text: next })} />
        <span className="grow" />
        <Button tone="primary" icon="plus" onPress={() => setCreating(true)}>
          New group
        </Button>
      </div>
      <QueryResult query={list}>
        {({ items }) => (items.length > 0 ? <GroupTable groups={items} /> : <NoGroups text={text} />)}
      </QueryResult>
      <ShowMore pages={list} noun="groups" />
      {isCreating && <NewGroupDialog onClose={() => setCreating(false)} />}
    </main>
  );
}

function NoGroups({ text }: { text: string }) {
  if (text === '') {
    return (
      <Empty icon="group" title="There are no groups yet">
        <p>
          A group gives several users the same access. Create a group, add users, and grant it access to
          folders.
        </p>
      </Empty>
    );
  }
  return (
    <Empty icon="group" title={`No group name contains “${text}”`}>
      <Button onPress={() => setQuery({ text: null })}>Show all groups</Button>
    </Empty>
  );
}

function GroupTable({ groups }: { groups: readonly GroupRow[] }) {
  return (
    <div className="table-frame">
      <table className="table people-table">
        <caption className="visually-hidden">Groups, sorted by name</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Members</th>
            <th scope="col">Created</th>
          </tr>
        </thead>
        <tbody>
          {groups.map(({ id, name, members, createdAt }) => (
            <tr key={id}>
              <th scope="row">
                <Link to={`/groups/${id}`}>{name}</Link>
              </th>
              <td className="number">{members.totalCount.toLocaleString('en')}</td>
              <td>
                <Time at={createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
