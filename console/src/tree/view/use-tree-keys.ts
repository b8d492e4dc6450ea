/** Handles the keys of the tree: moves the focus; opens, expands, collapses and selects folders, and finds folders by typed letters. */

import { useMemo, type KeyboardEvent } from 'react';
import { reportFailure } from '../../actions/perform.ts';
import type { FolderRow } from '../../graph/live.tsx';
import { describeProblem } from '../../graph/problem.ts';
import { plainText } from '../search/search-match.ts';
import type { Level } from '../state/level.ts';
import type { Tree } from '../tree.ts';
import { mapKey, type TreeCommand, type TreeKey } from './tree-keys.ts';

/** The `*` key expands at most this many siblings. */
const maxExpandedSiblings = 50;

interface TreeKeysOptions {
  readonly tree: Tree;
  readonly isMultiple: boolean;
  readonly page: number;
  readonly onOpen: (folder: FolderRow) => void;
  /** Returns whether the command had an effect. */
  readonly onCommand?: ((command: TreeCommand) => boolean) | undefined;
}

export function useTreeKeys(options: TreeKeysOptions): (event: KeyboardEvent) => void {
  const typeAhead = useMemo(() => new TypeAhead(options.tree), [options.tree]);
  return (event) => {
    if (event.target !== event.currentTarget) return;
    const key = mapKey(event, typeAhead.isTyping);
    if (key && handleKey(key, options, typeAhead)) event.preventDefault();
  };
}

/** Returns whether the tree used the key. */
function handleKey(key: TreeKey, options: TreeKeysOptions, typeAhead: TypeAhead): boolean {
  const { tree, isMultiple, page, onOpen, onCommand } = options;
  const { store, focus } = tree;
  const { index } = focus;
  const row = store.rowAt(index);
  if (!row) return false;
  const { folder } = row;
  switch (key.kind) {
    case 'move': {
      const last = store.rowCount - 1;
      const to = { first: 0, last, pageUp: index - page, pageDown: index + page };
      const next = Math.max(0, Math.min(last, typeof key.by === 'number' ? index + key.by : to[key.by]));
      if (key.extends && isMultiple) extendSelection(tree, next);
      else focus.moveTo(next);
      return true;
    }
    case 'in':
      if (row.isExpanded) focus.moveTo(index + 1);
      else if (folder && folder.folders.totalCount > 0) store.expand(folder.id);
      return true;
    case 'out':
      if (row.isExpanded && row.parentId !== null) store.collapse(folder!.id);
      else if (row.parentId !== null) focus.moveToFolder(row.parentId);
      return true;
    case 'selectSiblings':
      if (isMultiple) void reportFailedLoad(tree.selectSiblings());
      return isMultiple;
    case 'expandSiblings':
      expandSiblings(tree, row.parentId, row.position);
      return true;
    case 'open':
      if (folder) onOpen(folder);
      return true;
    case 'toggle':
      if (folder && isMultiple) focus.toggle(folder.id);
      else if (folder) onOpen(folder);
      return true;
    case 'type':
      void typeAhead.type(key.text);
      return true;
    case 'command':
      return onCommand?.(key.command) ?? false;
  }
}

export function extendSelection(tree: Tree, index: number): void {
  void reportFailedLoad(tree.extendSelection(index));
}

async function reportFailedLoad(selection: Promise<void>): Promise<void> {
  try {
    await selection;
  } catch (error) {
    reportFailure(`Not all folders could be selected. ${describeProblem(error).text}`);
  }
}

function expandSiblings({ store }: Tree, parentId: string | null, position: number): void {
  const level = parentId === null ? undefined : store.level(parentId);
  if (!level) return;
  const from = Math.max(0, position - maxExpandedSiblings / 2);
  for (let index = from; index < from + maxExpandedSiblings; index++) {
    const id = level.idAt(index);
    if (id !== undefined && (store.folder(id)?.folders.totalCount ?? 0) > 0) store.expand(id);
  }
}

/** Letters typed within this interval belong to one name. */
const pauseMs = 700;
const maxScannedSiblings = 10_000;

/** Moves the focus to the next sibling whose name starts with the typed letters. Unloaded siblings are found by a query. */
class TypeAhead {
  readonly #tree: Tree;
  #text = '';
  #timer: ReturnType<typeof setTimeout> | null = null;
  #lastLookup = 0;

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  get isTyping(): boolean {
    return this.#text !== '';
  }

  async type(letter: string): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.#text = ''), pauseMs);
    this.#text += letter;
    // Typing the same letter repeatedly steps through the matches.
    const isRepeated = [...this.#text].every((each) => each === letter);
    const text = isRepeated ? letter : this.#text;
    const { store, focus, loader } = this.#tree;
    const row = store.rowAt(focus.index);
    const parentId = row?.parentId ?? store.root?.id;
    const level = parentId === undefined ? undefined : store.level(parentId);
    if (!row || parentId === undefined || !level) return;
    const start = row.parentId === null ? 0 : row.position + (text.length === 1 ? 1 : 0);
    const loadedId = this.#findLoaded(level, start, text);
    if (loadedId !== null) return focus.moveToFolder(loadedId);
    if (level.isComplete) return;
    const lookup = ++this.#lastLookup;
    const found = await loader.findByPrefix(parentId, text);
    if (found !== null && lookup === this.#lastLookup) focus.moveToFolder(found);
  }

  #findLoaded(level: Level, start: number, text: string): string | null {
    const { store } = this.#tree;
    for (let step = 0; step < Math.min(level.total, maxScannedSiblings); step++) {
      const id = level.idAt((start + step) % level.total);
      const name = id === undefined ? undefined : store.folder(id)?.name;
      if (name !== undefined && plainText(name).startsWith(plainText(text))) return id!;
    }
    return null;
  }
}
