/** What several people do to a tree at the same time, at random: to its folders, and to who sees them. */

import fc from 'fast-check';
import type { TreeTestbed } from '../tree/tree-testbed.ts';

export interface RandomChange {
  readonly kind: string;
  readonly one: number;
  readonly two: number;
}

const kinds = ['create', 'rename', 'retitle', 'move', 'move', 'move', 'delete', 'restore', 'import'];
const rights = ['grant', 'grant', 'revoke', 'join', 'leave'];

export const randomChanges: fc.Arbitrary<RandomChange> = fc.record({
  kind: fc.constantFrom(...kinds, ...rights, 'cut'),
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
  const at = <T>(all: readonly T[], place: number) => all[place % all.length]!;

  const inputs: Record<string, (given: RandomChange, id: string) => [string, Record<string, unknown>]> = {
    create: ({ one, two }, parentId) => ['createFolder', { parentId, name: `n${one} ${two}` }],
    rename: ({ one, two }, id) => ['updateFolder', { id, name: `${at([...'aceg'], one)}${two}` }],
    retitle: ({ two }, id) => ['updateFolder', { id, title: `title ${two}` }],
    move: ({ two }, id) => ['moveFolder', { id, parentId: at(folderIds, two) }],
    import: ({ one, two }, parentId) => [
      'importFolders',
      { parentId, list: ['x/1', 'x/2', 'y'].map((path) => ({ path: `i${one} ${two}/${path}` })) },
    ],
    restore: () => ['restoreFolder', { id: trash.pop() ?? groupId }],
    grant: ({ one, two }, folderId) => [
      'grantAccess',
      { folderId, userId: at(userIds, two), level: at(['READ', 'NONE', 'WRITE'], one) },
    ],
    revoke: ({ two }, folderId) => ['revokeAccess', { folderId, userId: at(userIds, two) }],
    join: ({ two }) => ['addToGroup', { groupId, userIds: [at(userIds, two)] }],
    leave: ({ two }) => ['removeFromGroup', { groupId, userIds: [at(userIds, two)] }],
  };

  return {
    /** What is there now, for the next changes. */
    async look(): Promise<void> {
      const query = '{folder{descendants{items{id}}}}';
      const { folder } = await tree.query<{ folder: { descendants: { items: { id: string }[] } } }>(query);
      folderIds = folder.descendants.items.map(({ id }) => id);
    },
    /** Others may have been there first: whatever is refused is refused. */
    async change(given: RandomChange): Promise<void> {
      const id = at(folderIds, given.one);
      if (given.kind === 'delete' && given.two % 2 === 0) {
        trash.push(id);
        await tree.outcome('deleteFolder', { id, recursive: true });
      }
      const input = inputs[given.kind]?.(given, id);
      if (input) await tree.outcome(...input);
    },
  };
}
