/**
 * A server in this process. Its tree changes at the worst moments: between two pages of a read, and between a change and its
 * event. It supports only the requests of a watched tree and sends changes like the real server: in order, each with the
 * current state of its folder.
 */

import fc from 'fast-check';
import type { Folder } from '../../client/src/folder.ts';
import type { WatchingClient } from '../../client/src/tree/follow-changes.ts';
import type { FolderChangeKind } from '../../client/src/tree/tree-copy.ts';
import { inNaturalOrder } from '../../client/src/tree/natural-order.ts';

export interface Operation {
  readonly kind: string;
  readonly one: number;
  readonly two: number;
  /** Whether the server sends a response before the next operation. */
  readonly isLast: boolean;
}

/** Without operations that cause a new read, because a read would repair earlier mistakes. */
const gentle = ['move', 'move', 'move', 'move', 'rename', 'retitle', 'delete', 'cut', 'none', 'none'];
const all = [...gentle, 'rename', 'create', 'import', 'restore', 'restore', 'level', 'resync'];

const operationOf = (kinds: readonly string[]): fc.Arbitrary<Operation> =>
  fc.record({
    kind: fc.constantFrom(...kinds),
    one: fc.nat(9_999),
    two: fc.nat(9_999),
    isLast: fc.boolean(),
  });

export const operations = { gentle: operationOf(gentle), all: operationOf(all) };

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
  #cuts = 0;
  reads = 0;

  constructor(operations: readonly Operation[]) {
    this.#operations = [...operations];
    this.#grow(null, 4);
  }

  /** The end of the journal; undefined while operations are pending. */
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
    const [top, seen] = [this.#folders.get(id), this.#folders.get(lastParent)];
    const current = seen ? { ...seen, ancestors: this.#pathTo(lastParent).slice(0, -1) } : null;
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
    let cuts = this.#cuts;
    let position = Number(variables().after);
    while (!signal.aborted) {
      await new Promise(setImmediate);
      this.#change();
      // Continues like after a lost connection.
      if (cuts !== this.#cuts) position = Number(variables().after);
      cuts = this.#cuts;
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
    const some = one % 3 === 0 ? all : all.filter(({ id }) => this.children(id).length > 0);
    const [folder, other] = [some[one % some.length], all[two % all.length] ?? this.#folders.get('1')!];
    if (kind === 'resync') this.#note('RESYNC', null);
    if (kind === 'cut') this.#cuts++;
    if (kind === 'restore') {
      const [top, ...inside] = this.#trash.splice(one % Math.max(1, this.#trash.length), 1)[0] ?? [];
      if (!top) return;
      for (const each of [{ ...top, parentId: other.id }, ...inside]) this.#folders.set(each.id, each);
      this.#note('CREATE', top.id);
    }
    if (kind === 'create') this.#note('CREATE', this.#grow(other.id, 0));
    if (kind === 'import' && all.length < 80) {
      this.#grow(other.id, 2);
      this.#note('IMPORT', other.id);
    }
    if (!folder) return;
    const { id } = folder;
    if (kind === 'rename') this.#update(folder, { name: `${letters[two % letters.length]}${id}` });
    if (kind === 'retitle') this.#update(folder, { title: `title ${two}` });
    if (kind === 'move' && !this.#pathTo(other.id).includes(folder)) {
      this.#folders.set(id, { ...folder, parentId: other.id });
      this.#note('MOVE', id);
    }
    const gone = this.subtree(id);
    if (kind === 'delete' && all.length - gone.length > 40) {
      this.#trash.push(gone);
      for (const each of gone) this.#folders.delete(each.id);
      this.#note('DELETE', id);
    }
    if (kind === 'level') {
      const accessLevel = levels[two % levels.length]!;
      for (const each of this.subtree(id)) this.#folders.set(each.id, { ...each, accessLevel });
      this.#note('UPDATE', id);
    }
  }

  #update(folder: Folder, change: Partial<Folder>): void {
    this.#folders.set(folder.id, { ...folder, ...change });
    this.#note('UPDATE', folder.id);
  }

  #note(kind: FolderChangeKind, folderId: string | null): void {
    this.#journal.push({ kind, folderId });
  }

  /** Creates a folder with descendants. */
  #grow(parentId: string | null, depth: number): string {
    const id = String(++this.#count);
    const name = `${letters[this.#count % letters.length]}${id}`;
    const accessLevel = this.#folders.get(parentId!)?.accessLevel ?? 'READ';
    this.#folders.set(id, { id, parentId, name, title: name, accessLevel } as Folder);
    for (let count = 0; count < depth; count++) this.#grow(id, depth - 1);
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
