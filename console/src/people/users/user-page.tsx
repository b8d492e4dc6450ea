/** The page of a user: properties, groups, access, sessions and activity. */

import { useEffect, useState } from 'react';
import { startViewAs } from '../../actions/people-actions.ts';
import { performOrReport } from '../../actions/perform.ts';
import { useGraph } from '../../graph/use-graph.ts';
import { usePages, type Page } from '../../graph/use-pages.ts';
import { Link } from '../../router.tsx';
import { useSession, useViewer } from '../../session/session.tsx';
import { startView } from '../../session/view-as.ts';
import { ActionMenu, Button, type MenuAction } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { DataTable, type TableColumn } from '../../ui/data-table.tsx';
import { formatJournalEntry, journalFields, type JournalEntry } from '../../ui/journal-sentence.ts';
import { EntryPath, Sentence } from '../../ui/sentence.tsx';
import { QueryResult, Empty } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { UserApiKeys } from '../api-keys/api-keys-card.tsx';
import { EffectiveAccess } from './effective-access.tsx';
import { UserIdentities } from '../identities-card.tsx';
import { GrantsCard } from '../grants-card.tsx';
import {
  KindChip,
  userKey,
  userDocument,
  UserState,
  type UserResponse,
  type UserSummary,
} from '../people-data.tsx';
import { RevokeAllDialog } from '../sessions/revoke-dialogs.tsx';
import { SessionTable } from '../sessions/session-table.tsx';
import { useSessions } from '../sessions/sessions.ts';
import {
  AdministratorDialog,
  ConvertDialog,
  DeleteUserDialog,
  DisableUserDialog,
  RenameUserDialog,
  ResetPasswordDialog,
  ResetSecondFactorDialog,
  createChangeTask,
} from './user-dialogs.tsx';
import { UserGroups } from './user-group-list.tsx';
import { Name } from '../../ui/text.tsx';

export function UserPage({ id }: { id: string }) {
  const answer = useGraph<UserResponse>(userKey(id), userDocument, { id });
  useOwnName(answer.data?.user, answer.isFetching);
  return (
    <main className="page">
      <nav aria-label="Back">
        <Link to="/users" className="back-link">
          <Icon name="back" />
          Users
        </Link>
      </nav>
      <QueryResult query={answer}>
        {({ user }) =>
          user ? (
            <LoadedUser user={user} />
          ) : (
            <>
              <h1 className="visually-hidden">User</h1>
              <Empty icon="user" title="There is no such user">
                <p>The user was deleted, or the link is wrong.</p>
                <p>
                  <Link to="/users">Show all users</Link>
                </p>
              </Empty>
            </>
          )
        }
      </QueryResult>
    </main>
  );
}

function LoadedUser({ user }: { user: UserSummary }) {
  return (
    <>
      <Header user={user} />
      <div className="people-columns">
        <UserSummaryCard user={user} />
        <UserGroups user={user} />
      </div>
      <GrantsCard
        grantee={{ userId: user.id }}
        name={user.username}
        note={
          user.isAdministrator
            ? 'An administrator manages every folder, regardless of grants.'
            : 'Grants to this user. Groups of the user may give more access.'
        }
      />
      <EffectiveAccess user={user} />
      <UserIdentities user={user} />
      {user.kind === 'PERSON' && <UserSessions user={user} />}
      <UserApiKeys user={user} />
      <UserActivity user={user} />
    </>
  );
}

/** Updates the viewer's name in the top bar if the viewer is renamed here. */
function useOwnName(user: UserSummary | null | undefined, isFetching: boolean): void {
  const viewer = useViewer();
  const { reload } = useSession();
  // Ignores an optimistic name until the server has confirmed it.
  const hasOldName = !isFetching && user?.id === viewer.id && user.username !== viewer.username;
  useEffect(() => {
    if (hasOldName) void reload();
  }, [hasOldName, reload]);
}

/** Reports an error as a toast. */
async function viewAs({ id, username }: UserSummary): Promise<void> {
  const result = await performOrReport({ action: startViewAs, variables: { input: { userId: id } } });
  if (result) startView({ viewToken: result.startViewAs.viewToken, userId: id, username });
}

const dialogs = {
  rename: RenameUserDialog,
  password: ResetPasswordDialog,
  secondFactor: ResetSecondFactorDialog,
  administrator: AdministratorDialog,
  convert: ConvertDialog,
  disable: DisableUserDialog,
  delete: DeleteUserDialog,
};

type Dialog = keyof typeof dialogs;

function listActions(user: UserSummary, open: (dialog: Dialog) => void): readonly MenuAction[] {
  const { kind, username, isAdministrator, isDisabled, hasSecondFactor } = user;
  return [
    ...(isAdministrator || isDisabled
      ? []
      : ([
          {
            label: `View as ${username}`,
            icon: 'eye',
            help: 'Shows the tree with the rights of the user, read only. The journal records it.',
            onAction: () => void viewAs(user),
          },
        ] as const)),
    {
      label: isAdministrator ? 'Make a regular user…' : 'Make an administrator…',
      icon: 'shield',
      onAction: () => open('administrator'),
    },
    ...(kind === 'PERSON'
      ? ([{ label: 'Convert to a service account…', icon: 'key', onAction: () => open('convert') }] as const)
      : []),
    isDisabled
      ? {
          label: 'Enable',
          icon: 'check',
          onAction: () =>
            void performOrReport(
              createChangeTask(user, { isDisabled: false }, { isDisabled: true }, `Enabled ${username}`),
            ),
        }
      : { label: 'Disable…', icon: 'close', onAction: () => open('disable') },
    ...(hasSecondFactor
      ? ([{ label: 'Reset second factor…', icon: 'undo', onAction: () => open('secondFactor') }] as const)
      : []),
    { label: 'Delete…', icon: 'trash', isDanger: true, onAction: () => open('delete') },
  ];
}

function Header({ user }: { user: UserSummary }) {
  const viewer = useViewer();
  const [open, setOpen] = useState<Dialog | null>(null);
  const OpenDialog = open && dialogs[open];
  const { kind, username, isAdministrator, isDisabled } = user;
  const isOneself = user.id === viewer.id;
  return (
    <header className="page-header">
      <h1>
        <Name>{username}</Name>
      </h1>
      <KindChip kind={kind} />
      {isAdministrator && <span className="label-chip info">Administrator</span>}
      {isDisabled && <span className="label-chip danger">Disabled</span>}
      {isOneself && <span className="label-chip good">You</span>}
      <span className="grow" />
      <div className="toolbar">
        <Button icon="edit" onPress={() => setOpen('rename')}>
          Rename…
        </Button>
        {!isOneself && (
          <>
            {kind === 'PERSON' && (
              <Button icon="key" onPress={() => setOpen('password')}>
                Reset password…
              </Button>
            )}
            <ActionMenu label={`More actions for ${username}`} list={() => [listActions(user, setOpen)]} />
          </>
        )}
      </div>
      {isOneself && (
        <p className="hint people-note">
          You cannot disable, demote or delete yourself, so that an administrator always remains. Change your
          password in <Link to="/account">your account</Link>.
        </p>
      )}
      {OpenDialog && <OpenDialog user={user} onClose={() => setOpen(null)} />}
    </header>
  );
}

function UserSummaryCard({ user }: { user: UserSummary }) {
  const { id, kind, isAdministrator, isDisabled, hasSecondFactor, createdAt, lastLoginAt } = user;
  return (
    <section className="card" aria-labelledby="user-facts">
      <h2 id="user-facts">Account</h2>
      <dl className="facts people-facts">
        <dt>State</dt>
        <dd>
          <UserState isDisabled={isDisabled} />
        </dd>
        <dt>Administrator</dt>
        <dd>{isAdministrator ? 'Yes, with full access' : 'No'}</dd>
        {kind === 'SERVICE' ? (
          <>
            <dt>Kind</dt>
            <dd>Service account: a program with API keys, which has no password</dd>
          </>
        ) : (
          <>
            <dt>Second factor</dt>
            <dd>{hasSecondFactor ? 'On' : 'Off'}</dd>
            <dt>Last login</dt>
            <dd>{lastLoginAt === null ? 'Never' : <Time at={lastLoginAt} />}</dd>
          </>
        )}
        <dt>Created</dt>
        <dd>
          <Time at={createdAt} />
        </dd>
        <dt>Id</dt>
        <dd className="people-id">
          <span className="code">{id}</span>
          <CopyButton label="Copy id" text={id} />
        </dd>
      </dl>
    </section>
  );
}

/** The sessions of a user. */
function UserSessions({ user }: { user: UserSummary }) {
  const list = useSessions(user.id);
  const [isRevoking, setRevoking] = useState(false);
  return (
    <section className="card" aria-labelledby="user-sessions">
      <header className="card-header">
        <h2 id="user-sessions">Sessions</h2>
        <span className="grow" />
        <Link to={`/sign-ins?user=${user.id}`}>Show sign-ins</Link>
        {list.data && list.data.totalCount > 0 && (
          <Button size="small" icon="signOut" onPress={() => setRevoking(true)}>
            Revoke all…
          </Button>
        )}
      </header>
      <SessionTable
        label={`Sessions of ${user.username}`}
        list={list}
        empty={
          <p className="soft">
            <Name>{user.username}</Name> is not signed in anywhere.
          </p>
        }
      />
      {isRevoking && <RevokeAllDialog user={user} onClose={() => setRevoking(false)} />}
    </section>
  );
}

const activityPageSize = 50;

const activityDocument =
  /* GraphQL */ `
    query DoneBy($id: ID!, $first: Int, $after: String) {
      journal(filter: { byId: $id }, first: $first, after: $after) {
        items {
          ...JournalFields
        }
        totalCount
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  ` + journalFields;

/** The latest journal entries of a user. */
function UserActivity({ user: { id, username } }: { user: UserSummary }) {
  const list = usePages<{ journal: Page<JournalEntry> }, JournalEntry>(
    ['people', 'activity', id],
    activityDocument,
    { id, first: activityPageSize },
    ({ journal }) => journal,
  );
  return (
    <section className="card" aria-labelledby="user-activity">
      <h2 id="user-activity">Recent activity</h2>
      <DataTable
        label="Recent activity"
        columns={activityColumns}
        list={list}
        keyOf={numberOf}
        empty={
          <p className="soft">
            The journal contains no change by <Name>{username}</Name>.
          </p>
        }
        loadingLines={3}
      />
    </section>
  );
}

const numberOf = ({ number }: JournalEntry) => `${number}`;

const activityColumns: readonly TableColumn<JournalEntry>[] = [
  { id: 'when', label: 'When', className: 'people-when', render: ({ at }) => <Time at={at} /> },
  {
    id: 'what',
    label: 'What',
    isRowHeader: true,
    render: (entry) => (
      <>
        <Sentence parts={formatJournalEntry(entry)} />
        <EntryPath entry={entry} />
      </>
    ),
  },
];
