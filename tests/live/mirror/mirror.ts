/**
 * A client that keeps a copy of the folders it may see. It reads them, follows the changes, and applies each
 * change as `docs/clients/follow-changes.md` describes. After catching up it must equal a fresh read.
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

/** Runs a query for the mirror. Throws on errors. */
export type RunQuery = <Data>(query: string, variables: Readonly<Record<string, unknown>>) => Promise<Data>;

interface FolderWithDescendants extends MirroredFolder {
  readonly descendants: { readonly items: readonly MirroredFolder[] };
}

const fields = 'id name title version accessLevel parent{id}';
const rootQuery = `query($id: ID){cursor folder(id: $id){${fields} descendants{items{${fields}}}}}`;
const folderQuery = `query($id: ID!){folder(id: $id){${fields} descendants{items{${fields}}}}}`;

export const watchChanges = `subscription($under: ID, $after: String){folderChanges(under: $under, after: $after){
  kind cursor folderId at folder{${fields}} oldParent{id} newParent{id}}}`;

export class Mirror {
  /** Mirrors only this folder and its descendants; undefined for the whole tree. */
  readonly under: string | undefined;
  readonly #runQuery: RunQuery;
  #folders = new Map<string, MirroredFolder>();
  /** Folders with a descendant that was read again or dropped after the folder was read. */
  #changedAncestors = new Set<string>();
  #cursor = '';
  /** The number of RESYNC changes received. */
  resyncs = 0;
  /**
   * The number of changes that name a folder without a copy in the mirror, or without a copy of its parent.
   */
  unknownChanges = 0;

  constructor(runQuery: RunQuery, under?: string) {
    this.#runQuery = runQuery;
    this.under = under;
  }

  /** The cursor to subscribe from. */
  get cursor(): string {
    return this.#cursor;
  }

  async read(): Promise<void> {
    const { cursor, folders } = await readFolders(this.#runQuery, this.under);
    this.#folders = folders;
    this.#changedAncestors.clear();
    this.#cursor = cursor;
  }

  async apply({ kind, cursor, folderId, folder, at }: Change): Promise<void> {
    if (kind === 'RESYNC') {
      this.resyncs++;
      await this.read();
    } else if (kind === 'DELETE' || !folder) {
      // If the kind is not DELETE, the folder has become invisible since, perhaps with an ancestor that it
      // was moved into.
      this.#drop(folderId!);
    } else if (!this.#hasParentOf(folder)) {
      // The parent was removed after this change, or a later change adds it. The folder is removed or read
      // with its parent.
      this.unknownChanges++;
      this.#drop(folder.id);
    } else if (kind === 'CREATE') {
      await this.#readWithDescendants(folder);
    } else {
      const current = this.#folders.get(folder.id);
      if (!current) this.unknownChanges++;
      // Read the descendants again if their changes were not sent, if their access may differ, or if one of
      // them was read or dropped since.
      const areDescendantsStale =
        kind === 'IMPORT' ||
        current?.accessLevel !== folder.accessLevel ||
        (kind === 'MOVE' ? this.#changedAncestors.has(folder.id) : at === null);
      if (areDescendantsStale) await this.#readWithDescendants(folder);
      else this.#folders.set(folder.id, folder);
    }
    this.#cursor = cursor;
  }

  /** Describes the differences from a fresh read. */
  async differences(): Promise<readonly string[]> {
    const { folders } = await readFolders(this.#runQuery, this.under);
    const ids = new Set([...folders.keys(), ...this.#folders.keys()]);
    return [...ids].flatMap((id) => {
      const [mirrored, fresh] = [this.#folders.get(id), folders.get(id)];
      if (isDeepStrictEqual(mirrored, fresh)) return [];
      return [`${id} is ${JSON.stringify(fresh)}, mirrored as ${JSON.stringify(mirrored)}`];
    });
  }

  #hasParentOf({ id, parent }: MirroredFolder): boolean {
    return id === this.under || parent === null || this.#folders.has(parent.id);
  }

  /** Reads the folder again, because the change may be older than a later read of an ancestor. */
  async #readWithDescendants({ id }: MirroredFolder): Promise<void> {
    const { folder } = await this.#runQuery<{ folder: FolderWithDescendants | null }>(folderQuery, { id });
    this.#drop(id);
    // The folder has moved or disappeared. A later change reports it.
    if (!folder || !this.#hasParentOf(folder)) return;
    const { descendants, ...top } = folder;
    for (const each of [top, ...descendants.items]) this.#folders.set(each.id, each);
    this.#markAncestors(id);
  }

  #markAncestors(id: string): void {
    for (let at = this.#folders.get(id)?.parent; at; at = this.#folders.get(at.id)?.parent) {
      // Between two changes, a folder can appear to be inside itself.
      if (this.#changedAncestors.has(at.id)) return;
      this.#changedAncestors.add(at.id);
    }
  }

  #drop(id: string): void {
    this.#markAncestors(id);
    const droppedIds = new Set([id]);
    // Iterating a set includes the elements that are added meanwhile.
    for (const parentId of droppedIds) {
      for (const { id: each, parent } of this.#folders.values())
        if (parent?.id === parentId) droppedIds.add(each);
    }
    for (const each of droppedIds) {
      this.#folders.delete(each);
      this.#changedAncestors.delete(each);
    }
  }
}

async function readFolders(
  runQuery: RunQuery,
  under: string | undefined,
): Promise<{ cursor: string; folders: Map<string, MirroredFolder> }> {
  const { cursor, folder } = await runQuery<{ cursor: string; folder: FolderWithDescendants | null }>(
    rootQuery,
    {
      id: under,
    },
  );
  const folders = new Map<string, MirroredFolder>();
  if (!folder) return { cursor, folders };
  const { descendants, ...top } = folder;
  for (const each of [top, ...descendants.items]) folders.set(each.id, each);
  return { cursor, folders };
}
