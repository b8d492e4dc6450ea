/** The page of a group: its members and its grants. */

import { useState } from 'react';
import { useGraph } from '../../graph/use-graph.ts';
import { Link } from '../../router.tsx';
import { Button } from '../../ui/button.tsx';
import { QueryResult, Empty } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { BackLink } from '../back-link.tsx';
import { GrantsCard } from '../grants-card.tsx';
import { DeleteGroupDialog, RenameGroupDialog } from './group-dialogs.tsx';
import { GroupMembers } from './group-members.tsx';
import { aboutGroup, groupDocument, type GroupAnswer, type GroupFacts } from '../people-data.ts';

export function GroupPage({ id }: { id: string }) {
  const answer = useGraph<GroupAnswer>(aboutGroup(id), groupDocument, { id });
  return (
    <main className="page">
      <BackLink to="/groups">Groups</BackLink>
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
        <p>
          It may have been deleted. <Link to="/groups">See all groups</Link>
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
        <h1>{group.name}</h1>
        <span className="soft">
          created <Time at={group.createdAt} />
        </span>
        <span className="grow" />
        <Button icon="edit" onPress={() => setOpen('rename')}>
          Rename
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
