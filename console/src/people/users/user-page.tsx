/** The page of a user: properties, groups, access, sessions and activity. */

import { useEffect, useState } from 'react';
import { performOrReport } from '../../actions/perform.ts';
import { useGraph } from '../../graph/use-graph.ts';
import { Link } from '../../router.tsx';
import { useSession, useViewer } from '../../session/session.tsx';
import { ActionMenu, Button, type MenuAction } from '../../ui/button.tsx';
import { QueryResult, Empty } from '../../ui/states.tsx';
import { BackLink } from '../back-link.tsx';
import { EffectiveAccess } from './effective-access.tsx';
import { GrantsCard } from '../grants-card.tsx';
import { aboutUser, userDocument, type UserAnswer, type UserSummary } from '../people-data.ts';
import { ResetPasswordDialog } from './reset-password-dialog.tsx';
import { UserActivity } from './user-activity.tsx';
import {
  AdministratorDialog,
  DeleteUserDialog,
  DisableUserDialog,
  RenameUserDialog,
  userChange,
} from './user-dialogs.tsx';
import { UserSummaryCard } from './user-summary-card.tsx';
import { UserGroups } from './user-group-list.tsx';
import { UserSessions } from './user-sessions.tsx';

export function UserPage({ id }: { id: string }) {
  const answer = useGraph<UserAnswer>(aboutUser(id), userDocument, { id });
  useOwnName(answer.data?.user, answer.isFetching);
  return (
    <main className="page">
      <BackLink to="/users">Users</BackLink>
      <QueryResult query={answer}>
        {({ user }) =>
          user ? (
            <LoadedUser user={user} />
          ) : (
            <>
              <h1 className="visually-hidden">User</h1>
              <Empty icon="user" title="There is no such user">
                <p>
                  They may have been deleted. <Link to="/users">See all users</Link>
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
      <UserSessions user={user} />
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

const dialogs = {
  rename: RenameUserDialog,
  password: ResetPasswordDialog,
  administrator: AdministratorDialog,
  disable: DisableUserDialog,
  delete: DeleteUserDialog,
};

function Header({ user }: { user: UserSummary }) {
  const viewer = useViewer();
  const [open, setOpen] = useState<keyof typeof dialogs | null>(null);
  const OpenDialog = open && dialogs[open];
  const { username, isAdministrator, isDisabled } = user;
  const isOneself = user.id === viewer.id;
  const actions: MenuAction[] = [
    {
      label: isAdministrator ? 'Make a regular user…' : 'Make an administrator…',
      icon: 'shield',
      onAction: () => setOpen('administrator'),
    },
    isDisabled
      ? {
          label: 'Enable',
          icon: 'check',
          onAction: () =>
            void performOrReport(
              userChange(user, { isDisabled: false }, { isDisabled: true }, `Enabled ${username}`),
            ),
        }
      : { label: 'Disable…', icon: 'close', onAction: () => setOpen('disable') },
    { label: 'Delete…', icon: 'trash', isDanger: true, onAction: () => setOpen('delete') },
  ];
  return (
    <header className="page-header">
      <h1>{username}</h1>
      {isAdministrator && <span className="label-chip info">Administrator</span>}
      {isDisabled && <span className="label-chip danger">Disabled</span>}
      {isOneself && <span className="label-chip good">You</span>}
      <span className="grow" />
      <div className="toolbar">
        <Button icon="edit" onPress={() => setOpen('rename')}>
          Rename
        </Button>
        {!isOneself && (
          <>
            <Button icon="key" onPress={() => setOpen('password')}>
              Reset password
            </Button>
            <ActionMenu label={`More actions for ${username}`} actions={actions} />
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
