/** The trash: deleted folders that can be restored. */

import { useState } from 'react';
import { reportFailure } from '../../actions/perform.ts';
import { describeProblem } from '../../graph/problem.ts';
import { Link } from '../../router.tsx';
import { useViewer } from '../../session/session.tsx';
import { FolderPicker, type PickedFolder } from '../../tree/search/folder-picker.tsx';
import { ActionMenu, Button } from '../../ui/button.tsx';
import { ActionDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Empty, QueryResult } from '../../ui/states.tsx';
import { Name } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { restore, restoreCall, useTrash, type RestoreChoice, type TrashedFolder } from './trash.ts';
import './trash.css';

interface RestoreRequest {
  readonly folder: TrashedFolder;
  /** Why the folder could not be restored directly. */
  readonly reason: string | null;
}

export function TrashScreen() {
  const { isAdministrator } = useViewer();
  const trash = useTrash();
  const [request, setRequest] = useState<RestoreRequest | null>(null);

  const restoreFolder = async (folder: TrashedFolder) => {
    if (!folder.formerParent) {
      setRequest({ folder, reason: 'Its former parent no longer exists. Choose another folder.' });
      return;
    }
    try {
      await restore(folder, {});
    } catch (error) {
      const { code, text } = describeProblem(error);
      if (code === 'CONFLICT') {
        const reason = `Cannot restore “${folder.name}” to its former parent: the name is already used there, or the parent was deleted. Change the name or the folder.`;
        setRequest({ folder, reason });
      } else reportFailure(`Restore folder: ${text}`);
    }
  };
  return (
    <main className="page">
      <header className="page-header">
        <h1>Trash</h1>
        <p className="hint">
          Deleted folders with their contents. When its time is over, a folder is deleted permanently.
        </p>
      </header>
      <QueryResult query={trash}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty
              icon="trash"
              title={isAdministrator ? 'The trash is empty' : 'There is nothing that you can restore'}
            >
              <p>Deleted folders appear here, and you can restore them.</p>
              <p>
                <Link to="/folders">Go to the folders</Link>
              </p>
            </Empty>
          ) : (
            <TrashTable
              trash={trash}
              items={items}
              onRestore={(folder) => void restoreFolder(folder)}
              onRestoreTo={(folder) => setRequest({ folder, reason: null })}
            />
          )
        }
      </QueryResult>
      {request && <RestoreDialog {...request} onClose={() => setRequest(null)} />}
    </main>
  );
}

interface TrashTableProps {
  readonly trash: ReturnType<typeof useTrash>;
  readonly items: readonly TrashedFolder[];
  readonly onRestore: (folder: TrashedFolder) => void;
  readonly onRestoreTo: (folder: TrashedFolder) => void;
}

function TrashTable({ trash, items, onRestore, onRestoreTo }: TrashTableProps) {
  return (
    <>
      <div className="table-frame">
        <table className="table trash-table">
          <caption className="visually-hidden">Deleted folders, the latest first</caption>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col" className="trash-location">
                Former parent
              </th>
              <th scope="col" className="trash-time">
                Deleted
              </th>
              <th scope="col" className="trash-until">
                Kept until
              </th>
              <th scope="col">
                <span className="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((folder) => (
              <TrashRow
                key={folder.folderId}
                folder={folder}
                onRestore={() => onRestore(folder)}
                onRestoreTo={() => onRestoreTo(folder)}
              />
            ))}
          </tbody>
        </table>
      </div>
      {trash.hasMore && (
        <div className="show-more">
          <Button isPending={trash.isReadingMore} onPress={trash.readMore}>
            Show more folders
          </Button>
        </div>
      )}
    </>
  );
}

interface TrashRowProps {
  readonly folder: TrashedFolder;
  readonly onRestore: () => void;
  readonly onRestoreTo: () => void;
}

function TrashRow({ folder, onRestore, onRestoreTo }: TrashRowProps) {
  const { name, title, formerParent, deletedAt, purgedAt } = folder;
  return (
    <tr>
      <th scope="row">
        <span className="trash-name">
          <Icon name="folder" />
          <span>
            <Name>{name}</Name>
            {title !== name && (
              <span className="trash-own-name soft">
                <Name>{title}</Name>
              </span>
            )}
          </span>
        </span>
      </th>
      <td className="trash-location">
        {formerParent ? (
          <Link to={`/folders/${formerParent.id}`}>{formerParent.path}</Link>
        ) : (
          <span className="soft">no longer exists</span>
        )}
      </td>
      <td className="trash-time">
        <Time at={deletedAt} />
      </td>
      <td className="trash-until">
        <Time at={purgedAt} isDeadline />
      </td>
      <td className="cell-actions">
        <span className="trash-actions">
          <Button size="small" icon="undo" aria-label={`Restore ${name}`} onPress={onRestore}>
            Restore
          </Button>
          <ActionMenu
            label={`More actions for ${name}`}
            actions={[
              {
                label: 'Restore to…',
                icon: 'move',
                help: 'To another folder or under another name',
                onAction: onRestoreTo,
              },
            ]}
          />
        </span>
      </td>
    </tr>
  );
}

/** Restores a folder to another parent, or under another name. */
function RestoreDialog({ folder, reason, onClose }: RestoreRequest & { onClose: () => void }) {
  const [parent, setParent] = useState<PickedFolder | null>(folder.formerParent);
  const [name, setName] = useState(folder.name);
  const choice: RestoreChoice = {
    ...(parent && parent.id !== folder.formerParent?.id && { parent }),
    ...(name !== folder.name && { name }),
  };
  return (
    <ActionDialog
      title={`Restore “${folder.name}”`}
      verb="Restore"
      call={parent ? restoreCall(folder, choice) : undefined}
      isReady={parent !== null && name !== ''}
      onSubmit={() => restore(folder, choice)}
      onClose={onClose}
    >
      {reason !== null && <p className="hint">{reason}</p>}
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        help="Must be unique in the target folder."
        autoFocus
      />
      <FolderPicker label="Into" picked={parent} onPick={setParent} />
    </ActionDialog>
  );
}
