/** The grants of a user or a group, by folder. */

import { useState } from 'react';
import type { Grantee } from '../actions/access-actions.ts';
import { Link } from '../router.tsx';
import { FolderIcon } from '../ui/icons.tsx';
import { accessLevels } from '../ui/access-level.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Select } from '../ui/fields.tsx';
import { TruncatedList } from '../ui/show-more.tsx';
import { QueryResult, Loading } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { GrantDialog } from './grant-dialog.tsx';
import { changeLevel, sortByPath, revokeGrant, useGrantsTo } from './subject-grants.ts';
import type { GrantRow } from './people-data.ts';

interface GrantsCardProps {
  readonly grantee: Grantee;
  readonly name: string;
  readonly note: string;
}

export function GrantsCard({ grantee, name, note }: GrantsCardProps) {
  const [isGranting, setGranting] = useState(false);
  const answer = useGrantsTo(grantee);
  return (
    <section className="card" aria-labelledby="grants">
      <header className="card-header">
        <h2 id="grants">Grants</h2>
        <span className="grow" />
        <Button size="small" icon="plus" onPress={() => setGranting(true)}>
          Grant access…
        </Button>
      </header>
      <p className="hint">{note}</p>
      <QueryResult query={answer} loading={<Loading lines={2} />}>
        {(all) =>
          all.length === 0 ? (
            <p className="soft">Nothing is granted to {name}.</p>
          ) : (
            <TruncatedList items={sortByPath(all)} noun="grants">
              {(grants) => (
                <ul className="people-list">
                  {grants.map((grant) => (
                    <GrantItem key={grant.folder.id} grant={grant} grantee={grantee} />
                  ))}
                </ul>
              )}
            </TruncatedList>
          )
        }
      </QueryResult>
      {isGranting && <GrantDialog grantee={grantee} name={name} onClose={() => setGranting(false)} />}
    </section>
  );
}

function GrantItem({ grant, grantee }: { grant: GrantRow; grantee: Grantee }) {
  const { folder, level, grantedAt } = grant;
  return (
    <li>
      <FolderIcon icon={folder.icon} />
      <Link to={`/folders/${folder.id}?tab=access`} className="people-path">
        {folder.path}
      </Link>
      <span className="grow" />
      <span className="soft wide-only">
        <Time at={grantedAt} />
      </span>
      <Select
        label={`Level on ${folder.path}`}
        isLabelHidden
        value={level}
        options={accessLevels}
        onChange={(next) => next !== level && void changeLevel(grantee, grant, next)}
      />
      <IconButton
        label={`Remove access to ${folder.path}`}
        icon="close"
        onPress={() => void revokeGrant(grantee, grant)}
      />
    </li>
  );
}
