/** Explains why a user may see a folder or not: the deciding grant, and the grants on the path from the root. */

import { useGraph } from '../../graph/use-graph.ts';
import type { AccessLevel } from '../../graph/live.tsx';
import { Link, setQuery, useLocation } from '../../router.tsx';
import { useViewer } from '../../session/session.tsx';
import { LevelChip, formatLevel, formatReason } from '../../ui/access-level.tsx';
import { Name } from '../../ui/text.tsx';
import { Icon } from '../../ui/icons.tsx';
import { PersonPicker, type PickedPerson } from '../../ui/person-picker.tsx';
import { QueryResult } from '../../ui/states.tsx';
import { folderGrantFields, personOf, type Grant } from './folder-grants.ts';
import { useUserGroups, type GroupName } from '../../graph/user-groups.ts';
import { hasLevel, type CurrentFolder, type FolderLink } from '../current-folder.ts';

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

interface ExplainResponse {
  readonly explainAccess: {
    readonly level: AccessLevel;
    readonly reason: string;
    readonly user: { readonly id: string; readonly username: string };
    readonly grant: Grant | null;
  };
}

interface ExplainAccessProps {
  readonly folder: CurrentFolder;
  /** The grants on the folder and its ancestors. */
  readonly grants: readonly Grant[];
}

/** Explains the access of the user in the address, or else the viewer's own access. */
export function ExplainAccess({ folder, grants }: ExplainAccessProps) {
  const viewer = useViewer();
  const manages = hasLevel(folder.accessLevel, 'MANAGE');
  const { query } = useLocation();
  const chosenId = manages ? query.get('person') : viewer.id;
  const user = useExplanation(folder, chosenId).data?.explainAccess.user;
  const pickedPerson: PickedPerson | null =
    user && user.id === chosenId ? { kind: 'user', id: user.id, name: user.username } : null;
  return (
    <section className="access-part" aria-labelledby="access-why">
      <h2 id="access-why">{manages ? 'Access of a user' : 'Your access'}</h2>
      {manages && (
        <div className="explain-person">
          <PersonPicker
            label="Explain the access of"
            kinds="users"
            value={pickedPerson}
            onChange={(person) => setQuery({ person: person?.id ?? null })}
            placeholder="A user name"
          />
        </div>
      )}
      {chosenId !== null && <UserAccess folder={folder} grants={grants} userId={chosenId} />}
    </section>
  );
}

function useExplanation({ id: folderId }: CurrentFolder, userId: string | null) {
  return useGraph<ExplainResponse>(
    ['folder', folderId, 'explain', userId],
    explainDocument,
    { userId, folderId },
    { enabled: userId !== null },
  );
}

/** Explains the access of one user. */
export function UserAccess({ folder, grants, userId }: ExplainAccessProps & { readonly userId: string }) {
  const viewer = useViewer();
  const explanation = useExplanation(folder, userId);
  const groups = useUserGroups(userId, { isEnabled: viewer.isAdministrator || userId === viewer.id });
  return (
    <QueryResult query={explanation}>
      {({ explainAccess }) => (
        <Explanation explanation={explainAccess} folder={folder} grants={grants} groups={groups.data ?? []} />
      )}
    </QueryResult>
  );
}

interface ExplanationProps extends ExplainAccessProps {
  readonly explanation: ExplainResponse['explainAccess'];
  /** The groups of the user, or none if the viewer may not read them. */
  readonly groups: readonly GroupName[];
}

function Explanation({ explanation, folder, grants, groups }: ExplanationProps) {
  const { level, reason, user, grant } = explanation;
  const path: readonly FolderLink[] = [...folder.ancestors, folder];
  const groupIds = new Set(groups.map(({ id }) => id));
  const ownGrants = grants.filter((each) =>
    each.user ? each.user.id === user.id : groupIds.has(each.group?.id ?? ''),
  );
  const isDeciding = (each: Grant) =>
    grant !== null && each.folder.id === grant.folder.id && personOf(each).id === personOf(grant).id;
  // Only administrators can read the groups of others, so the deciding grant may be missing from the list.
  const relevantGrants = grant && !ownGrants.some(isDeciding) ? [...ownGrants, grant] : ownGrants;
  return (
    <div className="card explain">
      <p className="explain-reason" role="status">
        <LevelChip level={level} />{' '}
        <span>
          <Name>{formatReason(reason)}</Name>
        </span>
      </p>
      <ol className="explain-path" aria-label="Path from the root">
        {path.map(({ id, name }) => (
          <li key={id} className="explain-step" data-deciding={grant?.folder.id === id || undefined}>
            <Icon name="folder" />
            {id === folder.id ? (
              <span>
                <Name>{name}</Name>
              </span>
            ) : (
              <Link to={`/folders/${id}?tab=access`}>
                <Name>{name}</Name>
              </Link>
            )}
            {relevantGrants
              .filter((each) => each.folder.id === id)
              .map((each) => (
                <PathGrant key={personOf(each).id} grant={each} isDeciding={isDeciding(each)} />
              ))}
          </li>
        ))}
      </ol>
    </div>
  );
}

function PathGrant({ grant, isDeciding }: { grant: Grant; isDeciding: boolean }) {
  const { kind, name } = personOf(grant);
  return (
    <span className={isDeciding ? 'explain-grant deciding' : 'explain-grant'}>
      <Icon name={isDeciding ? 'check' : kind} />
      <span>
        {formatLevel(grant.level)} for <Name>{kind === 'group' ? `the group ${name}` : name}</Name>
      </span>
      {isDeciding ? <strong>decides</strong> : <span className="soft">overridden</span>}
    </span>
  );
}
