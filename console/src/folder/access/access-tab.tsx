/** The access tab of a folder: its grants, the inherited ones, and an explanation for one user. */

import { useState } from 'react';
import type { AccessLevel } from '../../graph/live.tsx';
import { useJournalTail } from '../../graph/use-journal-tail.ts';
import { currentView } from '../../session/view-as.ts';
import { useViewer } from '../../session/session.tsx';
import { accessLevels, formatLevel } from '../../ui/access-level.tsx';
import { Button } from '../../ui/button.tsx';
import { ActionDialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/fields.tsx';
import { PersonPicker, type PickedPerson } from '../../ui/person-picker.tsx';
import { QueryResult } from '../../ui/states.tsx';
import { hasLevel, type CurrentFolder } from '../current-folder.ts';
import { ExplainAccess } from './explain-access.tsx';
import { GrantSection, searchThreshold } from './grant-list.tsx';
import { sortGrants } from './grant-order.ts';
import { createGrantCall, grantLevel, isGrantTo, useGrants, type Grant } from './folder-grants.ts';
import { WhoHasAccess } from './who-has-access.tsx';
import './access.css';

export function AccessTab({ folder }: { folder: CurrentFolder }) {
  const { id, accessLevel, ancestors } = folder;
  const { isAdministrator } = useViewer();
  const grants = useGrants(id);
  const manages = hasLevel(accessLevel, 'MANAGE');
  // Only administrators can follow changes of grants. `graph/live.tsx` reports changes of the viewer’s own access.
  useJournalTail({
    isEnabled: isAdministrator,
    filter: { kinds: ['GRANT_ACCESS', 'REVOKE_ACCESS'] },
    staleQuery: ['folder', id],
    isRelevant: ({ folderId }) => [id, ...ancestors.map((ancestor) => ancestor.id)].includes(folderId ?? ''),
  });
  return (
    <div className="access">
      {!manages && (
        <p className="hint">
          You see only the grants to you and your groups. Users with Manage access see all grants.
        </p>
      )}
      <QueryResult query={grants}>
        {(unsortedGrants) => {
          const allGrants = sortGrants(unsortedGrants);
          const ownGrants = allGrants.filter((grant) => grant.folder.id === id);
          const inheritedGrants = allGrants.filter((grant) => grant.folder.id !== id);
          return (
            <>
              {allGrants.length > searchThreshold && (
                <p className="hint">
                  <a href="#access-why">Access of a user</a> is explained below the lists.
                </p>
              )}
              <OwnGrants folder={folder} grants={ownGrants} />
              {(inheritedGrants.length > 0 || ancestors.length > 0) && (
                <InheritedGrants folderId={id} grants={inheritedGrants} />
              )}
              <ExplainAccess folder={folder} grants={allGrants} />
              {manages && <WhoHasAccess folder={folder} grants={allGrants} />}
            </>
          );
        }}
      </QueryResult>
    </div>
  );
}

function OwnGrants({ folder, grants }: { folder: CurrentFolder; grants: readonly Grant[] }) {
  const [isGranting, setGranting] = useState(false);
  const manages = hasLevel(folder.accessLevel, 'MANAGE') && !currentView;
  return (
    <>
      <GrantSection
        id="access-here"
        title="Granted here"
        grants={grants}
        canChange={manages}
        folderId={folder.id}
        emptyText={
          manages
            ? 'There are no grants on this folder. Inherited access applies.'
            : 'There are no grants to you on this folder.'
        }
        action={
          manages && (
            <Button icon="plus" onPress={() => setGranting(true)}>
              Grant access…
            </Button>
          )
        }
      />
      {isGranting && <GrantDialog folder={folder} grants={grants} onClose={() => setGranting(false)} />}
    </>
  );
}

function InheritedGrants({ folderId, grants }: { folderId: string; grants: readonly Grant[] }) {
  const { isAdministrator } = useViewer();
  return (
    <GrantSection
      id="access-inherited"
      title="Inherited"
      grants={grants}
      canChange={false}
      folderId={folderId}
      emptyText={
        isAdministrator
          ? 'There are no grants on the folders above.'
          : 'There are no grants on the folders above that you can see. On folders that you do not manage, you see only the grants to you and your groups.'
      }
      note="The nearest grant decides. It overrides the grants above it."
    />
  );
}

interface GrantDialogProps {
  readonly folder: Pick<CurrentFolder, 'id' | 'name'>;
  /** The grants on this folder. */
  readonly grants: readonly Grant[];
  readonly onClose: () => void;
}

const explanations: Readonly<Record<AccessLevel, string>> = {
  NONE: 'Block inherited access to this folder and everything inside. A deeper grant can give access again.',
  READ: 'See this folder and everything inside, but change nothing.',
  WRITE: 'See and change this folder and everything inside: names, texts, new folders, moves and deletions.',
  MANAGE: 'Also grant and remove access to this folder and everything inside.',
};

/** Grants a user or a group access to a folder. */
function GrantDialog({ folder, grants, onClose }: GrantDialogProps) {
  const [person, setPerson] = useState<PickedPerson | null>(null);
  const [level, setLevel] = useState<AccessLevel>('READ');
  const existingGrant = person ? grants.find((grant) => isGrantTo(grant, person)) : undefined;
  return (
    <ActionDialog
      title={`Grant access to “${folder.name}”`}
      verb="Grant access"
      call={person ? createGrantCall(folder.id, person, level) : undefined}
      isReady={person !== null && existingGrant?.level !== level}
      onSubmit={async () => {
        if (person) await grantLevel(folder.id, person, level);
      }}
      onClose={onClose}
    >
      <PersonPicker
        label="User or group"
        kinds="usersAndGroups"
        value={person}
        onChange={setPerson}
        autoFocus
      />
      <Select label="Level" value={level} options={accessLevels} onChange={setLevel} />
      <p className="hint">{explanations[level]}</p>
      {existingGrant && (
        <p className="hint" role="status">
          {person?.name} already has {formatLevel(existingGrant.level)} here
          {existingGrant.level === level ? '.' : '; the new level replaces it.'}
        </p>
      )}
    </ActionDialog>
  );
}
