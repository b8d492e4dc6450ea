/**
 * A model of the server. Its tree changes at the worst moments: between two pages of a read, and between a change and its
 * event. The model supports only the requests of a watched tree and sends changes like the real server: in order, each with the
 * current state of its folder.
 */

import fc from 'fast-check';
import type { Folder } from '../../client/src/folder.ts';
import type { WatchingClient } from '../../client/src/tree/follow-changes.ts';
import type { FolderChangeKind } from '../../client/src/tree/tree-copy.ts';
import { inNaturalOrder } from '../../client/src/tree/natural-order.ts';

export interface Operation {
  readonly kind: string;
  /** Random numbers. They select the folders and the new values. */
  readonly one: number;
  readonly two: number;
  /** Whether this is the last operation before the next response. */
  readonly isLast: boolean;
}

/** Kinds that cause no new read of the tree, because a read would repair earlier mistakes. */
const incremental = [
  'move',
  'move',
  'move',
  'move',
  'rename',
  'retitle',
  'delete',
  'disconnect',
  'none',
  'none',
];
const all = [...incremental, 'rename', 'create', 'import', 'restore', 'restore', 'level', 'resync'];

const operationsOf = (kinds: readonly string[]): fc.Arbitrary<Operation> =>
  fc.record({
    kind: fc.constantFrom(...kinds),
    one: fc.nat(9_999),
    two: fc.nat(9_999),
    isLast: fc.boolean(),
  });

export const operations = { incremental: operationsOf(incremental), all: operationsOf(all) };

interface PageVariables {
  readonly id?: string;
  readonly first: number;
  readonly after: string | null;
  readonly lastParent?: string;
}

const levels = ['READ', 'WRITE', 'MANAGE'] as const;
const letters = 'abcdefghij';

export class ModelServer {
  readonly #operations: Operation[];
  readonly #folders = new Map<string, Folder>();
  readonly #journal: { readonly kind: FolderChangeKind; readonly folderId: string | null }[] = [];
  readonly #trash: (readonly Folder[])[] = [];
  /** Rebuilt on demand after a change. */
  #byParent: Map<string | null, Folder[]> | undefined;
  #count = 0;
  #disconnects = 0;
  reads = 0;

  constructor(operations: readonly Operation[]) {
    this.#operations = [...operations];
    this.#createFolders(null, 4);
  }

  /** The cursor of the last change, or undefined while operations are pending. */
  get head(): string | undefined {
    return this.#operations.length === 0 ? String(this.#journal.length) : undefined;
  }

  /** A folder and its descendants in depth-first order. */
  subtree(id: string): Folder[] {
    return [this.#folders.get(id)!, ...this.children(id).flatMap((child) => this.subtree(child.id))];
  }

  children(id: string): Folder[] {
    this.#byParent ??= Map.groupBy(this.#folders.values(), ({ parentId }) => parentId);
    return inNaturalOrder(this.#byParent.get(id) ?? []);
  }

  readonly client = {
    query: async (_document: unknown, variables: PageVariables) => {
      await new Promise(setImmediate);
      this.#change();
      this.reads++;
      return this.#page(variables);
    },
    subscribe: (
      _document: unknown,
      variables: () => { after: string },
      { signal }: { signal: AbortSignal },
    ) => this.#streamChanges(variables, signal),
  } as unknown as WatchingClient;

  #page({ id = '1', first, after, lastParent = '1' }: PageVariables) {
    const cursor = String(this.#journal.length);
    const [top, previous] = [this.#folders.get(id), this.#folders.get(lastParent)];
    const current = previous ? { ...previous, ancestors: this.#pathTo(lastParent).slice(0, -1) } : null;
    if (!top) return { cursor, folder: null, lastParent: current };
    const [, ...all] = this.subtree(id);
    const pathOf = (folder: Folder) => this.#pathTo(folder.id).slice(this.#pathTo(id).length);
    const last = after === null ? [] : (JSON.parse(after) as Folder[]);
    const begin = all.findIndex((each) => isAfter(pathOf(each), last));
    const rest = begin < 0 ? [] : all.slice(begin);
    const items = rest.slice(0, first);
    const pageInfo = {
      endCursor: items.length > 0 ? JSON.stringify(pathOf(items.at(-1)!)) : null,
      hasNextPage: rest.length > first,
    };
    const descendants = { items: items.map(toResponse), pageInfo };
    return { cursor, folder: { ...toResponse(top), descendants }, lastParent: current };
  }

  async *#streamChanges(variables: () => { after: string }, signal: AbortSignal): AsyncGenerator<unknown> {
    let disconnects = this.#disconnects;
    let position = Number(variables().after);
    while (!signal.aborted) {
      await new Promise(setImmediate);
      this.#change();
      // Reconnects: reads the cursor from the variables again.
      if (disconnects !== this.#disconnects) position = Number(variables().after);
      disconnects = this.#disconnects;
      const entry = this.#journal[position];
      if (!entry) continue;
      const folder = entry.kind === 'DELETE' ? undefined : this.#folders.get(entry.folderId!);
      const change = { ...entry, cursor: String(++position), folder: folder ? toResponse(folder) : null };
      yield { folderChanges: { ...change, at: null, by: null } };
    }
  }

  /** Runs the pending operations up to the next response. */
  #change(): void {
    for (let isLast = false; !isLast && this.#operations.length > 0;) {
      const operation = this.#operations.shift()!;
      this.#run(operation);
      this.#byParent = undefined;
      ({ isLast } = operation);
    }
  }

  #run({ kind, one, two }: Operation): void {
    const [, ...all] = this.subtree('1');
    // Prefers folders with children.
    const candidates = one % 3 === 0 ? all : all.filter(({ id }) => this.children(id).length > 0);
    const [folder, other] = [
      candidates[one % candidates.length],
      all[two % all.length] ?? this.#folders.get('1')!,
    ];
    if (kind === 'resync') this.#addEntry('RESYNC', null);
    if (kind === 'disconnect') this.#disconnects++;
    if (kind === 'restore') {
      const [top, ...inside] = this.#trash.splice(one % Math.max(1, this.#trash.length), 1)[0] ?? [];
      if (!top) return;
      for (const each of [{ ...top, parentId: other.id }, ...inside]) this.#folders.set(each.id, each);
      this.#addEntry('CREATE', top.id);
    }
    if (kind === 'create') this.#addEntry('CREATE', this.#createFolders(other.id, 0));
    if (kind === 'import' && all.length < 80) {
      this.#createFolders(other.id, 2);
      this.#addEntry('IMPORT', other.id);
    }
    if (!folder) return;
    const { id } = folder;
    if (kind === 'rename') this.#update(folder, { name: `${letters[two % letters.length]}${id}` });
    if (kind === 'retitle') this.#update(folder, { title: `title ${two}` });
    if (kind === 'move' && !this.#pathTo(other.id).includes(folder)) {
      this.#folders.set(id, { ...folder, parentId: other.id });
      this.#addEntry('MOVE', id);
    }
    const subtree = this.subtree(id);
    if (kind === 'delete' && all.length - subtree.length > 40) {
      this.#trash.push(subtree);
      for (const each of subtree) this.#folders.delete(each.id);
      this.#addEntry('DELETE', id);
    }
    if (kind === 'level') {
      const accessLevel = levels[two % levels.length]!;
      for (const each of this.subtree(id)) this.#folders.set(each.id, { ...each, accessLevel });
      this.#addEntry('UPDATE', id);
    }
  }

  #update(folder: Folder, change: Partial<Folder>): void {
    this.#folders.set(folder.id, { ...folder, ...change });
    this.#addEntry('UPDATE', folder.id);
  }

  #addEntry(kind: FolderChangeKind, folderId: string | null): void {
    this.#journal.push({ kind, folderId });
  }

  /** Creates a folder with descendants. */
  #createFolders(parentId: string | null, depth: number): string {
    const id = String(++this.#count);
    const name = `${letters[this.#count % letters.length]}${id}`;
    const accessLevel = this.#folders.get(parentId!)?.accessLevel ?? 'READ';
    this.#folders.set(id, { id, parentId, name, title: name, accessLevel } as Folder);
    for (let count = 0; count < depth; count++) this.#createFolders(id, depth - 1);
    return id;
  }

  /** Returns the path from the root to a folder. */
  #pathTo(id: string): Folder[] {
    const folder = this.#folders.get(id);
    return folder ? [...this.#pathTo(folder.parentId!), folder] : [];
  }
}

function toResponse({ parentId, ...folder }: Folder) {
  return { ...folder, parent: parentId === null ? null : { id: parentId } };
}

/** Returns whether a path comes after another one in depth-first order. */
function isAfter(path: readonly Folder[], other: readonly Folder[]): boolean {
  for (const [depth, before] of other.entries()) {
    const folder = path[depth];
    if (!folder) return false;
    if (folder.id !== before.id || folder.name !== before.name) {
      return inNaturalOrder([before, folder])[1] === folder;
    }
  }
  return path.length > other.length;
}
