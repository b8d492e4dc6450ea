/** Random changes of folders and of access rights. */

import fc from 'fast-check';
import type { TreeTestbed } from '../tree/tree-testbed.ts';

export interface RandomChange {
  readonly kind: string;
  /** Random numbers. They select the folders, users and new values. */
  readonly one: number;
  readonly two: number;
}

const kinds = [
  'create',
  'rename',
  'retitle',
  'move',
  'move',
  'move',
  'delete',
  'restore',
  'import',
  'merge',
  'copy',
];
const accessKinds = ['grant', 'grant', 'revoke', 'join', 'leave'];

export const randomChanges: fc.Arbitrary<RandomChange> = fc.record({
  kind: fc.constantFrom(...kinds, ...accessKinds, 'disconnect'),
  one: fc.nat(9_999),
  two: fc.nat(9_999),
});

export interface People {
  readonly userIds: readonly string[];
  readonly groupId: string;
}

export function createChanger(tree: TreeTestbed, { userIds, groupId }: People) {
  let folderIds: readonly string[] = [];
  const trash: string[] = [];
  const pickAt = <T>(all: readonly T[], index: number) => all[index % all.length]!;

  const inputs: Record<string, (change: RandomChange, id: string) => [string, Record<string, unknown>]> = {
    create: ({ one, two }, parentId) => ['createFolder', { parentId, name: `n${one} ${two}` }],
    rename: ({ one, two }, id) => ['updateFolder', { id, name: `${pickAt([...'aceg'], one)}${two}` }],
    retitle: ({ two }, id) => ['updateFolder', { id, title: `title ${two}` }],
    move: ({ one, two }, id) => {
      const name = two % 3 === 0 ? `${pickAt([...'aceg'], one)}${two}` : undefined;
      return ['moveFolder', { id, parentId: pickAt(folderIds, two), name }];
    },
    copy: ({ one, two }, id) => {
      const parentId = pickAt(folderIds, two);
      return ['duplicateFolder', { id, parentId, name: `copy ${one} ${two}` }];
    },
    import: ({ one, two }, parentId) => [
      'importFolders',
      { parentId, list: ['x/1', 'x/2', 'y'].map((path) => ({ path: `i${one} ${two}/${path}` })) },
    ],
    merge: ({ one, two }, parentId) => [
      'importFolders',
      {
        parentId,
        list: [{ path: 'm/x', title: `title ${two}` }, { path: `m/x/${two % 3}` }, { path: `m/${one}` }],
        onExisting: 'UPDATE',
      },
    ],
    restore: () => ['restoreFolder', { id: trash.pop() ?? groupId }],
    grant: ({ one, two }, folderId) => [
      'grantAccess',
      { folderId, userId: pickAt(userIds, two), level: pickAt(['READ', 'NONE', 'WRITE'], one) },
    ],
    revoke: ({ two }, folderId) => ['revokeAccess', { folderId, userId: pickAt(userIds, two) }],
    join: ({ two }) => ['addToGroup', { groupId, userIds: [pickAt(userIds, two)] }],
    leave: ({ two }) => ['removeFromGroup', { groupId, userIds: [pickAt(userIds, two)] }],
  };

  return {
    /** Reads the current folders for the next changes. */
    async refresh(): Promise<void> {
      const query = '{folder{descendants{items{id}}}}';
      const { folder } = await tree.query<{ folder: { descendants: { items: { id: string }[] } } }>(query);
      folderIds = folder.descendants.items.map(({ id }) => id);
    },
    /** Applies a change. A refusal is fine, because another change may have come first. */
    async change(change: RandomChange): Promise<void> {
      const id = pickAt(folderIds, change.one);
      if (change.kind === 'delete' && change.two % 2 === 0) {
        trash.push(id);
        await tree.outcome('deleteFolder', { id, recursive: true });
      }
      const input = inputs[change.kind]?.(change, id);
      if (input) await tree.outcome(...input);
    },
  };
}
