/** The viewer's groups, password, second factor, sessions, API keys and sign-ins. */

import { Form } from 'react-aria-components';
import { useState, type FormEvent } from 'react';
import { changePassword } from '../actions/people-actions.ts';
import { perform } from '../actions/perform.ts';
import { describeProblem } from '../graph/problem.ts';
import { peopleQueries, useGraph } from '../graph/use-graph.ts';
import { useUserGroups, type GroupName } from '../graph/user-groups.ts';
import { SecondFactorCard } from '../second-factor/second-factor-card.tsx';
import {
  secondFactorDocument,
  secondFactorKey,
  type SecondFactorResponse,
} from '../second-factor/second-factor-data.ts';
import { useViewer } from '../session/session.tsx';
import { currentView } from '../session/view-as.ts';
import { Link } from '../router.tsx';
import { Button } from '../ui/button.tsx';
import { CopyAs } from '../ui/copy.tsx';
import { TextField } from '../ui/fields.tsx';
import { QueryResult } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { OwnApiKeys } from './api-keys/api-keys-card.tsx';
import { OwnIdentities } from './identities-card.tsx';
import { isLongEnough, shortestPassword } from './password-field.tsx';
import { formatRevoked, RevokeAllDialog } from './sessions/revoke-dialogs.tsx';
import { SessionTable } from './sessions/session-table.tsx';
import { useOwnSessions } from './sessions/sessions.ts';
import { SignInTable } from './sign-ins/sign-in-table.tsx';
import { useOwnSignIns } from './sign-ins/sign-ins.ts';
import './people.css';
import { Name } from '../ui/text.tsx';

const accountDocument = /* GraphQL */ `
  query Account {
    viewer {
      user {
        id
        username
        isAdministrator
        createdAt
      }
    }
  }
`;

interface Account {
  readonly viewer: {
    readonly user: {
      readonly id: string;
      readonly username: string;
      readonly isAdministrator: boolean;
      readonly createdAt: string;
    };
  };
}

export function AccountScreen() {
  const viewer = useViewer();
  const answer = useGraph<Account>(['people', 'account'], accountDocument);
  return (
    <main className="page">
      <header className="page-header">
        <h1>Your account</h1>
      </header>
      <div className="people-columns uneven">
        <section className="card" aria-labelledby="own-facts">
          <h2 id="own-facts">Profile</h2>
          <QueryResult query={answer}>{({ viewer }) => <OwnFacts user={viewer.user} />}</QueryResult>
        </section>
        {currentView ? <ChangePassword /> : <OwnPassword />}
      </div>
      {/* Only the user may see and change them. */}
      {!currentView && <SecondFactorCard />}
      {!currentView && <OwnIdentities user={viewer} />}
      <OwnSessions />
      <OwnApiKeys />
      <OwnSignIns />
    </main>
  );
}

function OwnFacts({ user }: { user: Account['viewer']['user'] }) {
  const { isAdministrator } = useViewer();
  const { id, username, createdAt } = user;
  const groups = useUserGroups(id);
  return (
    <dl className="facts">
      <dt>User name</dt>
      <dd>
        <Name>{username}</Name>
      </dd>
      <dt>Administrator</dt>
      <dd>{user.isAdministrator ? 'Yes, with full access' : 'No'}</dd>
      <dt>Groups</dt>
      <dd>
        <QueryResult query={groups} loading={null}>
          {(all) => (all.length === 0 ? 'None' : <GroupNames groups={all} areLinks={isAdministrator} />)}
        </QueryResult>
      </dd>
      <dt>Created</dt>
      <dd>
        <Time at={createdAt} />
      </dd>
    </dl>
  );
}

function GroupNames({ groups, areLinks }: { groups: readonly GroupName[]; areLinks: boolean }) {
  return groups.map(({ id, name }, index) => (
    <span key={id}>
      {index > 0 && ', '}
      {areLinks ? (
        <Link to={`/groups/${id}`}>
          <Name>{name}</Name>
        </Link>
      ) : (
        <Name>{name}</Name>
      )}
    </span>
  ));
}

function OwnSessions() {
  const [isRevoking, setRevoking] = useState(false);
  const list = useOwnSessions();
  const count = list.data?.totalCount ?? 0;
  return (
    <section className="card" aria-labelledby="own-sessions">
      <header className="card-header">
        <h2 id="own-sessions">Your sessions</h2>
        {list.data && <span className="soft number">{count.toLocaleString('en')}</span>}
        <span className="grow" />
        {count > 1 && (
          <Button size="small" icon="signOut" onPress={() => setRevoking(true)}>
            Revoke my other sessions…
          </Button>
        )}
      </header>
      <SessionTable label="Your sessions, the newest first" list={list} empty={null} />
      {isRevoking && <RevokeAllDialog onClose={() => setRevoking(false)} />}
    </section>
  );
}

function OwnSignIns() {
  const list = useOwnSignIns();
  return (
    <section className="card" aria-labelledby="own-sign-ins">
      <header className="card-header">
        <h2 id="own-sign-ins">Your sign-ins</h2>
        {list.data && <span className="soft number">{list.data.totalCount.toLocaleString('en')}</span>}
      </header>
      <p className="hint">
        The list includes failed attempts with your user name. If you do not recognize a successful sign-in,
        revoke your other sessions, change your password if you have one, and inform an administrator.
      </p>
      <SignInTable
        label="Your sign-ins, the newest first"
        list={list}
        empty={<p className="soft">No sign-ins are stored.</p>}
      />
    </section>
  );
}

/** Nothing until the response arrives. */
function OwnPassword() {
  const { data } = useGraph<SecondFactorResponse>(secondFactorKey, secondFactorDocument);
  if (!data) return null;
  if (data.viewer.secondFactor.hasPassword) return <ChangePassword />;
  return (
    <section className="card" aria-labelledby="no-password">
      <h2 id="no-password">Password</h2>
      <p className="soft">
        You have no password. If you need one, for example while single sign-on does not work, ask an
        administrator to set it.
      </p>
    </section>
  );
}

const passwordCall = {
  action: changePassword,
  variables: { input: { oldPassword: '…', newPassword: '…' } },
};

/** The state of the form, and its submission. */
function usePasswordForm() {
  const [oldPassword, setOldPassword] = useState('');
  const [newPassword, setNewPassword] = useState('');
  const [repeatedPassword, setRepeatedPassword] = useState('');
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [isSubmitted, setSubmitted] = useState(false);

  const isTooShort = !isLongEnough(newPassword);
  const isMismatch = repeatedPassword !== newPassword;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setSubmitted(true);
    setProblem(null);
    if (isPending || oldPassword === '' || isTooShort || isMismatch) return;
    setPending(true);
    try {
      await perform({
        action: changePassword,
        variables: { input: { oldPassword, newPassword } },
        doneText: ({ changePassword: { endedSessions } }) =>
          `Your password was changed. ${formatRevoked(endedSessions)}`,
        staleQueries: peopleQueries,
      });
      for (const setField of [setOldPassword, setNewPassword, setRepeatedPassword]) setField('');
      setSubmitted(false);
    } catch (error) {
      const { code, text } = describeProblem(error);
      setProblem(code === 'FORBIDDEN' ? 'The old password is wrong.' : text);
    } finally {
      setPending(false);
    }
  };
  return {
    oldPassword,
    setOldPassword,
    newPassword,
    setNewPassword,
    repeatedPassword,
    setRepeatedPassword,
    isPending,
    problem,
    isSubmitted,
    isTooShort,
    isMismatch,
    submit,
  };
}

function ChangePassword() {
  const { username } = useViewer();
  const form = usePasswordForm();
  return (
    <section className="card" aria-labelledby="change-password">
      <h2 id="change-password">Change password</h2>
      <Form className="people-form" onSubmit={(event) => void form.submit(event)} validationBehavior="aria">
        <UsernameHint username={username} />
        <TextField
          label="Old password"
          type="password"
          autoComplete="current-password"
          value={form.oldPassword}
          onChange={form.setOldPassword}
          error={form.isSubmitted && form.oldPassword === '' ? 'Enter your old password.' : undefined}
        />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          value={form.newPassword}
          onChange={form.setNewPassword}
          help={`At least ${shortestPassword} characters. Common passwords are not allowed.`}
          error={
            form.isSubmitted && form.isTooShort ? `Enter at least ${shortestPassword} characters.` : undefined
          }
        />
        <TextField
          label="New password again"
          type="password"
          autoComplete="new-password"
          value={form.repeatedPassword}
          onChange={form.setRepeatedPassword}
          error={form.isSubmitted && form.isMismatch ? 'The passwords do not match.' : undefined}
        />
        {form.problem !== null && (
          <p className="problem" role="alert">
            {form.problem}
          </p>
        )}
        <p className="hint">You stay signed in here. All your other sessions are revoked.</p>
        <div className="dialog-footer">
          <CopyAs call={passwordCall} />
          <span className="grow" />
          <Button type="submit" tone="primary" isPending={form.isPending}>
            Change password
          </Button>
        </div>
      </Form>
    </section>
  );
}

/** An invisible field from which password managers read the user of the password. */
function UsernameHint({ username }: { username: string }) {
  return (
    <input
      className="visually-hidden"
      name="username"
      autoComplete="username"
      value={username}
      readOnly
      tabIndex={-1}
      aria-hidden="true"
    />
  );
}
