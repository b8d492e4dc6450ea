/** The mutation `moveFolder`, with the preview of its effects. */

import type { AccessLevel } from '../../../access/access.ts';
import { readAccessChanges } from '../../../access/user-access.ts';
import { userKey } from '../../../accounts/users.ts';
import type { Reader } from '../../../database/database.ts';
import type { MovedPaths } from '../../../folders/folder-writes.ts';
import { countDescendants } from '../../../folders/children/child-counts.ts';
import { mayReadAccessChanges } from '../../../folders/folder-access.ts';
import { longField } from '../../document-fields.ts';
import { change } from '../../mutations.ts';
import { defineMutation, type Builder } from '../builder.ts';
import {
  defineKeysetConnection,
  KeysetConnection,
  pageArguments,
  type KeysetList,
  type PageInfoRef,
} from '../connections/keyset-connection.ts';
import { changeCursor } from '../journal/references.ts';
import { UserBatch, type UserNode } from '../people/people-batch.ts';
import type { PeopleTypes } from '../people/people.ts';
import type { FolderNode } from './folder-batch.ts';
import { expectedVersion } from './folder-mutations.ts';
import { nodeOfChanged } from './folder-queries.ts';
import type { FolderTypes } from './folder.ts';

interface Moved {
  readonly node: FolderNode;
  readonly isDryRun: boolean;
  /** Counted once, however often the query selects it. */
  count?: Promise<number>;
  readonly paths: MovedPaths;
}

interface AccessChangeNode {
  readonly user: UserNode;
  readonly before: AccessLevel;
  readonly after: AccessLevel;
}

export function defineMove(
  builder: Builder,
  { Folder, AccessLevel }: Pick<FolderTypes, 'Folder' | 'AccessLevel'>,
  { User }: Pick<PeopleTypes, 'User'>,
  { PageInfo }: { readonly PageInfo: PageInfoRef },
): void {
  const AccessChangeConnection = defineAccessChanges(builder, { AccessLevel, User, PageInfo });
  const MovePayload = builder.objectRef<Moved>('MoveFolderPayload').implement({
    fields: (t) => ({
      folder: t.field({ type: Folder, resolve: ({ node }) => node }),
      isDryRun: t.exposeBoolean('isDryRun', { description: 'Nothing was moved.' }),
      folderCount: t.int({
        description: 'How many folders you see moving: the folder itself and all that is inside.',
        extensions: longField,
        resolve: (moved, _, { budget }, info) =>
          (moved.count ??= countMoved(moved.node, (count) => budget.scan(count, info))),
      }),
      accessChanges: t.field({
        type: AccessChangeConnection,
        nullable: true,
        description:
          'Who gains or loses access by the move, in the order of user names; administrators are left out. Null unless you manage the folder and both parents. To read further pages, repeat the dry run with `after`.',
        args: pageArguments(t.arg),
        resolve: async ({ paths, isDryRun }, page, { reader, view }) =>
          (await mayReadAccessChanges(view, paths, isDryRun))
            ? new KeysetConnection(accessChangeList(reader, paths), page)
            : null,
      }),
      cursor: t.string(changeCursor),
    }),
  });

  defineMutation(builder, 'moveFolder', {
    type: MovePayload,
    description:
      'Needs WRITE on the folder, on its parent and on the new parent; MANAGE on the folder if anybody would have more access to it there. CYCLE if the new parent is inside the folder.',
    input: () => defineMoveInput(builder),
    resolve: ({ dryRun: isDryRun, ...move }, context): Promise<Moved> =>
      change(
        context,
        ({ folders }, caller) => folders.move(caller, move, { isDryRun }),
        async (moved, response) => ({
          node: await nodeOfChanged(moved, response),
          isDryRun,
          paths: moved.paths,
        }),
      ),
  });
}

function defineAccessChanges(
  builder: Builder,
  {
    AccessLevel,
    User,
    PageInfo,
  }: Pick<FolderTypes, 'AccessLevel'> & Pick<PeopleTypes, 'User'> & { readonly PageInfo: PageInfoRef },
) {
  const AccessChange = builder.objectRef<AccessChangeNode>('AccessChange').implement({
    description: 'Somebody whose level on a folder a move changes.',
    fields: (t) => ({
      user: t.field({ type: User, resolve: ({ user }) => user }),
      before: t.field({ type: AccessLevel, resolve: ({ before }) => before }),
      after: t.field({ type: AccessLevel, resolve: ({ after }) => after }),
    }),
  });
  return defineKeysetConnection(builder, {
    PageInfo,
    Node: AccessChange,
    plural: 'access changes',
  });
}

function defineMoveInput(builder: Builder) {
  return builder.inputType('MoveFolderInput', {
    fields: (f) => ({
      id: f.id({ required: true }),
      parentId: f.id({ required: true, description: 'The new parent.' }),
      expectedVersion: f.int({ description: expectedVersion }),
      dryRun: f.boolean({
        required: true,
        defaultValue: false,
        description: 'Only tells what the move would do, or why it is refused.',
      }),
    }),
  });
}

async function countMoved({ folder, batch }: FolderNode, onRead: (count: number) => void): Promise<number> {
  return 1 + (await countDescendants(batch.view, folder, { onRead }));
}

/** In the order of user names. A move concerns few users or all of them, so all changes are read at once. */
function accessChangeList(reader: Reader, paths: MovedPaths): KeysetList<AccessChangeNode> {
  let changes: ReturnType<typeof readAccessChanges> | undefined;
  const readAll = () => (changes ??= readAccessChanges(reader, paths));
  return {
    name: `access changes ${paths.before.join()} ${paths.after.join()}`,
    keyOf: ({ user }) => userKey(user.user),
    async read({ after, limit }) {
      const page = (await readAll())
        .filter(({ user }) => after === undefined || userKey(user) > after)
        .slice(0, limit);
      const { nodes } = new UserBatch(page.map(({ user }) => user));
      return page.map((accessChange, index) => ({ ...accessChange, user: nodes[index]! }));
    },
    count: async () => (await readAll()).length,
  };
}
