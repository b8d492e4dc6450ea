/** A journal entry as table rows: a sentence, and its details on demand. */

import type { MouseEvent, ReactNode } from 'react';
import { IconButton } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { formatJournalAction, formatActor, type JournalEntry } from '../../ui/journal-sentence.ts';
import { EntryPath, Sentence } from '../../ui/sentence.tsx';
import { Name } from '../../ui/text.tsx';
import { formatExact, Time } from '../../ui/time.tsx';
import { Link } from '../../router.tsx';
import { Differences } from './differences.tsx';

interface Props {
  readonly entry: JournalEntry;
  readonly isOpen: boolean;
  /** A narrow table has no columns for number and name. */
  readonly isNarrow: boolean;
  readonly isFresh: boolean;
  /** Index among all rows, including those that are not rendered. */
  readonly rowIndex: number;
  readonly onToggle: () => void;
}

export function EntryRow({ entry, isOpen, isNarrow, isFresh, rowIndex, onToggle }: Props) {
  const { number, at } = entry;
  const who = <Sentence parts={formatActor(entry)} />;
  // A click on the row is a shortcut. Keyboard users and screen readers use the button.
  const toggleByRow = (event: MouseEvent) => {
    if (!(event.target as Element).closest('a, button') && !getSelection()?.toString()) onToggle();
  };
  return (
    <tr
      onClick={toggleByRow}
      className={isFresh ? 'journal-row fresh' : 'journal-row'}
      aria-rowindex={rowIndex}
    >
      {!isNarrow && <td className="journal-number number">{number}</td>}
      <td className="journal-when">
        <Time at={at} />
      </td>
      {!isNarrow && <td className="journal-who">{who}</td>}
      <th scope="row" className="journal-what">
        {isNarrow && <span className="journal-who">{who}</span>}
        <span className="journal-deed">
          <Sentence parts={formatJournalAction(entry)} />
          <EntryPath entry={entry} />
        </span>
      </th>
      <td className="cell-actions">
        <IconButton
          label={`Details of entry ${number}`}
          icon={isOpen ? 'down' : 'chevron'}
          aria-expanded={isOpen}
          onPress={onToggle}
        />
      </td>
    </tr>
  );
}

export function EntryDetails({ entry }: { entry: JournalEntry }) {
  const { number, at, kind, byId, by, folderId, userId, user, groupId, group, sessionId } = entry;
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
  /** The path of its page, or null if it no longer exists. */
  readonly to: string | null;
  /** The path of the journal with a filter for it. */
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
