/** The header of a folder's page: breadcrumbs, name and title, recent changes and actions. */

import { useEffect, useState, type ReactNode } from 'react';
import { Button as AriaButton, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { useCommands, type Command } from '../actions/palette-commands.ts';
import { isAccessChange, type FolderChange } from '../graph/folder-change.ts';
import { useLive } from '../graph/live.tsx';
import { Link, navigate } from '../router.tsx';
import { useViewer } from '../session/session.tsx';
import { listFolderActions, type FolderAction, type FolderDialogKind } from '../tree/edit/folder-menu.ts';
import { toFolderRef } from '../tree/edit/folder-operations.ts';
import { FavoriteButton, useFavorites } from '../tree/personal-folders.tsx';
import { LevelChip } from '../ui/access-level.tsx';
import { ActionMenu, Button } from '../ui/button.tsx';
import { FolderIcon, Icon } from '../ui/icons.tsx';
import { Name } from '../ui/text.tsx';
import { Time } from '../ui/time.tsx';
import { FolderDialogs } from './folder-dialogs.tsx';
import type { CurrentFolder, FolderLink } from './current-folder.ts';

export function FolderHeader({ folder }: { folder: CurrentFolder }) {
  const { name, ancestors, parent } = folder;
  const [kind, setKind] = useState<FolderDialogKind | null>(null);
  const groups = useFolderActions(folder, setKind);
  const hasMainAction = groups.flat().some((action) => isCreate(action) || isMain(action));
  return (
    <header className="folder-header">
      <Breadcrumbs ancestors={ancestors} name={name} />
      <FolderTitle folder={folder}>{!hasMainAction && <FurtherActions groups={groups} />}</FolderTitle>
      {hasMainAction && <FolderActions groups={groups} />}
      <FolderDialogs
        open={kind && { kind, folders: [toFolderRef(folder)] }}
        onClose={() => setKind(null)}
        onDeleted={() => navigate(parent ? `/folders/${parent.id}` : '/folders')}
      />
    </header>
  );
}

type ActionGroups = readonly (readonly FolderAction[])[];

const isCreate = ({ id }: FolderAction) => id === 'create';
const isMain = ({ id }: FolderAction) => id === 'rename' || id === 'move' || id === 'delete';

/** Small screens show all actions but the first in the menu. */
function FolderActions({ groups }: { groups: ActionGroups }) {
  const actions = groups.flat();
  const create = actions.find(isCreate);
  return (
    <div className="folder-actions">
      {create && (
        <Button tone="primary" icon="plus" onPress={create.onAction}>
          New folder
        </Button>
      )}
      {actions.filter(isMain).map(({ label, icon, onAction }) => (
        <span key={label} className="folder-action">
          <Button icon={icon} onPress={onAction}>
            {label}
          </Button>
        </span>
      ))}
      <span className="folder-action">
        <FurtherActions groups={groups.map((group) => group.filter((action) => !isMain(action)))} />
      </span>
      <span className="folder-further">
        <FurtherActions groups={groups} />
      </span>
    </div>
  );
}

function FurtherActions({ groups }: { groups: ActionGroups }) {
  const further = groups.map((group) => group.filter((action) => !isCreate(action)));
  return <ActionMenu label="More actions" list={() => further.filter((group) => group.length > 0)} />;
}

interface FolderTitleProps {
  readonly folder: CurrentFolder;
  readonly children: ReactNode;
}

function FolderTitle({ folder, children }: FolderTitleProps) {
  const { id, name, title, icon, accessLevel } = folder;
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
      {children}
    </div>
  );
}

/** The actions of the page, which the command palette offers as well. */
function useFolderActions(folder: CurrentFolder, open: (kind: FolderDialogKind) => void): ActionGroups {
  // Renders again when the favorites change.
  useFavorites();
  const groups = listFolderActions(
    {
      ...toFolderRef(folder),
      path: folder.path,
      accessLevel: folder.accessLevel,
      parentLevel: folder.parent?.accessLevel,
    },
    { open },
  ).map((group) => group.filter(({ id }) => id !== 'open'));
  useCommands(
    groups.flat().map(({ id, command, keywords, onAction }): Command => ({
      id: `folder-page-${id}`,
      label: command,
      group: 'This folder',
      ...(keywords !== undefined && { keywords }),
      run: onAction,
    })),
  );
  return groups;
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

/** The path to the folder. If it is long, a menu contains the middle part. */
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
