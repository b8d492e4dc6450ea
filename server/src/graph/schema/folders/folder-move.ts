/** The mutation `moveFolder`, with the preview of its effects. */

import { readAccessChanges } from '../../../access/access-history.ts';
import type { AccessLevel as Level } from '../../../access/access.ts';
import { userKey } from '../../../accounts/users.ts';
import type { Reader } from '../../../database/database.ts';
import { mayReadAccessChanges } from '../../../folders/folder-grants.ts';
import type { MovedPaths } from '../../../folders/folder-writes.ts';
import { longField } from '../../field-marks.ts';
import { AccessLevel, builder, Folder, User } from '../builder.ts';
import { defineConnection, pageArguments } from '../connections/relay-connection-types.ts';
import { KeysetConnection, type KeysetList } from '../connections/relay-connection.ts';
import { changeCursor, defineMutation } from '../mutation.ts';
import { UserBatch, type UserNode } from '../people/people-batch.ts';
import type { FolderNode } from './folder-batch.ts';
import { countWithFolder, expectedVersion, limits, nodeOfChanged } from './folder-mutations.ts';

interface MoveResult {
  readonly node: FolderNode;
  readonly isDryRun: boolean;
  /** Counted once, however often the query selects it. */
  count?: Promise<number>;
  readonly paths: MovedPaths;
}

interface AccessChangeNode {
  readonly user: UserNode;
  readonly before: Level;
  readonly after: Level;
}

const AccessChange = builder.objectRef<AccessChangeNode>('AccessChange').implement({
  description: 'The change of the access level of a user on a folder through a move.',
  fields: (t) => ({
    user: t.expose('user', { type: User, description: 'The user.' }),
    before: t.expose('before', { type: AccessLevel, description: 'The access level before the move.' }),
    after: t.expose('after', { type: AccessLevel, description: 'The access level after the move.' }),
  }),
});
const AccessChangeConnection = defineConnection(AccessChange, 'access changes');

defineMutation('moveFolder', {
  description:
    'Move a folder to another parent, and optionally rename it in the same change. Requires WRITE on the folder, its parent and the new parent. Also requires MANAGE on the folder if the move gives a user more access to it. CYCLE if the new parent is the folder itself or inside it.',
  input: (t) => ({
    id: t.id({ required: true, description: 'The id of the folder.' }),
    parentId: t.id({
      required: true,
      description: 'The id of the new parent. With the current parent, only the name changes.',
    }),
    name: t.string({ description: `${limits.name} By default, the folder keeps its name.` }),
    expectedVersion: t.int({ description: expectedVersion }),
    dryRun: t.boolean({
      required: true,
      defaultValue: false,
      description:
        'If true, moves nothing: returns only the effects of the move, or the error that it would have.',
    }),
  }),
  change: ({ folders }, caller, { dryRun: isDryRun, ...move }) => folders.move(caller, move, { isDryRun }),
  toPayload: async (moved, { context }, { dryRun: isDryRun }): Promise<MoveResult> => ({
    node: await nodeOfChanged(moved, context),
    isDryRun,
    paths: moved.paths,
  }),
  payload: (t) => ({
    folder: t.expose('node', { type: Folder, description: 'The folder after the move.' }),
    isDryRun: t.exposeBoolean('isDryRun', { description: 'Whether this was a dry run: nothing was moved.' }),
    folderCount: t.int({
      description: 'The number of moved folders that you see: the folder itself and all folders inside.',
      extensions: longField,
      resolve: (moved, _, { view, budget }, info) =>
        (moved.count ??= countWithFolder(view, moved.node.folder, (count) => budget.scan(count, info))),
    }),
    accessChanges: t.field({
      type: AccessChangeConnection,
      nullable: true,
      description:
        'The users who gain or lose access through the move, ordered by user name, without administrators. Null unless you have MANAGE on the folder and on both parents. To read further pages, repeat the dry run with `after`.',
      args: pageArguments(t.arg),
      resolve: async ({ paths, isDryRun }, page, { reader, view }) =>
        (await mayReadAccessChanges(view, paths, isDryRun))
          ? new KeysetConnection(accessChangeList(reader, paths), page)
          : null,
    }),
    cursor: t.string(changeCursor),
  }),
  last: ['input'],
});

/**
 * In the order of user names. Reads all changes once and pages in memory: a move affects few users or nearly all, so reading
 * by page would save nothing.
 */
function accessChangeList(reader: Reader, paths: MovedPaths): KeysetList<AccessChangeNode> {
  let changes: ReturnType<typeof readAccessChanges> | undefined;
  const readAll = () => (changes ??= readAccessChanges(reader, paths));
  return {
    name: `access changes ${paths.before.join()} ${paths.after.join()}`,
    keyOf: ({ user }) => userKey(user),
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
