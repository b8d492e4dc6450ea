/** The trash: deleted folders that can be restored, or deleted permanently. */

import { useState } from 'react';
import { perform, reportFailure } from '../../actions/perform.ts';
import { describeProblem } from '../../graph/problem.ts';
import { Link } from '../../router.tsx';
import { currentView } from '../../session/view-as.ts';
import { useViewer } from '../../session/session.tsx';
import { FolderPicker, type PickedFolder } from '../../tree/search/folder-picker.tsx';
import { ActionMenu, Button } from '../../ui/button.tsx';
import { actionsColumn, DataTable, type TableColumn } from '../../ui/data-table.tsx';
import { ActionDialog, BulkDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { FolderIcon } from '../../ui/icons.tsx';
import { Empty } from '../../ui/states.tsx';
import { Name } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import {
  emptyTrashTask,
  formatRestored,
  formatTrashCount,
  purgeAction,
  restoreTask,
  restoreAction,
  useTrash,
  useTrashCount,
  type RestoreChoice,
  type TrashedFolder,
} from './trash.ts';
import './trash.css';

interface RestoreRequest {
  readonly folder: TrashedFolder;
  /** Why the folder could not be restored directly. */
  readonly reason: string | null;
}

type TrashDialog =
  | ({ readonly kind: 'restoreTo' } & RestoreRequest)
  | { readonly kind: 'restore' | 'purge'; readonly folders: readonly TrashedFolder[] }
  | { readonly kind: 'empty'; readonly latest: TrashedFolder };

const keyOf = ({ folderId }: TrashedFolder) => folderId;
/** A view as another user is read only. */
const mayPurge = ({ accessLevel }: TrashedFolder) => accessLevel === 'MANAGE' && !currentView;

export function TrashScreen() {
  const { isAdministrator } = useViewer();
  const trash = useTrash();
  const [dialog, setDialog] = useState<TrashDialog | null>(null);
  const items = trash.data?.items;
  const [latest] = items ?? [];
  return (
    <main className="page">
      <header className="page-header">
        <h1>Trash</h1>
        <span className="grow" />
        {latest && items?.some(mayPurge) && (
          <Button icon="trash" onPress={() => setDialog({ kind: 'empty', latest })}>
            Empty the trash…
          </Button>
        )}
      </header>
      <p className="page-about">
        Deleted folders with their contents. The server deletes them permanently after the date in “Kept
        until”.
      </p>
      <DataTable
        label="Deleted folders, the latest first"
        columns={createColumns(setDialog)}
        // The API has no total count for the trash.
        list={{ ...trash, data: items && { items } }}
        keyOf={keyOf}
        {...(!currentView && {
          bulkActions: (folders: readonly TrashedFolder[]) => (
            <TrashBulkActions folders={folders} setDialog={setDialog} />
          ),
        })}
        empty={
          <Empty
            icon="trash"
            title={isAdministrator ? 'The trash is empty' : 'No folders that you can restore'}
          >
            <p>Deleted folders appear here, and you can restore them.</p>
            <p>
              <Link to="/folders">Go to the folders</Link>
            </p>
          </Empty>
        }
      />
      {dialog && <OpenDialog dialog={dialog} onClose={() => setDialog(null)} />}
    </main>
  );
}

interface TrashBulkActionsProps {
  readonly folders: readonly TrashedFolder[];
  readonly setDialog: (dialog: TrashDialog) => void;
}

function TrashBulkActions({ folders, setDialog }: TrashBulkActionsProps) {
  return (
    <>
      <Button size="small" icon="undo" onPress={() => setDialog({ kind: 'restore', folders })}>
        Restore…
      </Button>
      {folders.some(mayPurge) && (
        <Button size="small" icon="trash" onPress={() => setDialog({ kind: 'purge', folders })}>
          Delete permanently…
        </Button>
      )}
    </>
  );
}

function OpenDialog({ dialog, onClose }: { dialog: TrashDialog; onClose: () => void }) {
  switch (dialog.kind) {
    case 'restoreTo':
      return <RestoreDialog folder={dialog.folder} reason={dialog.reason} onClose={onClose} />;
    case 'empty':
      return <EmptyDialog latest={dialog.latest} onClose={onClose} />;
    case 'restore':
      return (
        <BulkDialog
          title={`Restore ${describe(dialog.folders)}`}
          verb="Restore"
          items={dialog.folders}
          nameOf={({ name }) => name}
          action={restoreAction}
          onClose={onClose}
        >
          <p>The folders return to their former parents, with everything inside.</p>
        </BulkDialog>
      );
    case 'purge':
      return (
        <BulkDialog
          title={`Permanently delete ${describe(dialog.folders)}?`}
          verb="Delete permanently"
          isDanger
          items={dialog.folders}
          nameOf={({ name }) => name}
          action={purgeAction}
          call={dialog.folders.length === 1 ? purgeAction.taskOf(dialog.folders[0]!) : undefined}
          onClose={onClose}
        >
          <p>This also deletes everything inside. You cannot undo this.</p>
        </BulkDialog>
      );
  }
}

function describe(folders: readonly TrashedFolder[]): string {
  return folders.length === 1 ? `“${folders[0]!.name}”` : `${folders.length} folders`;
}

/** Purges only folders that the viewer has seen, and none that are deleted after the latest folder in the list. */
function EmptyDialog({ latest, onClose }: { latest: TrashedFolder; onClose: () => void }) {
  const deletedBefore = new Date(Date.parse(latest.deletedAt) + 1).toISOString();
  const { data, error } = useTrashCount(deletedBefore);
  return (
    <ActionDialog
      title="Empty the trash?"
      verb="Empty the trash"
      isDanger
      isReady={data !== undefined || error !== null}
      task={emptyTrashTask(deletedBefore)}
      onClose={onClose}
    >
      <p aria-live="polite">
        {error
          ? 'The folders could not be counted. All folders in the trash that you manage will be permanently deleted, with everything inside.'
          : data
            ? `Permanently deletes ${formatTrashCount(data)}: all folders in the trash that you manage.`
            : 'Counting the folders…'}
      </p>
      <p>You cannot undo this.</p>
    </ActionDialog>
  );
}

/** Restores a folder to its former parent, or asks for another one. */
async function restoreFolder(folder: TrashedFolder, setDialog: (dialog: TrashDialog) => void) {
  if (!folder.formerParent) {
    const reason = 'Its former parent no longer exists. Choose another folder.';
    return setDialog({ kind: 'restoreTo', folder, reason });
  }
  try {
    await perform({ ...restoreTask(folder, {}), doneText: formatRestored(folder, {}) });
  } catch (error) {
    const { code, text } = describeProblem(error);
    if (code !== 'CONFLICT') return reportFailure(`Restore folder: ${text}`);
    const reason = `Cannot restore “${folder.name}” to its former parent: the name is already used there, or the parent was deleted. Change the name or the folder.`;
    setDialog({ kind: 'restoreTo', folder, reason });
  }
}

function createColumns(setDialog: (dialog: TrashDialog) => void): readonly TableColumn<TrashedFolder>[] {
  return [
    {
      id: 'name',
      label: 'Name',
      isRowHeader: true,
      render: ({ name, title, purgedAt }) => (
        <span className="trash-name">
          <FolderIcon icon={null} />
          <span>
            <Name>{name}</Name>
            {title !== name && (
              <span className="trash-own-name soft">
                <Name>{title}</Name>
              </span>
            )}
            <span className="narrow-only trash-kept soft">
              Kept until <Time at={purgedAt} isDeadline />
            </span>
          </span>
        </span>
      ),
    },
    {
      id: 'parent',
      label: 'Former parent',
      minTableWidth: 640,
      render: ({ formerParent }) =>
        formerParent ? (
          <Link to={`/folders/${formerParent.id}`}>
            <Name>{formerParent.path}</Name>
          </Link>
        ) : (
          <span className="soft">No longer exists</span>
        ),
    },
    {
      id: 'deleted',
      label: 'Deleted',
      minTableWidth: 440,
      render: ({ deletedAt }) => <Time at={deletedAt} />,
    },
    {
      id: 'until',
      label: 'Kept until',
      minTableWidth: 640,
      render: ({ purgedAt }) => <Time at={purgedAt} isDeadline />,
    },
    ...(currentView
      ? []
      : [actionsColumn<TrashedFolder>((folder) => <TrashActions folder={folder} setDialog={setDialog} />)]),
  ];
}

interface TrashActionsProps {
  readonly folder: TrashedFolder;
  readonly setDialog: (dialog: TrashDialog) => void;
}

function TrashActions({ folder, setDialog }: TrashActionsProps) {
  return (
    <>
      <Button
        size="small"
        icon="undo"
        aria-label={`Restore ${folder.name}`}
        onPress={() => void restoreFolder(folder, setDialog)}
      >
        Restore
      </Button>
      <ActionMenu
        label={`More actions for ${folder.name}`}
        list={() => [
          [
            {
              label: 'Restore to…',
              icon: 'move',
              help: 'To another folder or under another name',
              onAction: () => setDialog({ kind: 'restoreTo', folder, reason: null }),
            },
            ...(mayPurge(folder)
              ? ([
                  {
                    label: 'Delete permanently…',
                    icon: 'trash',
                    isDanger: true,
                    onAction: () => setDialog({ kind: 'purge', folders: [folder] }),
                  },
                ] as const)
              : []),
          ],
        ]}
      />
    </>
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
      task={{ ...restoreTask(folder, choice), doneText: formatRestored(folder, choice) }}
      isReady={parent !== null && name !== ''}
      onClose={onClose}
    >
      {reason !== null && <p className="hint">{reason}</p>}
      <TextField
        label="Name"
        name="name"
        value={name}
        onChange={setName}
        help="Must be unique in the target folder."
        autoFocus
      />
      <FolderPicker label="Into" picked={parent} onPick={setParent} />
    </ActionDialog>
  );
}
