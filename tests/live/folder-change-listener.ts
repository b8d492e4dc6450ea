/** A subscriber to `folderChanges` over a socket. */

import assert from 'node:assert/strict';
import type { Frame, SocketClient } from './socket-client.ts';

export interface FolderChange {
  kind: string;
  folderId: string | null;
  cursor: string;
  folder: { name: string; accessLevel: string } | null;
  oldParent: { id: string } | null;
  newParent: { id: string } | null;
  folderCount: number | null;
  at: string | null;
}

export const subscription = `subscription($under: ID, $after: String){folderChanges(under: $under, after: $after){
  kind folderId cursor folder{name accessLevel} oldParent{id} newParent{id} folderCount at}}`;

/** A subscriber that reads up to a marker folder, so that it detects a missing event without waiting. */
export class FolderChangeListener {
  readonly #client: SocketClient;
  readonly #mark: () => Promise<string>;

  constructor(client: SocketClient, mark: () => Promise<string>) {
    this.#client = client;
    this.#mark = mark;
  }

  async next(): Promise<FolderChange> {
    const { type, payload } = await this.#client.next();
    assert.equal(type, 'next', JSON.stringify(payload));
    const { data, errors } = payload as { data?: { folderChanges: FolderChange }; errors?: unknown };
    assert.equal(errors, undefined, JSON.stringify(errors));
    return data!.folderChanges;
  }

  /** Creates a marker folder and returns all changes before it. */
  async readAll(): Promise<FolderChange[]> {
    const markId = await this.#mark();
    const changes: FolderChange[] = [];
    for (;;) {
      const change = await this.next();
      if (change.folderId === markId) return changes;
      changes.push(change);
    }
  }

  async readKinds(): Promise<(string | null)[][]> {
    return (await this.readAll()).map(({ kind, folderId }) => [kind, folderId]);
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

export function readChange({ payload }: Frame): FolderChange {
  return (payload as unknown as { data: { folderChanges: FolderChange } }).data.folderChanges;
}
