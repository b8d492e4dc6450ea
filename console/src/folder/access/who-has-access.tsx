/** Everyone who has access to a folder, with the grant that decides, page by page. */

import { useInfiniteQuery } from '@tanstack/react-query';
import type { AccessLevel } from '../../graph/folder-row.ts';
import type { ItemPage } from '../../graph/pages.ts';
import type { GraphQueryKey } from '../../graph/use-graph.ts';
import { useNextPage } from '../../graph/use-pages.ts';
import { Link, setQuery } from '../../router.tsx';
import { client } from '../../session/client.ts';
import { useViewer } from '../../session/session.tsx';
import { LevelChip } from '../../ui/access-level.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { QueryResult } from '../../ui/states.tsx';
import { formatName, Name } from '../../ui/text.tsx';
import type { CurrentFolder } from '../current-folder.ts';
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

/** Without the total: the server would examine all users to count it. */
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

const noPage: ItemPage<EffectiveAccess> = { items: [], pageInfo: { hasNextPage: false, endCursor: null } };

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
      return folder?.effectiveAccess ?? noPage;
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ pageInfo }) => (pageInfo.hasNextPage ? pageInfo.endCursor : null),
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  });
  return { list, next: useNextPage(queryKey, list) };
}

/** For viewers with Manage access. */
export function WhoHasAccess({ folder }: { folder: CurrentFolder }) {
  const { list, next } = useEffectiveAccess(folder.id);
  return (
    <section className="access-part" aria-labelledby="access-everyone">
      <div className="card-header">
        <h2 id="access-everyone">Who has access</h2>
      </div>
      <QueryResult query={list}>
        {(items) => (
          <>
            <div className="table-frame">
              <table className="table access-table">
                <caption className="visually-hidden">Who has access</caption>
                <thead>
                  <tr>
                    <th scope="col">User</th>
                    <th scope="col">Level</th>
                    <th scope="col">Decided by</th>
                    <th scope="col">
                      <span className="visually-hidden">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((item) => (
                    <AccessRow key={item.user.id} item={item} folderId={folder.id} />
                  ))}
                </tbody>
              </table>
            </div>
            {list.hasNextPage && (
              <div className="show-more">
                <Button isPending={next.isReadingMore} onPress={next.readMore}>
                  Show more users
                </Button>
                <span className="soft number">The first {items.length.toLocaleString('en')}</span>
              </div>
            )}
          </>
        )}
      </QueryResult>
    </section>
  );
}

function AccessRow({ item: { user, level, grant }, folderId }: { item: EffectiveAccess; folderId: string }) {
  const { isAdministrator } = useViewer();
  const explain = () => {
    setQuery({ person: user.id });
    document.getElementById('access-why')?.scrollIntoView({ block: 'start' });
  };
  return (
    <tr>
      <th scope="row">
        <span className="access-person">
          <Icon name="user" />
          <PersonName kind="user" id={user.id} name={user.username} isLinked={isAdministrator} />
          {user.isDisabled === true && <span className="label-chip danger">Disabled</span>}
        </span>
      </th>
      <td>
        <LevelChip level={level} />
      </td>
      <td>{grant ? <DecidingGrant grant={grant} folderId={folderId} /> : 'Administrator'}</td>
      <td className="cell-actions">
        <IconButton
          label={`Explain the access of ${formatName(user.username)}`}
          icon="eye"
          onPress={explain}
        />
      </td>
    </tr>
  );
}

/** For example “The group Caretakers on Places”. */
function DecidingGrant({ grant, folderId }: { grant: Grant; folderId: string }) {
  const { isAdministrator } = useViewer();
  const { kind, id, name } = personOf(grant);
  const isHere = grant.folder.id === folderId;
  return (
    <>
      {kind === 'group' ? (
        <>
          The group <PersonName kind="group" id={id} name={name} isLinked={isAdministrator} />
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
