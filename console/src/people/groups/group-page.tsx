/** The page of a group: its members and its grants. */

import { useState } from 'react';
import { useGraph } from '../../graph/use-graph.ts';
import { Link } from '../../router.tsx';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { QueryResult, Empty } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { GrantsCard } from '../grants-card.tsx';
import { DeleteGroupDialog, RenameGroupDialog } from './group-dialogs.tsx';
import { GroupMembers } from './group-members.tsx';
import { groupKey, groupDocument, type GroupResponse, type GroupFacts } from '../people-data.tsx';
import { Name } from '../../ui/text.tsx';

export function GroupPage({ id }: { id: string }) {
  const answer = useGraph<GroupResponse>(groupKey(id), groupDocument, { id });
  return (
    <main className="page">
      <nav aria-label="Back">
        <Link to="/groups" className="back-link">
          <Icon name="back" />
          Groups
        </Link>
      </nav>
      <QueryResult query={answer}>
        {({ group }) => (group ? <LoadedGroup group={group} /> : <MissingGroup />)}
      </QueryResult>
    </main>
  );
}

function MissingGroup() {
  return (
    <>
      <h1 className="visually-hidden">Group</h1>
      <Empty icon="group" title="There is no such group">
        <p>The group was deleted, or the link is wrong.</p>
        <p>
          <Link to="/groups">Show all groups</Link>
        </p>
      </Empty>
    </>
  );
}

function LoadedGroup({ group }: { group: GroupFacts }) {
  const [open, setOpen] = useState<'rename' | 'delete' | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      <header className="page-header">
        <h1>
          <Name>{group.name}</Name>
        </h1>
        <span className="soft">
          Created <Time at={group.createdAt} />
        </span>
        <span className="grow" />
        <Button icon="edit" onPress={() => setOpen('rename')}>
          Rename…
        </Button>
        <Button icon="trash" onPress={() => setOpen('delete')}>
          Delete…
        </Button>
      </header>
      <GroupMembers group={group} />
      <GrantsCard
        grantee={{ groupId: group.id }}
        name={`“${group.name}”`}
        note="Grants to the group apply to all its members."
      />
      {open === 'rename' && <RenameGroupDialog group={group} onClose={close} />}
      {open === 'delete' && <DeleteGroupDialog group={group} onClose={close} />}
    </>
  );
}
