/** One row of the tree. Event handlers are on the tree element, not on the rows. */

import { memo, type ReactNode } from 'react';
import type { FolderRow } from '../../graph/live.tsx';
import { FolderIcon, Icon } from '../../ui/icons.tsx';

interface TreeRowProps {
  readonly elementId: string;
  readonly index: number;
  readonly folder: FolderRow | null;
  readonly position: number;
  readonly siblingCount: number;
  readonly depth: number;
  readonly isOpen: boolean;
  readonly isSelected: boolean;
  readonly isFocused: boolean;
  /** The page of this folder is open. */
  readonly isCurrent: boolean;
  /** The folder cannot be picked, or it is cut or dragged. */
  readonly isFaint: boolean;
  readonly isTarget: boolean;
  readonly hasActions: boolean;
  /** A recent change by another user. */
  readonly mark: string | null;
  /** Replaces the name while it is edited. */
  readonly children?: ReactNode;
}

const indent = 14;
/** Deeper levels are indented less, so that names stay visible. */
const indentedLevels = 8;

function indentPixels(depth: number): number {
  return Math.min(depth, indentedLevels) * indent + Math.min(Math.max(0, depth - indentedLevels), 24) * 2;
}

/** The accessible name consists of all visible texts of the row. */
function labelIdsOf({ elementId, folder, mark }: TreeRowProps): string {
  const parts = [
    'name',
    ...(folder && folder.title !== folder.name && mark === null ? ['title'] : []),
    ...(mark === null ? [] : ['mark']),
  ];
  return parts.map((part) => `${elementId}-${part}`).join(' ');
}

export const TreeRowView = memo(function TreeRowView(props: TreeRowProps) {
  const { elementId, index, folder, position, siblingCount, depth, isOpen, isSelected, children, mark } =
    props;
  const canOpen = folder !== null && folder.folders.totalCount > 0;
  return (
    <div
      role="treeitem"
      id={elementId}
      data-index={index}
      className="tree-row"
      data-focused={props.isFocused || undefined}
      data-current={props.isCurrent || undefined}
      data-faint={props.isFaint || undefined}
      data-target={props.isTarget || undefined}
      data-marked={mark === null ? undefined : true}
      data-closed={folder?.accessLevel === 'NONE' || undefined}
      aria-level={depth + 1}
      aria-setsize={siblingCount}
      aria-posinset={position + 1}
      aria-expanded={canOpen ? isOpen : undefined}
      aria-selected={isSelected}
      aria-current={props.isCurrent ? 'true' : undefined}
      aria-labelledby={children ? undefined : labelIdsOf(props)}
      style={{ paddingLeft: indentPixels(depth) + 4 }}
    >
      <span className="tree-toggle" data-part={canOpen ? 'toggle' : undefined}>
        {canOpen && <Icon name="chevron" />}
      </span>
      {folder ? <LoadedRow {...props} folder={folder} /> : <UnloadedRow elementId={elementId} />}
      {children}
    </div>
  );
});

function LoadedRow({ elementId, folder, mark, hasActions, children }: TreeRowProps & { folder: FolderRow }) {
  const { name, title, icon } = folder;
  return (
    <>
      <FolderIcon icon={icon} />
      <span className={children ? 'visually-hidden' : 'tree-name'} id={`${elementId}-name`} title={name}>
        {name}
      </span>
      {/* The spaces separate the texts for screen readers and for copied text. */}{' '}
      {title !== name && !children && mark === null && (
        <span className="tree-title" id={`${elementId}-title`}>
          {' '}
          {title}
        </span>
      )}{' '}
      {mark !== null && (
        <span className="tree-mark" id={`${elementId}-mark`} title={mark}>
          {' '}
          {mark}
        </span>
      )}
      {hasActions && !children && (
        <button
          type="button"
          tabIndex={-1}
          className="tree-more"
          data-part="more"
          aria-label={`Actions for ${name}`}
        >
          <Icon name="more" />
        </button>
      )}
    </>
  );
}

function UnloadedRow({ elementId }: { elementId: string }) {
  return (
    <span className="tree-unread" id={`${elementId}-name`}>
      <span className="visually-hidden">Loading</span>
    </span>
  );
}
