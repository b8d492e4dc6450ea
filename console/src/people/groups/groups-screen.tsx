/** The list of groups, sorted by name and filtered by a text, or the page of one group. */

import { useState } from 'react';
import { useCommands } from '../../actions/palette-commands.ts';
import { usePages, type Page } from '../../graph/use-pages.ts';
import { Link, setQuery, useLocation } from '../../router.tsx';
import { Button } from '../../ui/button.tsx';
import { SearchField } from '../../ui/fields.tsx';
import { DataTable, type TableColumn } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { NewGroupDialog } from './group-dialogs.tsx';
import { GroupPage } from './group-page.tsx';
import { idOf, usePeopleUpdates, type GroupFacts } from '../people-data.tsx';
import '../people.css';
import { Name } from '../../ui/text.tsx';

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

export function GroupsScreen() {
  const id = useLocation().parts[1];
  usePeopleUpdates();
  return id === undefined ? <GroupList /> : <GroupPage key={id} id={id} />;
}

function GroupList() {
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
        <SearchField label="Filter groups" value={text} onChange={(next) => setQuery({ text: next })} />
        <span className="grow" />
        <Button tone="primary" icon="plus" onPress={() => setCreating(true)}>
          New group
        </Button>
      </div>
      <DataTable
        key={text}
        label="Groups, sorted by name"
        columns={columns}
        list={list}
        keyOf={idOf}
        empty={<NoGroups text={text} />}
      />
      {isCreating && <NewGroupDialog onClose={() => setCreating(false)} />}
    </main>
  );
}

function NoGroups({ text }: { text: string }) {
  if (text === '') {
    return (
      <Empty icon="group" title="No groups yet">
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

const columns: readonly TableColumn<GroupRow>[] = [
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
  {
    id: 'members',
    label: 'Members',
    className: 'number',
    render: ({ members }) => members.totalCount.toLocaleString('en'),
  },
  { id: 'created', label: 'Created', render: ({ createdAt }) => <Time at={createdAt} /> },
];
