/** Moving a folder, or asking what a move would do. */

import { isDeepStrictEqual } from 'node:util';
import { accessLevels } from '../../access/access-level.ts';
import type { Access } from '../../access/access.ts';
import { compareAccess, type AccessDifference } from '../../access/grants.ts';
import { readUsers } from '../../accounts/users.ts';
import type { Reader } from '../../database/database.ts';
import { checkMove, moveFolder, type CheckedMove } from '../../folders/change-folders.ts';
import { viewTree, requireFolder, type Folder as FolderRow, type TreeView } from '../../folders/folders.ts';
import type { Builder } from '../builder.ts';
import { change, type Memory } from '../change.ts';
import { changeCursor } from '../journal/change-cursor.ts';
import { UserLevel, type UserNode } from '../people/people-level.ts';
import type { PeopleTypes } from '../people/people-types.ts';
import type { FolderNode } from './folder-level.ts';
import { countFolders, expectedVersion } from './folder-mutations.ts';
import { nodeNow } from './folder-queries.ts';
import type { FolderTypes } from './folder-type.ts';

/** The ways to a folder, from the root, before and after it was moved. */
interface Ways {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

interface Moved {
  readonly node: FolderNode;
  readonly isDryRun: boolean;
  /** Counted once, however often it is asked for. */
  count?: Promise<number>;
  /** Undefined if they lead elsewhere by now. */
  readonly ways: Ways | undefined;
}

interface DoneMove {
  readonly folder: FolderRow;
  readonly ways: Ways | undefined;
}

const aMove: Memory<DoneMove, { id: string; ways: Ways }> = {
  keep: ({ folder, ways }) => ({ id: folder.id, ways: ways! }),
  recall: async ({ id, ways }, { view }) => ({
    folder: await requireFolder(view, id),
    ways: (await areStill(view, ways)) ? ways : undefined,
  }),
};

type AccessChange = AccessDifference & { readonly user: UserNode };

const { MANAGE } = accessLevels;

export function defineMove(
  builder: Builder,
  { Folder, AccessLevel }: Pick<FolderTypes, 'Folder' | 'AccessLevel'>,
  { User }: Pick<PeopleTypes, 'User'>,
): void {
  const AccessChange = builder.objectRef<AccessChange>('AccessChange').implement({
    description: 'Somebody whose level on a folder a move changes.',
    fields: (t) => ({
      user: t.field({ type: User, resolve: ({ user }) => user }),
      before: t.field({ type: AccessLevel, resolve: ({ before }) => before }),
      after: t.field({ type: AccessLevel, resolve: ({ after }) => after }),
    }),
  });

  const MovePayload = builder.objectRef<Moved>('MoveFolderPayload').implement({
    fields: (t) => ({
      folder: t.field({ type: Folder, resolve: ({ node }) => node }),
      isDryRun: t.exposeBoolean('isDryRun', { description: 'Nothing was moved.' }),
      folderCount: t.int({
        description: 'How many folders you see moving: the folder itself and all that is inside.',
        resolve: (moved, _, context, info) =>
          (moved.count ??= countFolders(context, info, (view) => ({ view, folder: moved.node.folder }))),
      }),
      accessChanges: t.field({
        type: [AccessChange],
        nullable: true,
        description:
          'Who gains or loses access by the move, administrators aside. Null unless you manage the folder and both places.',
        resolve: async ({ ways }, _, { access, reader, budget }, info) =>
          ways && managesAll(access, ways)
            ? budget.spend(await accessChanges(reader, ways.before, ways.after), info)
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
      resolve: async (_, { input }, context): Promise<Moved> => {
        const { dryRun, ...move } = input;
        const { folder, ways } = await change(
          context,
          dryRun ? undefined : aMove,
          async (transaction, access): Promise<DoneMove> => {
            const checked = await checkMove(transaction, access, move);
            if (!dryRun) await moveFolder(transaction, checked, context.clock.now());
            const moved = await requireFolder(viewTree(transaction, access), input.id);
            return { folder: moved, ways: waysOf(checked) };
          },
        );
        return { node: await nodeNow(context, folder), isDryRun: dryRun, ways };
      },
    }),
  );
}

function waysOf({ folder, to, view }: CheckedMove): Ways {
  const before = view.ancestry.wayTo(folder.id)!;
  return { before, after: [...view.ancestry.wayTo(to.id)!, folder.id] };
}

/** What was on them may be elsewhere, where the viewer does not see who has access. */
async function areStill(view: TreeView, { before, after }: Ways): Promise<boolean> {
  const ways = [before.slice(0, -1), after.slice(0, -1), after];
  await view.ancestry.load(ways.map((way) => way.at(-1)!));
  return ways.every((way) => isDeepStrictEqual(view.ancestry.wayTo(way.at(-1)!), way));
}

/** What is moved, from where and to where. */
function managesAll(access: Access, { before, after }: Ways): boolean {
  const ways = [before, before.slice(0, -1), after.slice(0, -1)];
  return ways.every((way) => access.levelAlong(way) >= MANAGE);
}

/** In the order of the user names. */
async function accessChanges(
  reader: Reader,
  wayBefore: readonly string[],
  wayAfter: readonly string[],
): Promise<AccessChange[]> {
  const differences = new Map(
    (await compareAccess(reader, wayBefore, wayAfter)).map((each) => [each.userId, each]),
  );
  const users = await readUsers(reader, [...differences.keys()]);
  return new UserLevel(reader, users.values()).nodes
    .map((user) => ({ user, ...differences.get(user.user.id)! }))
    .toSorted((one, other) => (one.user.user.username < other.user.user.username ? -1 : 1));
}
