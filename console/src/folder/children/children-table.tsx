/** The table of subfolders, with sortable columns and a menu of actions for each row. */

import type { AccessLevel } from '../../graph/live.tsx';
import { Link, navigate } from '../../router.tsx';
import { LevelChip } from '../../ui/access-level.tsx';
import { ActionMenu, type MenuAction } from '../../ui/button.tsx';
import { FolderIcon, Icon } from '../../ui/icons.tsx';
import { formatName, Name } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { sortBy, type ChildFolder, type ListOptions, type OrderField } from './children-list.ts';
import type { OpenDialog } from '../folder-dialogs.tsx';
import { hasLevel } from '../current-folder.ts';

interface ChildrenTableProps {
  readonly items: readonly ChildFolder[];
  readonly options: ListOptions;
  readonly parent: { readonly id: string; readonly accessLevel: AccessLevel };
  readonly onChange: (options: ListOptions) => void;
  readonly onOpen: (dialog: OpenDialog) => void;
}

export function ChildrenTable({ items, options, parent, onChange, onOpen }: ChildrenTableProps) {
  const sorting = (field: OrderField, label: string) => (
    <SortHeading label={label} field={field} options={options} onChange={onChange} />
  );
  return (
    <div className="table-frame">
      <table className="table children-table">
        <caption className="visually-hidden">Folders</caption>
        <thead>
          <tr>
            {sorting('NAME', 'Name')}
            <th scope="col" className="children-wide">
              Title
            </th>
            <th scope="col" className="children-count">
              Folders
            </th>
            {sorting('CREATED', 'Created')}
            {sorting('UPDATED', 'Changed')}
            <th scope="col" className="children-level">
              Your access
            </th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((child) => (
            <ChildRow key={child.id} child={child} parent={parent} onOpen={onOpen} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface SortHeadingProps {
  readonly label: string;
  readonly field: OrderField;
  readonly options: ListOptions;
  readonly onChange: (options: ListOptions) => void;
}

function SortHeading({ label, field, options, onChange }: SortHeadingProps) {
  const isChosen = options.field === field;
  const order = options.direction === 'ASC' ? 'ascending' : 'descending';
  return (
    <th
      scope="col"
      aria-sort={isChosen ? order : 'none'}
      className={field === 'NAME' ? undefined : `children-time ${field.toLowerCase()}`}
    >
      <button type="button" className="sort" onClick={() => onChange(sortBy(options, field))}>
        {label}
        {isChosen && <Icon name="down" className={order === 'ascending' ? 'up' : ''} />}
      </button>
    </th>
  );
}

interface ChildRowProps extends Pick<ChildrenTableProps, 'parent' | 'onOpen'> {
  readonly child: ChildFolder;
}

function ChildRow({ child, parent, onOpen }: ChildRowProps) {
  const { id, name, title, icon, accessLevel, folders, createdAt, updatedAt } = child;
  const folder = { id, name, parentId: parent.id };
  const open = (kind: OpenDialog['kind']) => () => onOpen({ kind, folder });
  const canRemove = hasLevel(parent.accessLevel, 'WRITE');
  const actions: MenuAction[] = [
    { label: 'Open', icon: 'folder', onAction: () => navigate(`/folders/${id}`) },
    ...(hasLevel(accessLevel, 'WRITE')
      ? ([
          { label: 'New folder inside…', icon: 'plus', onAction: open('new') },
          { label: 'Rename…', icon: 'edit', onAction: open('rename') },
        ] as const)
      : []),
    ...(hasLevel(accessLevel, 'WRITE') && canRemove
      ? ([
          { label: 'Move to…', icon: 'move', onAction: open('move') },
          { label: 'Delete…', icon: 'trash', isDanger: true, onAction: open('delete') },
        ] as const)
      : []),
  ];
  return (
    <tr>
      <th scope="row">
        <Link to={`/folders/${id}`} className="children-name">
          <span className="folder-glyph">
            <FolderIcon icon={icon} />
          </span>
          <span>
            <Name>{name}</Name>
          </span>
        </Link>
        {title !== name && (
          <span className="children-narrow soft">
            <Name>{title}</Name>
          </span>
        )}
      </th>
      <td className="children-wide">{title !== name && <Name>{title}</Name>}</td>
      <td className="children-count number">
        {folders.totalCount > 0 ? folders.totalCount.toLocaleString('en') : <span className="soft">0</span>}
      </td>
      <td className="children-time created">
        <Time at={createdAt} />
      </td>
      <td className="children-time updated">
        <Time at={updatedAt} />
      </td>
      <td className="children-level">
        {accessLevel === 'NONE' ? (
          <span className="label-chip">Passage</span>
        ) : (
          <LevelChip level={accessLevel} />
        )}
      </td>
      <td className="cell-actions">
        <ActionMenu label={`Actions for ${formatName(name)}`} actions={actions} />
      </td>
    </tr>
  );
}
