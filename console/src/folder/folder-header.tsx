/** The head of a folder's page: where it is, what it is called, and what can be done with it. */

import { useState } from 'react';
import { useCommands, type Command } from '../actions/commands.ts';
import { navigate } from '../router.tsx';
import { LevelChip } from '../ui/access-level.tsx';
import { ActionMenu, type MenuAction } from '../ui/action-menu.tsx';
import { Button } from '../ui/button.tsx';
import { Breadcrumbs } from './breadcrumbs.tsx';
import { ChangeNote } from './change-note.tsx';
import { FolderIcon } from '../tree/folder-icon.tsx';
import { FolderWorkDialogs, type OpenDialog } from './folder-work-dialogs.tsx';
import { mayDo, mayTakeAway, workFolder, type OpenFolder } from './open-folder.ts';

export function FolderHeader({ folder }: { folder: OpenFolder }) {
  const { id, name, title, icon, accessLevel, ancestors, parent } = folder;
  const [kind, setKind] = useState<OpenDialog['kind'] | null>(null);
  const mayWrite = mayDo(accessLevel, 'WRITE');
  const mayTake = mayTakeAway(folder);

  const further: readonly MenuAction[] = [
    { label: 'Rename…', icon: 'edit', onAction: () => setKind('rename') },
    ...(mayTake
      ? ([
          { label: 'Move to…', icon: 'move', onAction: () => setKind('move') },
          { label: 'Delete…', icon: 'trash', isDanger: true, onAction: () => setKind('delete') },
        ] as const)
      : []),
  ];
  const command = (of: OpenDialog['kind'], label: string): Command => ({
    id: `folder-page-${of}`,
    label: `${label} (${name})`,
    group: 'Folder',
    run: () => setKind(of),
  });
  useCommands([
    ...(mayWrite ? [command('new', 'New folder inside…'), command('rename', 'Rename…')] : []),
    ...(mayTake ? [command('move', 'Move to…'), command('delete', 'Delete…')] : []),
  ]);

  return (
    <header className="folder-header">
      <Breadcrumbs ancestors={ancestors} title={title} />
      <div className="folder-heading">
        <div className="folder-title">
          <span className="folder-glyph">
            <FolderIcon icon={icon} />
          </span>
          <h1>{title}</h1>
        </div>
        {title !== name && <code className="folder-name">{name}</code>}
        <span className="folder-chips">
          {accessLevel === 'NONE' ? (
            <span className="label-chip">Passage only</span>
          ) : (
            <LevelChip level={accessLevel} />
          )}
          <ChangeNote key={id} folderId={id} />
        </span>
      </div>
      {mayWrite && (
        <div className="folder-actions">
          <Button tone="primary" icon="plus" onPress={() => setKind('new')}>
            New folder
          </Button>
          {further.map(({ label, icon: symbol, onAction }) => (
            <span key={label} className="folder-action">
              <Button icon={symbol} onPress={onAction}>
                {label}
              </Button>
            </span>
          ))}
          <span className="folder-further">
            <ActionMenu label="More actions" actions={further} />
          </span>
        </div>
      )}
      <FolderWorkDialogs
        open={kind && { kind, folder: workFolder(folder) }}
        onClose={() => setKind(null)}
        onDeleted={() => navigate(parent ? `/folders/${parent.id}` : '/folders')}
      />
    </header>
  );
}
