/** Who may do what with a folder: the grants on it, those that it inherits, and why somebody sees it or does not. */

import { useState } from 'react';
import { useJournalTail } from '../../graph/use-journal-tail.ts';
import { useViewer } from '../../session/session.tsx';
import { Button } from '../../ui/button.tsx';
import { QueryResult } from '../../ui/states.tsx';
import { ExplainAccess } from './explain-access.tsx';
import { GrantDialog } from './grant-dialog.tsx';
import { inOrder } from './grant-order.ts';
import { GrantSection, many } from './grant-list.tsx';
import { useGrants } from './grants.ts';
import { hasLevel, type OpenFolder } from '../open-folder.ts';
import './access.css';

export function AccessTab({ folder }: { folder: OpenFolder }) {
  const { id, accessLevel, ancestors } = folder;
  const { isAdministrator } = useViewer();
  const [isGranting, setGranting] = useState(false);
  const grants = useGrants(id);
  const manages = hasLevel(accessLevel, 'MANAGE');
  // Changes of grants are told to nobody but those whose access they change, and to administrators.
  useJournalTail({
    isEnabled: isAdministrator,
    filter: { kinds: ['GRANT_ACCESS', 'REVOKE_ACCESS'] },
    staleQuery: ['folder', id],
    isRelevant: ({ folderId }) => [id, ...ancestors.map((one) => one.id)].includes(folderId ?? ''),
  });
  return (
    <div className="access">
      {!manages && (
        <p className="hint">
          You see the grants to you and to your groups. Whoever has Manage here sees all of them.
        </p>
      )}
      <QueryResult query={grants}>
        {(read) => {
          const all = inOrder(read);
          const here = all.filter((grant) => grant.folder.id === id);
          const inherited = all.filter((grant) => grant.folder.id !== id);
          return (
            <>
              {all.length > many && (
                <p className="hint">
                  <a href="#access-why">Why may somebody see this, or not?</a> is answered below the lists.
                </p>
              )}
              <GrantSection
                id="access-here"
                title="Granted here"
                grants={here}
                mayChange={manages}
                folderId={id}
                none={
                  manages
                    ? 'Nothing is granted on this folder itself: what is inherited holds.'
                    : 'Nothing is granted to you on this folder itself.'
                }
                action={
                  manages && (
                    <Button icon="plus" onPress={() => setGranting(true)}>
                      Grant access…
                    </Button>
                  )
                }
              />
              {(inherited.length > 0 || ancestors.length > 0) && (
                <GrantSection
                  id="access-inherited"
                  title="Inherited"
                  grants={inherited}
                  mayChange={false}
                  folderId={id}
                  none={
                    isAdministrator
                      ? 'Nothing is granted on the folders above.'
                      : 'Nothing that you may see is granted above. Of folders that you do not manage, you see the grants to you and your groups.'
                  }
                  note="The nearest grant to somebody decides; it overrules those above."
                />
              )}
              <ExplainAccess folder={folder} grants={all} />
              {isGranting && <GrantDialog folder={folder} grants={here} onClose={() => setGranting(false)} />}
            </>
          );
        }}
      </QueryResult>
    </div>
  );
}
