/** Renders the visible rows of the tree and handles keyboard and pointer. The DOM focus stays on the tree element. */

import {
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useSyncExternalStore,
  type MouseEvent,
  type ReactNode,
} from 'react';
import type { FolderRow } from '../../graph/live.tsx';
import { describeProblem } from '../../graph/problem.ts';
import { Button } from '../../ui/button.tsx';
import { Failed, Loading } from '../../ui/states.tsx';
import type { TreeRow } from '../state/tree-store.ts';
import type { Tree } from '../tree.ts';
import type { TreeCommand } from './tree-keys.ts';
import { TreeRowView } from './tree-row.tsx';
import { useLongPress } from './use-drag.ts';
import { extendSelection, useTreeKeys } from './use-tree-keys.ts';
import { useViewport } from './viewport.ts';
import '../tree.css';

interface TreeViewProps {
  readonly tree: Tree;
  readonly label: string;
  /** The folder whose page is displayed, or the picked folder. */
  readonly currentId: string | null;
  readonly isMultiple?: boolean;
  readonly isFaint?: (folder: FolderRow) => boolean;
  readonly markOf?: (id: string) => string | null;
  /** A field that replaces the name of one folder. */
  readonly edit?: { readonly id: string; readonly field: ReactNode } | null;
  readonly dropTargetId?: string | null;
  readonly onOpen: (folder: FolderRow) => void;
  readonly onCommand?: (command: TreeCommand) => boolean;
  /** `at` is the point where the menu opens. */
  readonly onMenu?: (folder: FolderRow, at: { x: number; y: number }) => void;
  readonly onPointerDown?: (event: React.PointerEvent<HTMLDivElement>) => void;
}

export function TreeView(props: TreeViewProps) {
  const { tree, label, isMultiple = false, onOpen, onCommand } = props;
  const { store, focus, loader } = tree;
  const version = useSyncExternalStore(store.subscribe, store.version);
  const focusVersion = useSyncExternalStore(focus.subscribe, focus.version);
  const viewport = useViewport(store.rowCount);
  const { rows, scrollTo, ref } = viewport;
  const treeId = useId();
  const focusIndex = focus.index;
  const onKeyDown = useTreeKeys({ tree, isMultiple, page: viewport.page, onOpen, onCommand });

  useEffect(() => loader.setVisibleRows(rows), [loader, rows.from, rows.to, version]); // oxlint-disable-line react/exhaustive-deps -- The range is a new object on each rendering.

  const pointerHandlers = usePointerHandlers(props);
  useStableScroll(tree, viewport, version);

  useLayoutEffect(() => {
    if (!viewport.isVisible) return;
    const target = focus.takeScrollTarget();
    if (!target) return;
    scrollTo(target.index, target.align, target.scrolledBy);
    if (target.id !== null) scrollTo(focus.index, 'near');
  }, [focus, focusVersion, version, scrollTo, viewport.isVisible]);

  const renderAt = (index: number) => renderRow(props, treeId, index);
  const focusedRow = store.rowAt(focusIndex);
  const isFocusRendered = focusIndex >= rows.from && focusIndex < rows.to;
  return (
    <div
      ref={ref}
      role="tree"
      aria-label={label}
      aria-multiselectable={isMultiple || undefined}
      aria-activedescendant={focusedRow ? elementIdOf(treeId, focusedRow) : undefined}
      tabIndex={0}
      className="tree"
      onScroll={viewport.onScroll}
      onKeyDown={onKeyDown}
      {...pointerHandlers}
    >
      <div className="tree-height" style={{ height: viewport.height }}>
        <div className="tree-rows" style={{ transform: `translateY(${viewport.offset}px)` }}>
          {Array.from({ length: rows.to - rows.from }, (_, index) => renderAt(rows.from + index))}
        </div>
        {/* Screen readers need the focused row in the document, even if it is scrolled out. */}
        {focusedRow && !isFocusRendered && (
          <div
            className="tree-rows"
            style={{ transform: `translateY(${viewport.offset - viewport.rowHeight}px)` }}
          >
            {renderAt(focusIndex)}
          </div>
        )}
      </div>
    </div>
  );
}

/** The rows have no handlers of their own: the handlers of the tree find the row and the part that was clicked. */
function usePointerHandlers(props: TreeViewProps) {
  const { tree, isMultiple = false, edit, onOpen, onMenu } = props;
  const { store, focus } = tree;
  const findTarget = (event: MouseEvent) => {
    const target = event.target as HTMLElement;
    const element = target.closest<HTMLElement>('[data-index]');
    const index = element ? Number(element.dataset['index']) : -1;
    return { index, row: store.rowAt(index), part: target.closest<HTMLElement>('[data-part]') };
  };
  const onClick = (event: MouseEvent) => {
    const { index, row, part } = findTarget(event);
    const folder = row?.folder;
    if (!folder || edit?.id === folder.id) return;
    if (part?.dataset['part'] === 'toggle') {
      if (row.isExpanded) store.collapse(folder.id);
      else store.expand(folder.id);
      return;
    }
    if (part?.dataset['part'] === 'more') {
      const { left, bottom } = part.getBoundingClientRect();
      focus.moveTo(index);
      onMenu?.(folder, { x: left, y: bottom });
      return;
    }
    if (isMultiple && event.shiftKey) extendSelection(tree, index);
    else {
      focus.moveTo(index);
      if (isMultiple && (event.ctrlKey || event.metaKey)) focus.toggle(folder.id);
      else onOpen(folder);
    }
  };
  const openMenu = (index: number, at: { x: number; y: number }) => {
    const folder = store.rowAt(index)?.folder;
    if (!folder || !onMenu) return;
    focus.moveTo(index);
    onMenu(folder, at);
  };
  const onContextMenu = (event: MouseEvent) => {
    const { index, row } = findTarget(event);
    if (!row?.folder || !onMenu) return;
    event.preventDefault();
    openMenu(index, { x: event.clientX, y: event.clientY });
  };
  const startLongPress = useLongPress((row, at) => openMenu(Number(row.dataset['index']), at));
  const onPointerDown = (event: React.PointerEvent<HTMLDivElement>) => {
    props.onPointerDown?.(event);
    startLongPress(event);
  };
  return { onClick, onContextMenu, onPointerDown };
}

function elementIdOf(treeId: string, { folder, parentId, position }: TreeRow): string {
  return `${treeId}-${folder?.id ?? `${parentId}-${position}`}`;
}

function renderRow(props: TreeViewProps, treeId: string, index: number): ReactNode {
  const { tree, currentId, isMultiple, edit } = props;
  const { store, focus } = tree;
  const row = store.rowAt(index);
  if (!row) return null;
  const elementId = elementIdOf(treeId, row);
  const { folder } = row;
  const isCurrent = folder !== null && folder.id === currentId;
  const isSelected = folder !== null && (isMultiple ? focus.selected.has(folder.id) : isCurrent);
  return (
    <TreeRowView
      key={elementId}
      elementId={elementId}
      index={index}
      folder={folder}
      position={row.position}
      siblingCount={row.siblingCount}
      depth={row.depth}
      isExpanded={row.isExpanded}
      isSelected={isSelected}
      isHighlighted={isSelected && focus.hasOtherSelection(currentId)}
      isFocused={index === focus.index}
      isCurrent={isCurrent}
      isFaint={folder !== null && (props.isFaint?.(folder) ?? false)}
      isDropTarget={folder !== null && folder.id === props.dropTargetId}
      hasActions={props.onMenu !== undefined}
      mark={(folder && props.markOf?.(folder.id)) ?? null}
    >
      {folder && edit?.id === folder.id ? edit.field : null}
    </TreeRowView>
  );
}

/** Keeps the visible rows in place when rows are added or removed above them. */
function useStableScroll(
  tree: Tree,
  { top, scrollTo }: ReturnType<typeof useViewport>,
  version: number,
): void {
  const topRow = useRef<{ found: TreeRow; version: number; row: number } | null>(null);
  useLayoutEffect(() => {
    const { store } = tree;
    const before = topRow.current;
    if (before && before.version !== version && before.row === top.row && top.row + top.scrolledBy > 0) {
      const { folder, parentId, position } = before.found;
      // A row that is not loaded yet has no id, but a position.
      const row = folder ? store.indexOf(folder.id) : store.indexOfPosition(parentId!, position);
      if (row !== null && row !== before.row) {
        topRow.current = { ...before, version, row };
        scrollTo(row, 'top', top.scrolledBy);
        return;
      }
    }
    const found = store.rowAt(top.row);
    const id = found?.folder?.id;
    topRow.current = found && { found, version, row: top.row };
    tree.top = id === undefined ? null : { id, scrolledBy: top.scrolledBy };
  });
}

/** Shows the loading or failed state of a tree, or the tree with a note if a read failed. */
export function TreeLoadState({ tree: { store, loader }, children }: { tree: Tree; children: ReactNode }) {
  useSyncExternalStore(store.subscribe, store.version);
  const failure = useSyncExternalStore(loader.subscribe, loader.failure);
  const retry = () => loader.retry();
  if (!store.root)
    return failure === null ? (
      <Loading label="Loading the tree" lines={7} />
    ) : (
      <Failed error={failure} retry={retry} />
    );
  return (
    <>
      {children}
      {failure !== null && (
        <div className="tree-failure" role="alert">
          <p>Some folders could not be loaded. {describeProblem(failure).text}</p>
          <Button size="small" icon="refresh" onPress={retry}>
            Try again
          </Button>
        </div>
      )}
    </>
  );
}
