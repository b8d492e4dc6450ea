/** Changing the tree. Each mutation answers with the changed folder as the viewer sees it then. */

import { accessLevels } from '../../access/access-level.ts';
import type { Access } from '../../access/access.ts';
import { compareAccess, type AccessDifference } from '../../access/grants.ts';
import { readUsers } from '../../accounts/users.ts';
import type { Database, Reader } from '../../database/database.ts';
import { countDescendants } from '../../folders/descendants.ts';
import {
  checkMove,
  createFolder,
  deleteFolder,
  moveFolder,
  updateFolder,
  type CheckedMove,
} from '../../folders/change-folders.ts';
import { viewTree, type Folder } from '../../folders/folders.ts';
import type { Builder } from '../builder.ts';
import { change } from '../change.ts';
import type { FolderNode } from './folder-level.ts';
import { nodeNow, requireFolder } from './folder-queries.ts';
import type { FolderTypes } from './folder-type.ts';
import { UserLevel, type UserNode } from '../people/people-level.ts';
import type { PeopleTypes } from '../people/people-types.ts';

const expectedVersion =
  'Refuses with CONFLICT if the folder has another version by now; the error tells which.';
const { MANAGE } = accessLevels;

interface Moved {
  readonly node: FolderNode;
  readonly isDryRun: boolean;
  /** The ways to the folder; undefined for whoever does not manage what is moved, from where and to where. */
  readonly ways: { readonly before: readonly string[]; readonly after: readonly string[] } | undefined;
}

type AccessChange = AccessDifference & { readonly user: UserNode };

/** A folder that is gone, and what the viewer could see when it went. */
interface Deleted {
  readonly folder: Folder;
  readonly access: Access;
}

export function defineFolderMutations(
  builder: Builder,
  { Folder, AccessLevel }: Pick<FolderTypes, 'Folder' | 'AccessLevel'>,
  { User }: Pick<PeopleTypes, 'User'>,
): void {
  const payload = (name: string) =>
    builder.objectRef<FolderNode>(name).implement({
      fields: (t) => ({ folder: t.field({ type: Folder, resolve: (node) => node }) }),
    });

  builder.mutationField('createFolder', (t) =>
    t.field({
      type: payload('CreateFolderPayload'),
      nullable: true,
      description: 'Needs WRITE on the parent.',
      args: {
        input: t.arg({
          required: true,
          type: builder.inputType('CreateFolderInput', {
            fields: (f) => ({
              parentId: f.id({ description: 'The root, unless told.' }),
              name: f.string({
                required: true,
                description:
                  '1 to 255 characters, without slashes and control characters; free among the siblings.',
              }),
              title: f.string({ description: 'At most 255 characters.' }),
              icon: f.string({ description: 'At most 255 characters.' }),
              description: f.string({ description: 'At most 10,000 characters.' }),
              properties: f.field({ type: 'JSON', description: 'A JSON object of at most 16 KiB.' }),
              expectedVersion: f.int({ description: `Of the parent. ${expectedVersion}` }),
            }),
          }),
        }),
      },
      resolve: async (_, { input }, context) => {
        const now = context.clock.now();
        const folder = await change(context, async (transaction, access) => {
          const id = await createFolder(transaction, access, input, now);
          return requireFolder(viewTree(transaction, access), id);
        });
        return nodeNow(context, folder);
      },
    }),
  );

  builder.mutationField('updateFolder', (t) =>
    t.field({
      type: payload('UpdateFolderPayload'),
      nullable: true,
      description: 'Needs WRITE. What is not given stays as it is; null takes a text away.',
      args: {
        input: t.arg({
          required: true,
          type: builder.inputType('UpdateFolderInput', {
            fields: (f) => ({
              id: f.id({ required: true }),
              name: f.string(),
              title: f.string(),
              icon: f.string(),
              description: f.string(),
              properties: f.field({ type: 'JSON', description: 'Replaces all of them.' }),
              expectedVersion: f.int({ description: expectedVersion }),
            }),
          }),
        }),
      },
      resolve: async (_, { input }, context) => {
        const now = context.clock.now();
        const folder = await change(context, async (transaction, access) => {
          await updateFolder(transaction, access, input, now);
          return requireFolder(viewTree(transaction, access), input.id);
        });
        return nodeNow(context, folder);
      },
    }),
  );

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
        resolve: ({ node }, _, { database, access }) => countFolders(database, access, node.folder),
      }),
      accessChanges: t.field({
        type: [AccessChange],
        nullable: true,
        description:
          'Who gains or loses access by the move, administrators aside. Null unless you manage the folder and both places.',
        resolve: async ({ ways }, _, { database, budget }, info) =>
          ways ? budget.spend(await accessChanges(database, ways.before, ways.after), info) : null,
      }),
    }),
  });

  builder.mutationField('moveFolder', (t) =>
    t.field({
      type: MovePayload,
      nullable: true,
      description:
        'Needs WRITE on the folder, on its parent and on the new parent; whoever would gain more than they have needs somebody who manages it. CYCLE if the new parent is inside the folder.',
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
        const { folder, ways } = await change(context, async (transaction, access) => {
          const checked = await checkMove(transaction, access, move);
          if (!dryRun) await moveFolder(transaction, checked, context.clock.now());
          const moved = await requireFolder(viewTree(transaction, access), input.id);
          return { folder: moved, ways: waysOf(checked) };
        });
        return { node: await nodeNow(context, folder), isDryRun: dryRun, ways };
      },
    }),
  );

  const DeletePayload = builder.objectRef<Deleted>('DeleteFolderPayload').implement({
    fields: (t) => ({
      id: t.id({ description: 'For `restoreFolder`.', resolve: ({ folder }) => folder.id }),
      folderCount: t.int({
        description: 'How many folders you saw going: the folder itself and all that was inside.',
        resolve: ({ folder, access }, _, { database }) => countFolders(database, access, folder),
      }),
    }),
  });

  builder.mutationField('deleteFolder', (t) =>
    t.field({
      type: DeletePayload,
      nullable: true,
      description:
        'Needs WRITE on the folder and on its parent. What is deleted can be restored for some days, then it is purged.',
      args: {
        input: t.arg({
          required: true,
          type: builder.inputType('DeleteFolderInput', {
            fields: (f) => ({
              id: f.id({ required: true }),
              recursive: f.boolean({
                required: true,
                defaultValue: false,
                description: 'With all that is inside. Without it, a folder with sub-folders is refused.',
              }),
              expectedVersion: f.int({ description: expectedVersion }),
            }),
          }),
        }),
      },
      resolve: async (_, { input }, context) => {
        const { id, recursive, expectedVersion: version } = input;
        const deletion = { id, isRecursive: recursive, expectedVersion: version };
        const now = context.clock.now();
        return change(context, async (transaction, access) => ({
          folder: await deleteFolder(transaction, access, deletion, now),
          access,
        }));
      },
    }),
  );
}

/** A folder and all that is inside it, as far as it is seen. */
function countFolders(database: Database, access: Access, folder: Folder): Promise<number> {
  return database.snapshot(async (reader) => 1 + (await countDescendants(viewTree(reader, access), folder)));
}

function waysOf({ folder, from, to, view }: CheckedMove): Moved['ways'] {
  if ([folder, from, to].some(({ accessLevel }) => accessLevel < MANAGE)) return undefined;
  const before = view.ancestry.wayTo(folder.id)!;
  return { before, after: [...view.ancestry.wayTo(to.id)!, folder.id] };
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
