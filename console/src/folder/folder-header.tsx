/** The header of a folder's page: breadcrumbs, name and title, recent changes and actions. */

import { useEffect, useState } from 'react';
import { Button as AriaButton, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { useCommands, type Command } from '../actions/palette-commands.ts';
import { isAccessChange, type FolderChange } from '../graph/folder-change.ts';
import { useLive } from '../graph/live.tsx';
import { Link, navigate } from '../router.tsx';
import { useViewer } from '../session/session.tsx';
import { currentView } from '../session/view-as.ts';
import { copyFolder, toFolderRef } from '../tree/edit/folder-operations.ts';
import { FavoriteButton, toggleFavorite, useIsFavorite } from '../tree/personal-folders.tsx';
import { openTransfer } from '../tree/transfer/transfer.tsx';
import { LevelChip } from '../ui/access-level.tsx';
import { ActionMenu, Button, type MenuAction } from '../ui/button.tsx';
import { FolderIcon, Icon } from '../ui/icons.tsx';
import { Name } from '../ui/text.tsx';
import { Time } from '../ui/time.tsx';
import { FolderDialogs, type OpenDialog } from './folder-dialogs.tsx';
import { canDuplicate, canRemove, hasLevel, type CurrentFolder, type FolderLink } from './current-folder.ts';

export function FolderHeader({ folder }: { folder: CurrentFolder }) {
  const { name, ancestors, parent } = folder;
  const [kind, setKind] = useState<OpenDialog['kind'] | null>(null);
  useFolderCommands(folder, setKind);
  return (
    <header className="folder-header">
      <Breadcrumbs ancestors={ancestors} name={name} />
      <FolderTitle folder={folder} />
      <FolderActions folder={folder} open={setKind} />
      <FolderDialogs
        open={kind && { kind, folders: [toFolderRef(folder)] }}
        onClose={() => setKind(null)}
        onDeleted={() => navigate(parent ? `/folders/${parent.id}` : '/folders')}
      />
    </header>
  );
}

interface FolderActionsProps {
  readonly folder: CurrentFolder;
  readonly open: (kind: OpenDialog['kind']) => void;
}

/** Small screens show all actions but the first in the menu. */
function FolderActions({ folder, open }: FolderActionsProps) {
  const mayWrite = hasLevel(folder.accessLevel, 'WRITE');
  const when = (isAllowed: boolean, ...actions: MenuAction[]) => (isAllowed ? actions : []);
  const mainActions: readonly MenuAction[] = [
    ...when(mayWrite, { label: 'Rename…', icon: 'edit', onAction: () => open('rename') }),
    ...when(
      canRemove(folder),
      { label: 'Move to…', icon: 'move', onAction: () => open('move') },
      { label: 'Delete…', icon: 'trash', isDanger: true, onAction: () => open('delete') },
    ),
  ];
  const moreActions: readonly MenuAction[] = [
    ...when(canDuplicate(folder), { label: 'Duplicate', icon: 'copy', onAction: () => duplicate(folder) }),
    ...when(mayWrite, {
      label: 'Import…',
      icon: 'upload',
      onAction: () => openTransfer({ kind: 'import', folder }),
    }),
    { label: 'Export…', icon: 'download', onAction: () => openTransfer({ kind: 'export', folder }) },
  ];
  return (
    <div className="folder-actions">
      {mayWrite && (
        <Button tone="primary" icon="plus" onPress={() => open('new')}>
          New folder
        </Button>
      )}
      {mainActions.map(({ label, icon, onAction }) => (
        <span key={label} className="folder-action">
          <Button icon={icon} onPress={onAction}>
            {label}
          </Button>
        </span>
      ))}
      <span className="folder-action">
        <ActionMenu label="More actions" actions={moreActions} />
      </span>
      <span className="folder-further">
        <ActionMenu label="More actions" actions={[...mainActions, ...moreActions]} />
      </span>
    </div>
  );
}

function duplicate(folder: CurrentFolder): void {
  void copyFolder(toFolderRef(folder));
}

function FolderTitle({ folder: { id, name, title, icon, accessLevel } }: { folder: CurrentFolder }) {
  return (
    <div className="folder-heading">
      <div className="folder-title">
        <span className="folder-glyph">
          <FolderIcon icon={icon} />
        </span>
        <h1>
          <Name>{name}</Name>
        </h1>
        <FavoriteButton folder={{ id, name }} />
      </div>
      {title !== name && (
        <span className="folder-own-title">
          <Name>{title}</Name>
        </span>
      )}
      <span className="folder-chips">
        {accessLevel === 'NONE' ? (
          <span className="label-chip">Passage only</span>
        ) : (
          <LevelChip level={accessLevel} />
        )}
        <ChangeNote key={id} folderId={id} />
      </span>
    </div>
  );
}

/** Offers the actions of the page in the command palette. */
function useFolderCommands(folder: CurrentFolder, open: (kind: OpenDialog['kind']) => void): void {
  const command = (kind: OpenDialog['kind'], label: string): Command => ({
    id: `folder-page-${kind}`,
    label: `${label} (${folder.name})`,
    group: 'Folder',
    run: () => open(kind),
  });
  const isFavorite = useIsFavorite(folder.id);
  const favorite: Command = {
    id: 'folder-page-favorite',
    label: `${isFavorite ? 'Remove from favorites' : 'Add to favorites'} (${folder.name})`,
    group: 'Folder',
    keywords: 'star bookmark',
    run: () => void toggleFavorite(folder, !isFavorite),
  };
  const transferCommand = (transfer: 'import' | 'export', label: string): Command => ({
    ...command('new', label),
    id: `folder-page-${transfer}`,
    keywords: 'csv json ndjson file upload download',
    run: () => openTransfer({ kind: transfer, folder }),
  });
  useCommands([
    ...(hasLevel(folder.accessLevel, 'WRITE')
      ? [command('new', 'New folder inside…'), command('rename', 'Rename…')]
      : []),
    ...(canRemove(folder) ? [command('move', 'Move to…'), command('delete', 'Delete…')] : []),
    ...(currentView ? [] : [favorite]),
    ...(canDuplicate(folder)
      ? [
          {
            id: 'folder-page-duplicate',
            label: `Duplicate (${folder.name})`,
            group: 'Folder',
            keywords: 'copy clone',
            run: () => duplicate(folder),
          },
        ]
      : []),
    ...(hasLevel(folder.accessLevel, 'WRITE') ? [transferCommand('import', 'Import…')] : []),
    transferCommand('export', 'Export…'),
  ]);
}

const noteMs = 60_000;
const verbs: Partial<Record<FolderChange['kind'], string>> = {
  CREATE: 'Restored',
  UPDATE: 'Changed',
  MOVE: 'Moved',
};

/** A note on a recent change by another user. */
function ChangeNote({ folderId }: { folderId: string }) {
  const viewer = useViewer();
  const { listen } = useLive();
  const [change, setChange] = useState<FolderChange | null>(null);

  useEffect(
    () =>
      listen((next) => {
        if (next.folderId !== folderId || isAccessChange(next) || !verbs[next.kind]) return;
        setChange(next.by?.id === viewer.id ? null : next);
      }),
    [listen, folderId, viewer.id],
  );
  useEffect(() => {
    if (!change) return;
    const timer = setTimeout(() => setChange(null), noteMs);
    return () => clearTimeout(timer);
  }, [change]);

  return (
    <span className="change-note-slot" role="status">
      {change?.at && (
        <span className="label-chip info">
          <Icon name="refresh" />
          {verbs[change.kind]} by <Name>{change.by?.username ?? 'another user'}</Name> <Time at={change.at} />
        </span>
      )}
    </span>
  );
}

const maxBreadcrumbs = 4;

/** The path to the folder. If it is long, a menu holds its middle. */
function Breadcrumbs({ ancestors, name }: { ancestors: readonly FolderLink[]; name: string }) {
  if (ancestors.length === 0) return null;
  const isLong = ancestors.length > maxBreadcrumbs;
  const hidden = isLong ? ancestors.slice(1, -2) : [];
  const visible = isLong ? ancestors.slice(-2) : ancestors.slice(1);
  return (
    <nav className="breadcrumbs" aria-label="Breadcrumbs">
      <ol>
        <Crumb folder={ancestors[0]!} />
        {hidden.length > 0 && (
          <li>
            <MenuTrigger>
              <AriaButton
                className="breadcrumbs-more"
                aria-label={`${hidden.length} more folders in the path`}
              >
                …
              </AriaButton>
              <Popover className="popover">
                <Menu className="menu" onAction={(id) => navigate(`/folders/${id}`)}>
                  {hidden.map(({ id, name: text }) => (
                    <MenuItem key={id} id={id} textValue={text} className="menu-item">
                      <Icon name="folder" /> <Name>{text}</Name>
                    </MenuItem>
                  ))}
                </Menu>
              </Popover>
            </MenuTrigger>
            <Icon name="chevron" />
          </li>
        )}
        {visible.map((folder) => (
          <Crumb key={folder.id} folder={folder} />
        ))}
        <li aria-current="page" className="breadcrumbs-here">
          <Name>{name}</Name>
        </li>
      </ol>
    </nav>
  );
}

function Crumb({ folder: { id, name } }: { folder: FolderLink }) {
  return (
    <li>
      <Link to={`/folders/${id}`}>
        <Name>{name}</Name>
      </Link>
      <Icon name="chevron" />
    </li>
  );
}
