/** Shows a user's effective access to a folder, and why. */

import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import type { AccessLevel } from '../../graph/live.tsx';
import { useGraph } from '../../graph/use-graph.ts';
import type { GroupName } from '../../graph/user-groups.ts';
import { Link, setQuery, useLocation } from '../../router.tsx';
import { FolderPicker, type PickedFolder } from '../../tree/search/folder-picker.tsx';
import { LevelChip, formatReason } from '../../ui/access-level.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { QueryResult, Loading } from '../../ui/states.tsx';
import type { UserSummary } from '../people-data.tsx';
import { Name } from '../../ui/text.tsx';

const explainDocument = /* GraphQL */ `
  query Explain($userId: ID!, $folderId: ID!) {
    explainAccess(userId: $userId, folderId: $folderId) {
      level
      isPassage
      reason
      folder {
        id
        name
        path
      }
      grant {
        level
        folder {
          id
          path
        }
        user {
          id
        }
        group {
          id
          name
        }
      }
    }
  }
`;

interface Explanation {
  readonly level: AccessLevel;
  readonly isPassage: boolean | null;
  readonly reason: string;
  readonly folder: { readonly id: string; readonly name: string; readonly path: string };
  readonly grant: {
    readonly level: AccessLevel;
    readonly folder: { readonly id: string; readonly path: string };
    readonly user: { readonly id: string } | null;
    readonly group: GroupName | null;
  } | null;
}

/** The folder is in the address, so that the result can be shared as a link. */
export function EffectiveAccess({ user }: { user: UserSummary }) {
  const folderId = useLocation().query.get('folder');
  const [isPicking, setPicking] = useState(false);
  const answer = useGraph<{ explainAccess: Explanation }>(
    ['people', 'explain', user.id, folderId],
    explainDocument,
    { userId: user.id, folderId },
    { enabled: folderId !== null, placeholderData: keepPreviousData },
  );
  const picked = folderId === null ? null : (answer.data?.explainAccess.folder ?? null);
  const pick = ({ id }: PickedFolder) => {
    setQuery({ folder: id });
    setPicking(false);
  };
  return (
    <section className="card" aria-labelledby="effective-access">
      <header className="card-header">
        <h2 id="effective-access">Effective access</h2>
        <span className="grow" />
        <Button size="small" icon="folder" onPress={() => setPicking(true)}>
          {folderId === null ? 'Choose a folder…' : 'Choose another folder…'}
        </Button>
      </header>
      {folderId === null ? (
        <p className="hint">
          Choose a folder to see the access of <Name>{user.username}</Name> and the grant that decides.
        </p>
      ) : (
        <QueryResult query={answer} loading={<Loading lines={2} />}>
          {({ explainAccess }) => <Explained user={user} explanation={explainAccess} />}
        </QueryResult>
      )}
      {isPicking && (
        <Dialog title={`Effective access of ${user.username}`} onClose={() => setPicking(false)}>
          <div className="dialog-form">
            <FolderPicker label="Folder" picked={picked} onPick={pick} />
          </div>
        </Dialog>
      )}
    </section>
  );
}

function Explained({ user, explanation }: { user: UserSummary; explanation: Explanation }) {
  const { level, isPassage, reason, folder, grant } = explanation;
  return (
    <div className="people-explained" role="status">
      <p>
        <LevelChip level={level} /> {isPassage && <span className="label-chip">Passage</span>} on{' '}
        <Link to={`/folders/${folder.id}`}>
          <Name>{folder.path}</Name>
        </Link>
      </p>
      <p>
        <Name>{formatReason(reason)}</Name>
      </p>
      {grant && (
        <p className="soft">
          Decided by: <LevelChip level={grant.level} /> to{' '}
          {grant.group ? (
            <>
              the group{' '}
              <Link to={`/groups/${grant.group.id}`}>
                <Name>{grant.group.name}</Name>
              </Link>
            </>
          ) : (
            <Name>{user.username}</Name>
          )}{' '}
          on{' '}
          <Link to={`/folders/${grant.folder.id}?tab=access`}>
            <Name>{grant.folder.path}</Name>
          </Link>
        </p>
      )}
      {user.isDisabled && (
        <p className="soft">
          <Name>{`${user.username} is disabled and cannot sign in.`}</Name>
        </p>
      )}
    </div>
  );
}
