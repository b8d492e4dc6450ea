/** The members of a group: adds several, and removes each with Undo. */

import { useState } from 'react';
import { updateItemsOptimistically } from '../../actions/optimistic-update.ts';
import { performOrReport } from '../../actions/perform.ts';
import { usePages, type Page } from '../../graph/use-pages.ts';
import { Link } from '../../router.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { QueryResult, Loading } from '../../ui/states.tsx';
import { AddMembersDialog } from './add-members-dialog.tsx';
import { createRemovalTask } from './memberships.ts';
import type { GroupFacts } from '../people-data.ts';

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

  const remove = ({ id, username }: Member) => {
    void performOrReport({
      ...createRemovalTask({ group, userIds: [id], who: username }),
      optimisticUpdate: () =>
        updateItemsOptimistically<Member>(queryKey, (member) => (member.id === id ? null : member)),
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
      <QueryResult query={list} loading={<Loading lines={3} />}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="soft">This group has no members yet.</p>
          ) : (
            <ul className="people-list">
              {items.map((member) => (
                <li key={member.id}>
                  <Icon name="user" />
                  <Link to={`/users/${member.id}`}>{member.username}</Link>
                  {member.isDisabled && <span className="label-chip danger">Disabled</span>}
                  <span className="grow" />
                  <IconButton
                    label={`Remove ${member.username}`}
                    icon="close"
                    onPress={() => remove(member)}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </QueryResult>
      <ShowMore pages={list} noun="members" />
      {isAdding && <AddMembersDialog group={group} onClose={() => setAdding(false)} />}
    </section>
  );
}
