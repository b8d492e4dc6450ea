/** The accounts of the single sign-on provider that are linked with a user. Users link their own account; administrators only unlink. */

import { useEffect, useState } from 'react';
import { linkSingleSignOn, unlinkSingleSignOn } from '../actions/people-actions.ts';
import { perform, reportDone } from '../actions/perform.ts';
import { describeProblem } from '../graph/problem.ts';
import { peopleQueries, useGraph, type GraphQueryKey } from '../graph/use-graph.ts';
import { useLoginMethods } from '../session/login-methods.ts';
import { leaveForProvider, takeLink } from '../session/single-sign-on.ts';
import { Button } from '../ui/button.tsx';
import { ActionDialog } from '../ui/dialog.tsx';
import { QueryResult } from '../ui/states.tsx';
import { Name } from '../ui/text.tsx';
import { Time } from '../ui/time.tsx';

interface Identity {
  readonly id: string;
  readonly issuer: string;
  readonly subject: string;
  readonly name: string | null;
  readonly linkedAt: string;
  readonly lastUsedAt: string | null;
}

const identityFields = /* GraphQL */ `
  fragment IdentityFields on Identity {
    id
    issuer
    subject
    name
    linkedAt
    lastUsedAt
  }
`;

const ownDocument =
  /* GraphQL */ `
    query OwnIdentities {
      viewer {
        identities {
          ...IdentityFields
        }
      }
    }
  ` + identityFields;

const userDocument =
  /* GraphQL */ `
    query IdentitiesOf($id: ID!) {
      user(id: $id) {
        identities {
          ...IdentityFields
        }
      }
    }
  ` + identityFields;

interface User {
  readonly id: string;
  readonly username: string;
}

/** The viewer's own accounts. Hidden if there are none and the server has no single sign-on. */
export function OwnIdentities({ user }: { user: User }) {
  const key = keyOf(user);
  const answer = useGraph<{ viewer: { identities: readonly Identity[] } }>(key, ownDocument);
  const provider = useLoginMethods()?.singleSignOn?.name;
  const { problem, isPending, start } = useLink(user.id);
  if (provider === undefined && problem === null && !answer.data?.viewer.identities.length) return null;
  return (
    <section className="card" aria-labelledby="own-identities">
      <header className="card-header">
        <h2 id="own-identities">Single sign-on</h2>
        <span className="grow" />
        {provider !== undefined && (
          <Button size="small" icon="plus" isPending={isPending} onPress={() => void start()}>
            {`Link ${provider}`}
          </Button>
        )}
      </header>
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <QueryResult query={answer}>
        {({ viewer }) => (
          <IdentityList
            identities={viewer.identities}
            user={user}
            whenNone="No account is linked. Link one to sign in without a password. You can link an account only within ten minutes after you sign in."
          />
        )}
      </QueryResult>
    </section>
  );
}

/** For administrators. Hidden if there are none. */
export function UserIdentities({ user }: { user: User }) {
  const answer = useGraph<{ user: { identities: readonly Identity[] } | null }>(keyOf(user), userDocument, {
    id: user.id,
  });
  const identities = answer.data?.user?.identities ?? [];
  if (identities.length === 0 && !answer.error) return null;
  return (
    <section className="card" aria-labelledby="user-identities">
      <h2 id="user-identities">Single sign-on</h2>
      <QueryResult query={answer}>
        {() => <IdentityList identities={identities} user={user} whenNone="" />}
      </QueryResult>
    </section>
  );
}

function keyOf({ id }: User): GraphQueryKey {
  return ['people', 'identities', id];
}

/** Leaves for the provider, and links the account with which the browser comes back. */
function useLink(userId: string) {
  const [problem, setProblem] = useState<string | null>(null);
  const [isPending, setPending] = useState(false);
  useEffect(() => {
    const result = takeLink(userId);
    if (!result) return;
    const finish = async () => {
      if (result instanceof Error) throw result;
      const { code, verifier } = result;
      await perform({
        action: linkSingleSignOn,
        variables: { input: { code, verifier } },
        staleQueries: peopleQueries,
      });
      // Without a call to copy, because its code is spent.
      reportDone('Linked the account', []);
    };
    finish().catch((error: unknown) => setProblem(describeProblem(error).text));
  }, [userId]);
  const start = async () => {
    setPending(true);
    setProblem(null);
    try {
      await leaveForProvider(userId, '/account');
    } catch (error) {
      setProblem(describeProblem(error).text);
      setPending(false);
    }
  };
  return { problem, isPending, start };
}

interface IdentityListProps {
  readonly identities: readonly Identity[];
  readonly user: User;
  readonly whenNone: string;
}

function IdentityList({ identities, user, whenNone }: IdentityListProps) {
  const [unlinked, setUnlinked] = useState<Identity | null>(null);
  if (identities.length === 0) return <p className="soft">{whenNone}</p>;
  return (
    <>
      <ul className="identity-list">
        {identities.map((identity) => (
          <li key={identity.id}>
            <span className="identity-name">
              <strong>
                <Name>{nameOf(identity)}</Name>
              </strong>
              <span className="soft">
                <Name>{identity.issuer}</Name>
              </span>
              <span className="soft">
                Linked <Time at={identity.linkedAt} />,{' '}
                {identity.lastUsedAt === null ? (
                  'never used'
                ) : (
                  <>
                    last used <Time at={identity.lastUsedAt} />
                  </>
                )}
              </span>
            </span>
            <Button
              size="small"
              aria-label={`Unlink ${nameOf(identity)}`}
              onPress={() => setUnlinked(identity)}
            >
              Unlink…
            </Button>
          </li>
        ))}
      </ul>
      {unlinked && <UnlinkDialog identity={unlinked} user={user} onClose={() => setUnlinked(null)} />}
    </>
  );
}

function nameOf({ name, subject }: Identity): string {
  return name ?? subject;
}

interface UnlinkDialogProps {
  readonly identity: Identity;
  readonly user: User;
  readonly onClose: () => void;
}

function UnlinkDialog({ identity, user, onClose }: UnlinkDialogProps) {
  const name = nameOf(identity);
  const task = {
    action: unlinkSingleSignOn,
    variables: { input: { id: identity.id } },
    doneText: `Unlinked ${name}`,
    staleQueries: peopleQueries,
  };
  return (
    <ActionDialog title={`Unlink ${name}`} verb="Unlink" isDanger task={task} onClose={onClose}>
      <p>
        This account of the provider can no longer sign in as{' '}
        <strong>
          <Name>{user.username}</Name>
        </strong>
        . Its sessions end, except the current one.
      </p>
    </ActionDialog>
  );
}
