/** One row of the tree. It has no handlers of its own: those of the tree find out what was pointed at. */

import { memo, type ReactNode } from 'react';
import type { FolderRow } from '../../graph/live.tsx';
import { Icon } from '../../ui/icons.tsx';
import { FolderIcon } from '../../ui/icons.tsx';

export interface TreeRowProps {
  readonly elementId: string;
  readonly index: number;
  readonly folder: FolderRow | null;
  readonly place: number;
  readonly siblings: number;
  readonly depth: number;
  readonly isOpen: boolean;
  readonly isSelected: boolean;
  readonly isFocused: boolean;
  /** Its page is shown. */
  readonly isCurrent: boolean;
  /** It cannot be chosen, or is about to go elsewhere. */
  readonly isFaint: boolean;
  readonly isTarget: boolean;
  readonly hasActions: boolean;
  /** What somebody else has done with it just now. */
  readonly mark: string | null;
  /** In place of the name, while it is edited. */
  readonly children?: ReactNode;
}

const indent = 14;
/** Deeper levels are moved in by less, so that names are always to be seen. */
const indentedLevels = 8;

function indentOf(depth: number): number {
  return Math.min(depth, indentedLevels) * indent + Math.min(Math.max(0, depth - indentedLevels), 24) * 2;
}

/** It is called by all that it shows. */
function namesOf({ elementId, folder, mark }: TreeRowProps): string {
  const parts = [
    'name',
    ...(folder && folder.title !== folder.name && mark === null ? ['title'] : []),
    ...(mark === null ? [] : ['mark']),
  ];
  return parts.map((part) => `${elementId}-${part}`).join(' ');
}

export const TreeRowView = memo(function TreeRowView(props: TreeRowProps) {
  const { elementId, index, folder, place, siblings, depth, isOpen, isSelected, children, mark } = props;
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
      aria-setsize={siblings}
      aria-posinset={place + 1}
      aria-expanded={canOpen ? isOpen : undefined}
      aria-selected={isSelected}
      aria-current={props.isCurrent ? 'true' : undefined}
      aria-labelledby={children ? undefined : namesOf(props)}
      style={{ paddingLeft: indentOf(depth) + 4 }}
    >
      <span className="tree-toggle" data-part={canOpen ? 'toggle' : undefined}>
        {canOpen && <Icon name="chevron" />}
      </span>
      {folder ? <Known {...props} folder={folder} /> : <Unread elementId={elementId} />}
      {children}
    </div>
  );
});

function Known({ elementId, folder, mark, hasActions, children }: TreeRowProps & { folder: FolderRow }) {
  const { name, title, icon } = folder;
  return (
    <>
      <FolderIcon icon={icon} />
      <span className={children ? 'visually-hidden' : 'tree-name'} id={`${elementId}-name`} title={name}>
        {name}
      </span>
      {/* The blanks are for those who read the text and not the columns. */}{' '}
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

function Unread({ elementId }: { elementId: string }) {
  return (
    <span className="tree-unread" id={`${elementId}-name`}>
      <span className="visually-hidden">Loading</span>
    </span>
  );
}
