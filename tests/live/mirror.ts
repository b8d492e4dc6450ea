/**
 * A client that keeps a copy of what it may see: it reads, follows the changes from there on, and applies each as
 * `docs/live.md` says. Whoever has caught up must have exactly what a fresh read shows.
 */

import { isDeepStrictEqual } from 'node:util';

export interface MirroredFolder {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly version: number;
  readonly accessLevel: string;
  readonly parent: { readonly id: string } | null;
}

export interface Change {
  readonly kind: 'CREATE' | 'UPDATE' | 'MOVE' | 'DELETE' | 'IMPORT' | 'RESYNC';
  readonly cursor: string;
  readonly folderId: string | null;
  readonly folder: MirroredFolder | null;
  readonly at: string | null;
  readonly oldParent: { readonly id: string } | null;
  readonly newParent: { readonly id: string } | null;
}

/** How a mirror asks; errors are thrown. */
export type Ask = <Data>(query: string, variables: Readonly<Record<string, unknown>>) => Promise<Data>;

interface FolderWithInside extends MirroredFolder {
  readonly descendants: { readonly items: readonly MirroredFolder[] };
}

const fields = 'id name title version accessLevel parent{id}';
const readEverything = `query($id: ID){cursor folder(id: $id){${fields} descendants{items{${fields}}}}}`;
const readInside = `query($id: ID!){folder(id: $id){${fields} descendants{items{${fields}}}}}`;

export const watchChanges = `subscription($under: ID, $after: String){folderChanges(under: $under, after: $after){
  kind cursor folderId at folder{${fields}} oldParent{id} newParent{id}}}`;

export class Mirror {
  /** Only this folder and what is inside; undefined for the whole tree. */
  readonly under: string | undefined;
  readonly #ask: Ask;
  #folders = new Map<string, MirroredFolder>();
  /** Inside these something was read or dropped since they were read. */
  #touched = new Set<string>();
  #cursor = '';
  /** How often it was told to read everything anew. */
  resyncs = 0;
  /** Changes of folders that it did not have, or not their parents. */
  unknown = 0;

  constructor(ask: Ask, under?: string) {
    this.#ask = ask;
    this.under = under;
  }

  /** Where it has got to, for whoever subscribes. */
  get cursor(): string {
    return this.#cursor;
  }

  async read(): Promise<void> {
    const { cursor, folders } = await readFolders(this.#ask, this.under);
    this.#folders = folders;
    this.#touched.clear();
    this.#cursor = cursor;
  }

  async apply({ kind, cursor, folderId, folder, at }: Change): Promise<void> {
    if (kind === 'RESYNC') {
      this.resyncs++;
      await this.read();
    } else if (kind === 'DELETE' || !folder) {
      // Gone by now if it is not deleted, perhaps with a folder above that it has been moved into.
      this.#drop(folderId!);
    } else if (!this.#hasParentOf(folder)) {
      // It was told before the parent went, or the parent is still to come: it goes and comes with it.
      this.unknown++;
      this.#drop(folder.id);
    } else if (kind === 'CREATE') {
      await this.#takeWithInside(folder);
    } else {
      const known = this.#folders.get(folder.id);
      if (!known) this.unknown++;
      // What is inside was not told, or may be done with it what could not be done before; or it was read ahead.
      const isInsideOld =
        kind === 'IMPORT' ||
        known?.accessLevel !== folder.accessLevel ||
        (kind === 'MOVE' ? this.#touched.has(folder.id) : at === null);
      if (isInsideOld) await this.#takeWithInside(folder);
      else this.#folders.set(folder.id, folder);
    }
    this.#cursor = cursor;
  }

  /** What differs from a fresh read, in words. */
  async differences(): Promise<readonly string[]> {
    const { folders } = await readFolders(this.#ask, this.under);
    const ids = new Set([...folders.keys(), ...this.#folders.keys()]);
    return [...ids].flatMap((id) => {
      const [own, fresh] = [this.#folders.get(id), folders.get(id)];
      if (isDeepStrictEqual(own, fresh)) return [];
      return [`${id} is ${JSON.stringify(fresh)}, mirrored as ${JSON.stringify(own)}`];
    });
  }

  #hasParentOf({ id, parent }: MirroredFolder): boolean {
    return id === this.under || parent === null || this.#folders.has(parent.id);
  }

  /** As it is read: what was told may be older than what has been read of it meanwhile, with a folder above. */
  async #takeWithInside({ id }: MirroredFolder): Promise<void> {
    const { folder } = await this.#ask<{ folder: FolderWithInside | null }>(readInside, { id });
    this.#drop(id);
    // It has moved on: it is told where.
    if (!folder || !this.#hasParentOf(folder)) return;
    const { descendants, ...top } = folder;
    for (const each of [top, ...descendants.items]) this.#folders.set(each.id, each);
    this.#touchAbove(id);
  }

  #touchAbove(id: string): void {
    for (let at = this.#folders.get(id)?.parent; at; at = this.#folders.get(at.id)?.parent) {
      // Between two changes it may seem to be inside itself.
      if (this.#touched.has(at.id)) return;
      this.#touched.add(at.id);
    }
  }

  #drop(id: string): void {
    this.#touchAbove(id);
    const dropped = new Set([id]);
    // What is added while the set is walked through is walked through, too.
    for (const above of dropped) {
      for (const { id: each, parent } of this.#folders.values()) if (parent?.id === above) dropped.add(each);
    }
    for (const each of dropped) {
      this.#folders.delete(each);
      this.#touched.delete(each);
    }
  }
}

async function readFolders(
  ask: Ask,
  under: string | undefined,
): Promise<{ cursor: string; folders: Map<string, MirroredFolder> }> {
  const { cursor, folder } = await ask<{ cursor: string; folder: FolderWithInside | null }>(readEverything, {
    id: under,
  });
  const folders = new Map<string, MirroredFolder>();
  if (!folder) return { cursor, folders };
  const { descendants, ...top } = folder;
  for (const each of [top, ...descendants.items]) folders.set(each.id, each);
  return { cursor, folders };
}
