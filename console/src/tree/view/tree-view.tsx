/** The tree on the screen: the rows that are seen, with keys and pointer. The focus stays on the tree itself. */

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
import { TreeRowView } from './tree-row.tsx';
import type { TreeCommand } from './tree-keys.ts';
import type { TreeRow } from '../state/tree-store.ts';
import type { Tree } from '../tree.ts';
import { useTreeKeys } from './use-tree-keys.ts';
import { rowHeight } from './viewport.ts';
import { useViewport } from './viewport.ts';
import '../tree.css';
import { describeProblem } from '../../graph/problem.ts';
import { Button } from '../../ui/button.tsx';
import { Loading, Failed } from '../../ui/states.tsx';

export interface TreeViewProps {
  readonly tree: Tree;
  readonly label: string;
  /** The folder whose page is shown, or that is chosen. */
  readonly currentId: string | null;
  readonly isMultiple?: boolean;
  readonly isFaint?: (folder: FolderRow) => boolean;
  readonly markOf?: (id: string) => string | null;
  /** A field in place of a name. */
  readonly edit?: { readonly id: string; readonly field: ReactNode } | null;
  readonly targetId?: string | null;
  readonly onOpen: (folder: FolderRow) => void;
  readonly onCommand?: (command: TreeCommand) => boolean;
  /** Where the menu was asked for. */
  readonly onMenu?: (folder: FolderRow, at: { x: number; y: number }) => void;
  readonly onPointerDown?: (event: React.PointerEvent<HTMLDivElement>) => void;
}

export function TreeView(props: TreeViewProps) {
  const { tree, label, currentId, isMultiple = false, onOpen, onMenu } = props;
  const { store, focus, loader } = tree;
  const version = useSyncExternalStore(store.subscribe, store.version);
  const focusVersion = useSyncExternalStore(focus.subscribe, focus.version);
  const { rowCount } = store;
  const viewport = useViewport(rowCount);
  const { rows, scrollTo, ref } = viewport;
  const treeId = useId();
  const focusIndex = focus.index;
  const onKeyDown = useTreeKeys({
    tree,
    isMultiple,
    page: viewport.page,
    onOpen,
    onCommand: props.onCommand,
  });

  useEffect(() => loader.setVisibleRows(rows), [loader, rows.from, rows.to, version]); // eslint-disable-line react-hooks/exhaustive-deps -- A stretch is its ends.

  useKeptPlace(tree, viewport, version);

  useLayoutEffect(() => {
    const goal = focus.takeGoal();
    if (goal) scrollTo(goal.index, goal.align, goal.past);
  }, [focus, focusVersion, version, scrollTo]);

  const pointedAt = (event: MouseEvent) => {
    const target = event.target as HTMLElement;
    const element = target.closest<HTMLElement>('[data-index]');
    const index = element ? Number(element.dataset['index']) : -1;
    return { index, row: store.rowAt(index), part: target.closest<HTMLElement>('[data-part]') };
  };
  const onClick = (event: MouseEvent) => {
    const { index, row, part } = pointedAt(event);
    const folder = row?.folder;
    if (!folder || props.edit?.id === folder.id) return;
    if (part?.dataset['part'] === 'toggle') {
      if (row.isOpen) store.close(folder.id);
      else store.open(folder.id);
      return;
    }
    if (part?.dataset['part'] === 'more') {
      const { left, bottom } = part.getBoundingClientRect();
      focus.moveTo(index);
      onMenu?.(folder, { x: left, y: bottom });
      return;
    }
    if (isMultiple && event.shiftKey) focus.extendTo(index);
    else {
      focus.moveTo(index);
      if (isMultiple && (event.ctrlKey || event.metaKey)) focus.toggle(folder.id);
      else onOpen(folder);
    }
  };
  const onContextMenu = (event: MouseEvent) => {
    const { index, row } = pointedAt(event);
    if (!row?.folder || !onMenu) return;
    event.preventDefault();
    focus.moveTo(index);
    onMenu(row.folder, { x: event.clientX, y: event.clientY });
  };

  const elementIdOf = ({ folder, parentId, position }: TreeRow) =>
    `${treeId}-${folder?.id ?? `${parentId}-${position}`}`;
  const draw = (index: number) => {
    const row = store.rowAt(index);
    if (!row) return null;
    const elementId = elementIdOf(row);
    const { folder } = row;
    return (
      <TreeRowView
        key={elementId}
        elementId={elementId}
        index={index}
        folder={folder}
        place={row.position}
        siblings={row.siblingCount}
        depth={row.depth}
        isOpen={row.isOpen}
        isSelected={folder !== null && (isMultiple ? focus.selected.has(folder.id) : folder.id === currentId)}
        isFocused={index === focusIndex}
        isCurrent={folder !== null && folder.id === currentId}
        isFaint={folder !== null && (props.isFaint?.(folder) ?? false)}
        isTarget={folder !== null && folder.id === props.targetId}
        hasActions={onMenu !== undefined}
        mark={(folder && props.markOf?.(folder.id)) ?? null}
      >
        {folder && props.edit?.id === folder.id ? props.edit.field : null}
      </TreeRowView>
    );
  };
  const focused = store.rowAt(focusIndex);
  const isFocusDrawn = focusIndex >= rows.from && focusIndex < rows.to;
  return (
    <div
      ref={ref}
      role="tree"
      aria-label={label}
      aria-multiselectable={isMultiple || undefined}
      aria-activedescendant={focused ? elementIdOf(focused) : undefined}
      tabIndex={0}
      className="tree"
      onScroll={viewport.onScroll}
      onKeyDown={onKeyDown}
      onClick={onClick}
      onContextMenu={onContextMenu}
      onPointerDown={props.onPointerDown}
    >
      <div className="tree-height" style={{ height: viewport.height }}>
        <div className="tree-rows" style={{ transform: `translateY(${viewport.offset}px)` }}>
          {Array.from({ length: rows.to - rows.from }, (_, at) => draw(rows.from + at))}
        </div>
        {/* Wherever one scrolls to, screen readers find the row that has the focus. */}
        {focused && !isFocusDrawn && (
          <div className="tree-rows" style={{ transform: `translateY(${viewport.offset - rowHeight}px)` }}>
            {draw(focusIndex)}
          </div>
        )}
      </div>
    </div>
  );
}

/** Rows that come or go above what is seen do not move it. */
function useKeptPlace(tree: Tree, { top, scrollTo }: ReturnType<typeof useViewport>, version: number): void {
  const kept = useRef<{ id: string; version: number; row: number } | null>(null);
  useLayoutEffect(() => {
    const { store } = tree;
    const before = kept.current;
    const id = store.rowAt(top.row)?.folder?.id;
    if (before && before.version !== version && before.row === top.row && top.row + top.past > 0) {
      const row = store.indexOf(before.id);
      if (row !== null && row !== before.row) {
        kept.current = { id: before.id, version, row };
        scrollTo(row, 'top', top.past);
        return;
      }
    }
    kept.current = id === undefined ? null : { id, version, row: top.row };
    tree.top = id === undefined ? null : { id, past: top.past };
  });
}
export function TreeState({ tree: { store, loader }, children }: { tree: Tree; children: ReactNode }) {
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
          <p>Not all could be read. {describeProblem(failure).text}</p>
          <Button size="small" icon="refresh" onPress={retry}>
            Try again
          </Button>
        </div>
      )}
    </>
  );
}
