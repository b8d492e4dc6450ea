/** Why somebody may see a folder, or may not: the grant that decides, and the way from the root to it. */

import { useGraph } from '../../graph/use-graph.ts';
import type { AccessLevel } from '../../graph/live.tsx';
import { Link, setQuery, usePlace } from '../../router.tsx';
import { useViewer } from '../../session/session.tsx';
import { LevelChip, formatLevel, formatReason } from '../../ui/access-level.tsx';
import { Icon } from '../../ui/icons.tsx';
import { PersonPicker, type PickedPerson } from '../../ui/person-picker.tsx';
import { QueryResult } from '../../ui/states.tsx';
import { folderGrantFields, personOf, type Grant } from './grants.ts';
import { useUserGroups, type GroupName } from '../../graph/user-groups.ts';
import { hasLevel, type FolderLink, type OpenFolder } from '../open-folder.ts';

const explainDocument =
  /* GraphQL */ `
  query Explain($userId: ID!, $folderId: ID!) {
    explainAccess(userId: $userId, folderId: $folderId) {
      level
      reason
      user {
        id
        username
      }
      grant {
        ...GrantOnFolder
      }
    }
  }
` + folderGrantFields;

interface Explained {
  readonly explainAccess: {
    readonly level: AccessLevel;
    readonly reason: string;
    readonly user: { readonly id: string; readonly username: string };
    readonly grant: Grant | null;
  };
}

interface ExplainAccessProps {
  readonly folder: OpenFolder;
  /** On the folder and above it. */
  readonly grants: readonly Grant[];
}

export function ExplainAccess({ folder, grants }: ExplainAccessProps) {
  const viewer = useViewer();
  const manages = hasLevel(folder.accessLevel, 'MANAGE');
  const { query } = usePlace();
  const chosenId = manages ? query.get('person') : viewer.id;
  const answer = useGraph<Explained>(
    ['folder', folder.id, 'explain', chosenId],
    explainDocument,
    { userId: chosenId, folderId: folder.id },
    { enabled: chosenId !== null },
  );
  const groups = useUserGroups(chosenId ?? '', {
    isEnabled: chosenId !== null && (viewer.isAdministrator || chosenId === viewer.id),
  });
  const user = answer.data?.explainAccess.user;
  const picked: PickedPerson | null =
    user && user.id === chosenId ? { kind: 'user', id: user.id, name: user.username } : null;
  return (
    <section className="access-part" aria-labelledby="access-why">
      <h2 id="access-why">
        {manages ? 'Why may somebody see this, or not?' : 'Why you may do what you may'}
      </h2>
      {manages && (
        <div className="explain-person">
          <PersonPicker
            label="Explain the access of"
            kinds="users"
            value={picked}
            onChange={(person) => setQuery({ person: person?.id ?? null })}
            placeholder="A user name"
          />
        </div>
      )}
      {chosenId !== null && (
        <QueryResult query={answer}>
          {({ explainAccess }) => (
            <Explanation of={explainAccess} folder={folder} grants={grants} groups={groups.data ?? []} />
          )}
        </QueryResult>
      )}
    </section>
  );
}

interface ExplanationProps extends ExplainAccessProps {
  readonly of: Explained['explainAccess'];
  /** The groups of the user, if the viewer may know them. */
  readonly groups: readonly GroupName[];
}

function Explanation({ of: explained, folder, grants, groups }: ExplanationProps) {
  const { level, reason, user, grant } = explained;
  const way: readonly FolderLink[] = [...folder.ancestors, folder];
  const groupIds = new Set(groups.map(({ id }) => id));
  const theirs = grants.filter((one) =>
    one.user ? one.user.id === user.id : groupIds.has(one.group?.id ?? ''),
  );
  const isDeciding = (one: Grant) =>
    grant !== null && one.folder.id === grant.folder.id && personOf(one).id === personOf(grant).id;
  // Somebody else's groups are known to administrators only; the grant that decides is told to all who may ask.
  const concerned = grant && !theirs.some(isDeciding) ? [...theirs, grant] : theirs;
  return (
    <div className="card explain">
      <p className="explain-reason" role="status">
        <LevelChip level={level} /> <span>{formatReason(reason)}</span>
      </p>
      <ol className="explain-way" aria-label="The way from the root">
        {way.map(({ id, title }) => (
          <li key={id} className="explain-step" data-deciding={grant?.folder.id === id || undefined}>
            <Icon name="folder" />
            {id === folder.id ? <span>{title}</span> : <Link to={`/folders/${id}?tab=access`}>{title}</Link>}
            {concerned
              .filter((one) => one.folder.id === id)
              .map((one) => (
                <GrantOnWay key={personOf(one).id} grant={one} isDeciding={isDeciding(one)} />
              ))}
          </li>
        ))}
      </ol>
    </div>
  );
}

function GrantOnWay({ grant, isDeciding }: { grant: Grant; isDeciding: boolean }) {
  const { kind, name } = personOf(grant);
  return (
    <span className={isDeciding ? 'explain-grant deciding' : 'explain-grant'}>
      <Icon name={isDeciding ? 'check' : kind} />
      {formatLevel(grant.level)} for {kind === 'group' ? `the group ${name}` : name}
      {isDeciding ? <strong>decides</strong> : <span className="soft">overruled</span>}
    </span>
  );
}
