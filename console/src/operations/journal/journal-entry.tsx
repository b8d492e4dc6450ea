/** The details of a journal entry: its ids with links and filters, and the changed fields. */

import type { ReactNode } from 'react';
import { CopyButton } from '../../ui/copy.tsx';
import { diffJournalEntry } from '../../ui/journal-diff.ts';
import type { JournalEntry } from '../../ui/journal-sentence.ts';
import { Name } from '../../ui/text.tsx';
import { formatExact } from '../../ui/time.tsx';
import { Link } from '../../router.tsx';

export function EntryDetails({ entry }: { entry: JournalEntry }) {
  const { number, at, kind, byId, by, byApiKeyId, byApiKey } = entry;
  const { folderId, userId, user, groupId, group, sessionId } = entry;
  return (
    <div className="journal-details">
      <dl className="facts">
        <dt>Entry</dt>
        <dd className="number">
          {number}, {kind}
        </dd>
        <Fact label="When">
          <time dateTime={at}>{formatExact(at)}</time>
        </Fact>
        <dt>Who</dt>
        <dd>
          {byId === null ? (
            'The server itself'
          ) : (
            <EntryLink name={by?.username} id={byId} to={by && `/users/${byId}`} only={`by=${byId}`} />
          )}
        </dd>
        {byApiKeyId !== null && (
          <Fact label="API key">
            {byApiKey && <Name>{`${byApiKey.name} `}</Name>}
            <Id id={byApiKeyId} />
          </Fact>
        )}
        {folderId !== null && <FolderFact entry={entry} folderId={folderId} />}
        {userId !== null && (
          <Fact label="User">
            <EntryLink
              name={user?.username}
              id={userId}
              to={user && `/users/${userId}`}
              only={`user=${userId}`}
            />
          </Fact>
        )}
        {groupId !== null && (
          <Fact label="Group">
            <EntryLink
              name={group?.name}
              id={groupId}
              to={group && `/groups/${groupId}`}
              only={`group=${groupId}`}
            />
          </Fact>
        )}
        {sessionId !== null && (
          <Fact label="Session">
            <Id id={sessionId} />
          </Fact>
        )}
      </dl>
      <Differences entry={entry} />
    </div>
  );
}

/** The folder with its path at the time of the change. */
function FolderFact({ entry: { folder, path }, folderId }: { entry: JournalEntry; folderId: string }) {
  return (
    <Fact label="Folder">
      <EntryLink
        name={path ?? folder?.path}
        id={folderId}
        to={folder && `/folders/${folderId}`}
        only={`folder=${folderId}`}
      />
      {folder && path !== null && folder.path !== path && (
        <span className="soft">
          {' '}
          Now <Name>{folder.path}</Name>
        </span>
      )}
    </Fact>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  );
}

interface EntryLinkProps {
  readonly name: string | undefined;
  readonly id: string;
  /** The path of the page of the linked folder, user or group. Null if it no longer exists. */
  readonly to: string | null;
  /** The query parameters that filter the journal by the same id. */
  readonly only: string;
}

function EntryLink({ name, id, to, only }: EntryLinkProps) {
  return (
    <span className="journal-named">
      {to === null ? (
        <span className="soft">
          {name !== undefined && <Name>{`${name} `}</Name>}
          (deleted)
        </span>
      ) : (
        <Link to={to}>{name !== undefined && <Name>{name}</Name>}</Link>
      )}
      <Id id={id} />
      <Link to={`/journal?${only}`} className="journal-only">
        Show only these entries
      </Link>
    </span>
  );
}

function Id({ id }: { id: string }) {
  return (
    <span className="journal-id">
      <code>{id}</code>
      <CopyButton text={id} label={`Copy the id ${id}`} />
    </span>
  );
}

/** The old and new values of the changed fields. */
function Differences({ entry }: { entry: JournalEntry }) {
  const differences = listDifferences(entry);
  if (differences.length === 0) return null;
  return (
    <table className="journal-diff">
      <caption className="visually-hidden">Changed fields</caption>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ name, before, after }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td className={before === null ? 'none' : 'before'}>{before ?? 'nothing'}</td>
            <td className={after === null ? 'none' : 'after'}>{after ?? 'nothing'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** For a move, lists the paths at that time instead of the ids of the parents. */
function listDifferences(entry: JournalEntry) {
  const { kind, path, formerPath } = entry;
  const differences = diffJournalEntry(entry);
  if (kind !== 'MOVE_FOLDER' || path === null || formerPath === null) return differences;
  const others = differences.filter(({ name }) => name !== 'parentId');
  return [{ name: 'path', before: formerPath, after: path }, ...others];
}
