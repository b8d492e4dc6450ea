/** Everyone who has access to a folder, with the grant that decides, page by page. */

import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { AccessLevel } from '../../graph/folder-change.ts';
import type { ItemPage } from '../../graph/pages.ts';
import type { GraphQueryKey } from '../../graph/use-graph.ts';
import { useNextPage } from '../../graph/use-pages.ts';
import { Link } from '../../router.tsx';
import { client } from '../../session/client.ts';
import { useViewer } from '../../session/session.tsx';
import { LevelChip } from '../../ui/access-level.tsx';
import { IconButton } from '../../ui/button.tsx';
import { actionsColumn, DataTable, type TableColumn } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Name } from '../../ui/text.tsx';
import type { CurrentFolder } from '../current-folder.ts';
import { UserAccess } from './explain-access.tsx';
import { folderGrantFields, personOf, type Grant } from './folder-grants.ts';
import { PersonName } from './grant-list.tsx';

interface EffectiveAccess {
  readonly user: { readonly id: string; readonly username: string; readonly isDisabled?: boolean };
  readonly level: AccessLevel;
  /** Null for administrators. */
  readonly grant: Grant | null;
}

interface EffectiveAccessResponse {
  readonly folder: { readonly effectiveAccess: ItemPage<EffectiveAccess> } | null;
}

/** Does not request the total number, because the server would have to examine all users. */
const effectiveAccessDocument =
  /* GraphQL */ `
    query WhoHasAccess($id: ID!, $after: String, $isAdministrator: Boolean!) {
      folder(id: $id) {
        effectiveAccess(first: 50, after: $after) {
          items {
            user {
              id
              username
              isDisabled @include(if: $isAdministrator)
            }
            level
            grant {
              ...GrantOnFolder
            }
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  ` + folderGrantFields;

const emptyPage: ItemPage<EffectiveAccess> = { items: [], pageInfo: { hasNextPage: false, endCursor: null } };

function useEffectiveAccess(id: string) {
  const { isAdministrator } = useViewer();
  const queryKey: GraphQueryKey = ['folder', id, 'everyone'];
  const list = useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam: after, signal }) => {
      const variables = { id, after, isAdministrator };
      const { folder } = await client.query<EffectiveAccessResponse>(effectiveAccessDocument, variables, {
        signal,
      });
      return folder?.effectiveAccess ?? emptyPage;
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ pageInfo }) => (pageInfo.hasNextPage ? pageInfo.endCursor : null),
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  });
  return { list, next: useNextPage(queryKey, list) };
}

interface WhoHasAccessProps {
  readonly folder: CurrentFolder;
  /** The grants on the folder and its ancestors. */
  readonly grants: readonly Grant[];
}

/** For viewers with Manage access. */
export function WhoHasAccess({ folder, grants }: WhoHasAccessProps) {
  const { isAdministrator } = useViewer();
  const { list, next } = useEffectiveAccess(folder.id);
  const [explainedUser, setExplainedUser] = useState<EffectiveAccess['user'] | null>(null);
  const columns = useMemo(
    () => listColumns(folder.id, isAdministrator, setExplainedUser),
    [folder.id, isAdministrator],
  );
  const items = list.data;
  return (
    <section className="access-part" aria-labelledby="access-everyone">
      <div className="card-header">
        <h2 id="access-everyone">Who has access</h2>
      </div>
      <DataTable
        label="Who has access"
        columns={columns}
        list={{
          ...next,
          data: items && { items },
          error: list.error,
          refetch: list.refetch,
          hasMore: list.hasNextPage,
        }}
        keyOf={({ user }) => user.id}
        empty={<p className="hint">No user has access.</p>}
      />
      {explainedUser && (
        <Dialog
          title={`Access of ${explainedUser.username} to “${folder.name}”`}
          onClose={() => setExplainedUser(null)}
        >
          <div className="dialog-form">
            <UserAccess folder={folder} grants={grants} userId={explainedUser.id} />
          </div>
        </Dialog>
      )}
    </section>
  );
}

function listColumns(
  folderId: string,
  isLinked: boolean,
  explain: (user: EffectiveAccess['user']) => void,
): readonly TableColumn<EffectiveAccess>[] {
  return [
    {
      id: 'user',
      label: 'User',
      isRowHeader: true,
      render: ({ user }) => (
        <span className="access-person">
          <Icon name="user" />
          <PersonName kind="user" id={user.id} name={user.username} isLinked={isLinked} />
          {user.isDisabled === true && <span className="label-chip danger">Disabled</span>}
        </span>
      ),
    },
    { id: 'level', label: 'Level', render: ({ level }) => <LevelChip level={level} /> },
    {
      id: 'grant',
      label: 'Decided by',
      // The explanation names the grant as well.
      minTableWidth: 440,
      render: ({ grant }) =>
        grant ? (
          <DecidingGrant {...{ grant, folderId, isLinked }} />
        ) : (
          <span className="access-administrator">Administrator</span>
        ),
    },
    actionsColumn(({ user }) => (
      <IconButton
        label={`Explain the access of ${user.username}`}
        icon="search"
        onPress={() => explain(user)}
      />
    )),
  ];
}

interface DecidingGrantProps {
  readonly grant: Grant;
  readonly folderId: string;
  readonly isLinked: boolean;
}

/** For example “The group Caretakers on Places”. */
function DecidingGrant({ grant, folderId, isLinked }: DecidingGrantProps) {
  const { kind, id, name } = personOf(grant);
  const isHere = grant.folder.id === folderId;
  return (
    <>
      {kind === 'group' ? (
        <>
          The group <PersonName kind="group" id={id} name={name} isLinked={isLinked} />
        </>
      ) : (
        'A grant to the user'
      )}{' '}
      {isHere ? (
        'here'
      ) : (
        <>
          on{' '}
          <Link to={`/folders/${grant.folder.id}?tab=access`}>
            <Name>{grant.folder.name}</Name>
          </Link>
        </>
      )}
    </>
  );
}
