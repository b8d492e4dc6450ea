/** One row of the tree. Event handlers are on the tree element, not on the rows. */

import { memo, type ReactNode } from 'react';
import type { FolderRow } from '../../graph/live.tsx';
import { FolderIcon, Icon } from '../../ui/icons.tsx';
import { formatName, Name } from '../../ui/text.tsx';

interface TreeRowProps {
  readonly elementId: string;
  readonly index: number;
  readonly folder: FolderRow | null;
  readonly position: number;
  readonly siblingCount: number;
  readonly depth: number;
  readonly isExpanded: boolean;
  readonly isSelected: boolean;
  /** The row has the color of the selection. */
  readonly isHighlighted: boolean;
  readonly isFocused: boolean;
  /** The page of this folder is displayed, or the folder is picked. */
  readonly isCurrent: boolean;
  /** The folder cannot be picked, or it is cut or dragged. */
  readonly isFaint: boolean;
  /** The dragged folders move into this folder if they are dropped now. */
  readonly isDropTarget: boolean;
  readonly hasActions: boolean;
  /** A recent change by another user. */
  readonly mark: string | null;
  /** Replaces the name while it is edited. */
  readonly children?: ReactNode;
}

/** Sizes are in pixels. */
const rowPadding = 4;
const fullIndent = 14;
const reducedIndent = 2;
const fullyIndentedLevels = 8;
const maxReducedLevels = 24;

/** Deep levels are indented less, and the deepest levels get no further indentation, so that names stay visible. */
function indentPixels(depth: number): number {
  const fullLevels = Math.min(depth, fullyIndentedLevels);
  const reducedLevels = Math.min(depth - fullLevels, maxReducedLevels);
  return fullLevels * fullIndent + reducedLevels * reducedIndent;
}

/** A mark takes the space of the title. A title equal to the name is left out. */
function showsTitle({ folder, mark }: TreeRowProps): boolean {
  return folder !== null && folder.title !== folder.name && mark === null;
}

/** The accessible name consists of all visible texts of the row. */
function labelIdsOf(props: TreeRowProps): string {
  const { elementId, mark } = props;
  const parts = ['name', ...(showsTitle(props) ? ['title'] : []), ...(mark === null ? [] : ['mark'])];
  return parts.map((part) => `${elementId}-${part}`).join(' ');
}

export const TreeRowView = memo(function TreeRowView(props: TreeRowProps) {
  const { elementId, index, folder, position, siblingCount, depth, isExpanded, isSelected, children, mark } =
    props;
  const canExpand = folder !== null && folder.folders.totalCount > 0;
  return (
    <div
      role="treeitem"
      id={elementId}
      data-index={index}
      className="tree-row"
      data-focused={props.isFocused || undefined}
      data-selected={props.isHighlighted || undefined}
      data-current={props.isCurrent || undefined}
      data-faint={props.isFaint || undefined}
      data-target={props.isDropTarget || undefined}
      data-marked={mark === null ? undefined : true}
      data-closed={folder?.accessLevel === 'NONE' || undefined}
      aria-level={depth + 1}
      aria-setsize={siblingCount}
      aria-posinset={position + 1}
      aria-expanded={canExpand ? isExpanded : undefined}
      aria-selected={isSelected}
      aria-current={props.isCurrent ? 'true' : undefined}
      aria-labelledby={children ? undefined : labelIdsOf(props)}
      style={{ paddingLeft: indentPixels(depth) + rowPadding }}
    >
      <span className="tree-toggle" data-part={canExpand ? 'toggle' : undefined}>
        {canExpand && <Icon name="chevron" />}
      </span>
      {folder ? <LoadedRow {...props} folder={folder} /> : <UnloadedRow elementId={elementId} />}
      {children}
    </div>
  );
});

function LoadedRow(props: TreeRowProps & { folder: FolderRow }) {
  const { elementId, folder, mark, hasActions, children } = props;
  const { name, title, icon } = folder;
  return (
    <>
      <FolderIcon icon={icon} />
      <span
        className={children ? 'visually-hidden' : 'tree-name'}
        id={`${elementId}-name`}
        title={formatName(name)}
      >
        <Name>{name}</Name>
      </span>
      {/* The spaces separate the texts for screen readers and for copied text. */}{' '}
      {showsTitle(props) && !children && (
        <span className="tree-title" id={`${elementId}-title`}>
          {' '}
          <Name>{title}</Name>
        </span>
      )}{' '}
      {mark !== null && (
        <span className="tree-mark" id={`${elementId}-mark`} title={formatName(mark)}>
          {' '}
          <Name>{mark}</Name>
        </span>
      )}
      {hasActions && !children && (
        <button
          type="button"
          tabIndex={-1}
          className="tree-more"
          data-part="more"
          aria-label={`Actions for ${formatName(name)}`}
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
