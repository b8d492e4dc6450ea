/** An in-memory server for tests of the tree. Tests decide when responses arrive and which changes are delivered. */

import { compareSiblings } from '@espalier/client';
import type { FolderChange, FolderRow } from '../../graph/live.tsx';
import type { TreeQueries, FolderPath } from './tree-queries.ts';

interface ModelFolder {
  readonly id: string;
  name: string;
  parentId: string | null;
}

export class ModelServer {
  readonly #folders = new Map<string, ModelFolder>([['root', { id: 'root', name: 'Root', parentId: null }]]);
  /** The sorted children by parent. Cleared on each change. */
  readonly #levels = new Map<string, ModelFolder[]>();
  readonly #pendingResponses: (() => void)[] = [];
  #lastId = 0;

  get ids(): string[] {
    return [...this.#folders.keys()];
  }

  children(id: string): ModelFolder[] {
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

  /** Adds a folder without creating a change. */
  addSilently(parentId: string, name: string): string {
    const id = `f${++this.#lastId}`;
    this.#folders.set(id, { id, name, parentId });
    this.#levels.clear();
    return id;
  }

  create(parentId: string, name: string): FolderChange {
    return this.#change('CREATE', this.addSilently(parentId, name));
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
    for (const name of names) this.addSilently(parentId, name);
    return this.#change('IMPORT', parentId);
  }

  /** A change contains the state of the folder at delivery time, which may be later than the change. */
  withCurrentFolder(change: FolderChange): FolderChange {
    const { folderId: id, kind } = change;
    if (id === null || kind === 'DELETE') return change;
    return { ...change, folder: this.#folders.has(id) ? this.row(id) : null };
  }

  resync(): FolderChange {
    return { ...this.#change('RESYNC', 'root'), folderId: null, folder: null };
  }

  /** Delivers the oldest pending response. Returns false if there is none. */
  async deliver(): Promise<boolean> {
    const next = this.#pendingResponses.shift();
    next?.();
    // The loader needs a few microtasks to handle the response.
    for (let task = 0; task < 10; task++) await Promise.resolve();
    return next !== undefined;
  }

  /** Each response has the state at request time. */
  readonly queries: TreeQueries = {
    readRoot: (signal) => this.#respond(this.row('root'), signal),
    readRange: (id, { from, to }, signal) => {
      if (!this.#folders.has(id)) return this.#respond(null, signal);
      const all = this.children(id);
      const items = all.slice(from, to).map((one) => this.row(one.id));
      return this.#respond({ totalCount: all.length, items }, signal);
    },
    readPath: (id, signal) => this.#respond(this.#folders.has(id) ? this.#pathOf(id) : null, signal),
    findByPrefix: (id, text) =>
      this.#respond(this.children(id).find(({ name }) => name.startsWith(text))?.id ?? null),
  };

  #pathOf(id: string): FolderPath {
    const ancestorIds: string[] = [];
    let ancestorId = this.#folders.get(id)!.parentId;
    for (; ancestorId !== null; ancestorId = this.#folders.get(ancestorId)!.parentId) {
      ancestorIds.unshift(ancestorId);
    }
    const withPosition = (folderId: string) => {
      const { parentId } = this.#folders.get(folderId)!;
      const siblings = parentId === null ? [] : this.children(parentId);
      return {
        ...this.row(folderId),
        position: Math.max(
          0,
          siblings.findIndex(({ id: each }) => each === folderId),
        ),
      };
    };
    return { ...withPosition(id), ancestors: ancestorIds.map(withPosition) };
  }

  #respond<Value>(value: Value, signal?: AbortSignal): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    signal?.addEventListener('abort', () => reject(new Error('aborted')));
    this.#pendingResponses.push(() => resolve(value));
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
