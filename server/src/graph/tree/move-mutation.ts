/** Moving a folder, or asking what a move would do. */

import { isDeepStrictEqual } from 'node:util';
import { accessLevels } from '../../access/access-level.ts';
import type { Access } from '../../access/access.ts';
import { compareAccess, type AccessDifference } from '../../access/grants.ts';
import { readUsers, userKey, type User } from '../../accounts/users.ts';
import type { Reader } from '../../database/database.ts';
import type { MovedWays } from '../../folders/change-folders.ts';
import { countDescendants } from '../../folders/count-descendants.ts';
import type { TreeView } from '../../folders/folders.ts';
import type { Builder } from '../builder.ts';
import { longField } from '../long-reads.ts';
import { defineKeysetConnection, pageDescriptions } from '../lists/keyset-connection-type.ts';
import { KeysetConnection, type KeysetList } from '../lists/keyset-connection.ts';
import type { PageInfoRef } from '../page-info.ts';
import { changeCursor } from '../journal/change-cursor.ts';
import { change } from '../run-mutation.ts';
import { UserLevel, type UserNode } from '../people/people-level.ts';
import type { PeopleTypes } from '../people/people-types.ts';
import type { FolderNode } from './folder-level.ts';
import { expectedVersion } from './folder-mutations.ts';
import { nodeOfChanged } from './folder-queries.ts';
import type { FolderTypes } from './folder-type.ts';

interface Moved {
  readonly node: FolderNode;
  readonly isDryRun: boolean;
  /** Counted once, however often it is asked for. */
  count?: Promise<number>;
  readonly ways: MovedWays;
}

type AccessChange = AccessDifference & { readonly user: UserNode };

const { MANAGE } = accessLevels;

export function defineMove(
  builder: Builder,
  { Folder, AccessLevel }: Pick<FolderTypes, 'Folder' | 'AccessLevel'>,
  { User }: Pick<PeopleTypes, 'User'>,
  { PageInfo }: { readonly PageInfo: PageInfoRef },
): void {
  const AccessChange = builder.objectRef<AccessChange>('AccessChange').implement({
    description: 'Somebody whose level on a folder a move changes.',
    fields: (t) => ({
      user: t.field({ type: User, resolve: ({ user }) => user }),
      before: t.field({ type: AccessLevel, resolve: ({ before }) => before }),
      after: t.field({ type: AccessLevel, resolve: ({ after }) => after }),
    }),
  });

  const AccessChangeConnection = defineKeysetConnection(builder, {
    PageInfo,
    Node: AccessChange,
    plural: 'access changes',
  });

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
        args: {
          first: t.arg.int({ description: pageDescriptions.first }),
          after: t.arg.string({ description: pageDescriptions.after }),
        },
        resolve: async ({ ways, isDryRun }, page, { access, reader, view }) =>
          managesAll(access, ways) && (await areStill(view, ways, isDryRun))
            ? new KeysetConnection(accessChangeList(reader, ways), page)
            : null,
      }),
      cursor: t.string(changeCursor),
    }),
  });

  builder.mutationField('moveFolder', (t) =>
    t.field({
      type: MovePayload,
      nullable: true,
      description:
        'Needs WRITE on the folder, on its parent and on the new parent; MANAGE on the folder if anybody would have more access to it there. CYCLE if the new parent is inside the folder.',
      args: {
        input: t.arg({
          required: true,
          type: builder.inputType('MoveFolderInput', {
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
          }),
        }),
      },
      resolve: (_, { input: { dryRun: isDryRun, ...move } }, context): Promise<Moved> =>
        change(
          context,
          ({ folders }, caller) => folders.move(caller, move, { isDryRun }),
          async (moved, answer) => ({
            node: await nodeOfChanged(moved, answer),
            isDryRun,
            ways: moved.ways,
          }),
        ),
    }),
  );
}

/** Since the move, a folder on them may have been moved to where the viewer may not see who has access. */
async function areStill(view: TreeView, { before, after }: MovedWays, isDryRun: boolean): Promise<boolean> {
  const ways = [before.slice(0, -1), after.slice(0, -1), isDryRun ? before : after];
  await view.ancestry.load(ways.map((way) => way.at(-1)!));
  return ways.every((way) => isDeepStrictEqual(view.ancestry.wayTo(way.at(-1)!), way));
}

async function countMoved({ folder, level }: FolderNode, onRead: (count: number) => void): Promise<number> {
  return 1 + (await countDescendants(level.view, folder, { onRead }));
}

/** What is moved, from where and to where. */
function managesAll(access: Access, { before, after }: MovedWays): boolean {
  const ways = [before, before.slice(0, -1), after.slice(0, -1)];
  return ways.every((way) => access.levelAlong(way) >= MANAGE);
}

/** In the order of user names. A move concerns few users or all of them, so all differences are found at once. */
function accessChangeList(reader: Reader, { before, after }: MovedWays): KeysetList<AccessChange> {
  let read: Promise<readonly (AccessDifference & { readonly account: User })[]> | undefined;
  const all = () => (read ??= findAccessChanges(reader, before, after));
  return {
    name: `access changes ${before.join()} ${after.join()}`,
    keyOf: ({ user }) => userKey(user.user),
    async read(slice) {
      const { after: key, limit } = slice;
      const chosen = (await all())
        .filter(({ account }) => key === undefined || userKey(account) > key)
        .slice(0, limit);
      const { nodes } = new UserLevel(chosen.map(({ account }) => account));
      return chosen.map((difference, index) => ({ ...difference, user: nodes[index]! }));
    },
    count: async () => (await all()).length,
  };
}

async function findAccessChanges(
  reader: Reader,
  before: readonly string[],
  after: readonly string[],
): Promise<readonly (AccessDifference & { readonly account: User })[]> {
  const differences = await compareAccess(reader, before, after);
  const users = await readUsers(
    reader,
    differences.map(({ userId }) => userId),
  );
  return differences
    .flatMap((difference) => {
      const account = users.get(difference.userId);
      return account ? [{ ...difference, account }] : [];
    })
    .toSorted((one, other) => (userKey(one.account) < userKey(other.account) ? -1 : 1));
}
