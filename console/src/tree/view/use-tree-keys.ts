/** Moves the focus by keys, opens and closes folders, and selects. */

import { useMemo, type KeyboardEvent } from 'react';
import type { FolderRow } from '../../graph/live.tsx';
import { keyOf, type TreeCommand, type TreeKey } from './tree-keys.ts';
import type { Tree } from '../tree.ts';
import { plainText } from '../search/search-match.ts';

/** More are not opened at once by `*`. */
const mostOpenedAtOnce = 50;

export interface TreeKeysOptions {
  readonly tree: Tree;
  readonly isMultiple: boolean;
  readonly page: number;
  readonly onOpen: (folder: FolderRow) => void;
  /** Answers whether it was something to be done. */
  readonly onCommand?: ((command: TreeCommand) => boolean) | undefined;
}

export function useTreeKeys(options: TreeKeysOptions): (event: KeyboardEvent) => void {
  const typeAhead = useMemo(() => new TypeAhead(options.tree), [options.tree]);
  return (event) => {
    if (event.target !== event.currentTarget) return;
    const key = keyOf(event, typeAhead.isTyping);
    if (key && press(key, options, typeAhead)) event.preventDefault();
  };
}

/** Answers whether the key is used up. */
function press(key: TreeKey, options: TreeKeysOptions, typeAhead: TypeAhead): boolean {
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
      if (key.extends && isMultiple) focus.extendTo(next);
      else focus.moveTo(next);
      return true;
    }
    case 'in':
      if (row.isOpen) focus.moveTo(index + 1);
      else if (folder && folder.folders.totalCount > 0) store.open(folder.id);
      return true;
    case 'out':
      if (row.isOpen && row.parentId !== null) store.close(folder!.id);
      else if (row.parentId !== null) focus.moveToFolder(row.parentId);
      return true;
    case 'openSiblings':
      openSiblings(tree, row.parentId, row.position);
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

function openSiblings({ store }: Tree, parentId: string | null, place: number): void {
  const level = parentId === null ? undefined : store.level(parentId);
  if (!level) return;
  const from = Math.max(0, place - mostOpenedAtOnce / 2);
  for (let at = from; at < from + mostOpenedAtOnce; at++) {
    const id = level.idAt(at);
    if (id !== undefined && (store.folder(id)?.folders.totalCount ?? 0) > 0) store.open(id);
  }
}
/** Letters that follow each other sooner belong to one name. */
const pauseMs = 700;

export class TypeAhead {
  readonly #tree: Tree;
  #text = '';
  #timer: ReturnType<typeof setTimeout> | null = null;
  #asked = 0;

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
    // The same letter again and again goes from one to the next.
    const isRepeated = [...this.#text].every((each) => each === letter);
    const text = isRepeated ? letter : this.#text;
    const { store, focus, loader } = this.#tree;
    const row = store.rowAt(focus.index);
    if (!row) return;
    const { parentId, position, siblingCount } = row;
    const parent = parentId ?? store.root!.id;
    const level = store.level(parent);
    if (!level) return;
    const start = parentId === null ? 0 : position + (text.length === 1 ? 1 : 0);
    const id = firstKnown();
    if (id !== null) return focus.moveToFolder(id);
    if (level.isComplete) return;
    const asked = ++this.#asked;
    const found = await loader.findByPrefix(parent, text);
    if (found !== null && asked === this.#asked) focus.moveToFolder(found);

    function firstKnown(): string | null {
      const total = parentId === null ? level!.total : siblingCount;
      for (let step = 0; step < Math.min(total, 10000); step++) {
        const one = level!.idAt((start + step) % total);
        const name = one === undefined ? undefined : store.folder(one)?.name;
        if (name !== undefined && plainText(name).startsWith(plainText(text))) return one!;
      }
      return null;
    }
  }
}
