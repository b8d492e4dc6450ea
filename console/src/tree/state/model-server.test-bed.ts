/** A server for tests of the tree: folders in memory, answers that come when the test lets them, changes as events. */

import { compareSiblings } from '@espalier/client';
import type { FolderChange, FolderRow } from '../../graph/live.tsx';
import type { TreeQueries, Way } from './tree-queries.ts';

interface Kept {
  readonly id: string;
  name: string;
  parentId: string | null;
}

export class ModelServer {
  readonly #folders = new Map<string, Kept>([['root', { id: 'root', name: 'Root', parentId: null }]]);
  /** Sorted once, until something changes. */
  readonly #levels = new Map<string, Kept[]>();
  readonly #waiting: (() => void)[] = [];
  #lastId = 0;

  get ids(): string[] {
    return [...this.#folders.keys()];
  }

  children(id: string): Kept[] {
    if (this.#levels.size === 0) {
      for (const one of this.#folders.values()) {
        const siblings = this.#levels.get(one.parentId ?? '');
        if (siblings) siblings.push(one);
        else this.#levels.set(one.parentId ?? '', [one]);
      }
      for (const level of this.#levels.values()) level.sort(compareSiblings);
    }
    return this.#levels.get(id) ?? [];
  }

  row(id: string): FolderRow {
    const { name, parentId } = this.#folders.get(id)!;
    return {
      id,
      name,
      title: name,
      icon: null,
      accessLevel: 'MANAGE',
      version: 1,
      parent: parentId === null ? null : { id: parentId },
      folders: { totalCount: this.children(id).length },
    };
  }

  isInside(id: string, above: string): boolean {
    for (let one: string | null = id; one !== null; one = this.#folders.get(one)!.parentId) {
      if (one === above) return true;
    }
    return false;
  }

  /** Without telling. */
  plant(parentId: string, name: string): string {
    const id = `f${++this.#lastId}`;
    this.#folders.set(id, { id, name, parentId });
    this.#levels.clear();
    return id;
  }

  create(parentId: string, name: string): FolderChange {
    return this.#change('CREATE', this.plant(parentId, name));
  }

  rename(id: string, name: string): FolderChange {
    this.#folders.get(id)!.name = name;
    return this.#change('UPDATE', id);
  }

  move(id: string, parentId: string): FolderChange {
    const oldParent = this.row(this.#folders.get(id)!.parentId!);
    this.#folders.get(id)!.parentId = parentId;
    return { ...this.#change('MOVE', id), oldParent };
  }

  remove(id: string): FolderChange {
    for (const { id: inside } of [...this.children(id)]) this.remove(inside);
    this.#folders.delete(id);
    return this.#change('DELETE', id);
  }

  import(parentId: string, names: readonly string[]): FolderChange {
    for (const name of names) this.plant(parentId, name);
    return this.#change('IMPORT', parentId);
  }

  /** A change shows the folder as it is when it is told of, which may be later. */
  told(change: FolderChange): FolderChange {
    const { folderId: id, kind } = change;
    if (id === null || kind === 'DELETE') return change;
    return { ...change, folder: this.#folders.has(id) ? this.row(id) : null };
  }

  resync(): FolderChange {
    return { ...this.#change('RESYNC', 'root'), folderId: null, folder: null };
  }

  /** Lets the first answer go that is waited for; false if there is none. */
  async answer(): Promise<boolean> {
    const next = this.#waiting.shift();
    next?.();
    // What hangs on it is done in a few turns.
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    return next !== undefined;
  }

  /** Each answer is of the moment of the question. */
  readonly reads: TreeQueries = {
    root: (signal) => this.#later(this.row('root'), signal),
    stretch: (id, { from, to }, signal) => {
      if (!this.#folders.has(id)) return this.#later(null, signal);
      const all = this.children(id);
      const items = all.slice(from, to).map((one) => this.row(one.id));
      return this.#later({ totalCount: all.length, items }, signal);
    },
    way: (id, signal) => this.#later(this.#folders.has(id) ? this.#way(id) : null, signal),
    beginning: (id, text) =>
      this.#later(this.children(id).find(({ name }) => name.startsWith(text))?.id ?? null),
  };

  #way(id: string): Way {
    const above: string[] = [];
    let one = this.#folders.get(id)!.parentId;
    for (; one !== null; one = this.#folders.get(one)!.parentId) above.unshift(one);
    const placed = (of: string) => {
      const { parentId } = this.#folders.get(of)!;
      const position = parentId === null ? 0 : this.children(parentId).findIndex((each) => each.id === of);
      return { ...this.row(of), position };
    };
    return { ...placed(id), ancestors: above.map(placed) };
  }

  #later<Value>(value: Value, signal?: AbortSignal): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    signal?.addEventListener('abort', () => reject(new Error('aborted')));
    this.#waiting.push(() => resolve(value));
    return promise;
  }

  #change(kind: FolderChange['kind'], id: string): FolderChange {
    this.#levels.clear();
    return {
      kind,
      cursor: 'c',
      folderId: id,
      folder: this.#folders.has(id) ? this.row(id) : null,
      oldParent: null,
      newParent: null,
      folderCount: null,
      at: '2026-01-31T12:00:00.000Z',
      by: { id: 'u1', username: 'ada' },
    };
  }
}
