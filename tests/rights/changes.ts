/**
 * The changes of the concurrent run. All users change folders. Only administrators change grants and groups.
 */

import {
  changeMembers,
  createFolder,
  deleteFolder,
  grantAccess,
  moveFolder,
  restoreFolder,
  revokeAccess,
  updateFolder,
} from '../model/model-changes.ts';
import { levelNames, type Level, type ModelUser, type TreeModel } from '../model/tree-model.ts';
import { mutation } from '../support/graph-testbed.ts';
import type { Actor } from './actor.ts';
import { readNumber, type History } from './history.ts';
import {
  findSeen,
  expectFolder,
  expectWithDescendants,
  descendantsSelection,
  type ExpectedFolder,
} from './expected-views.ts';

export interface Changer {
  readonly actor: Actor;
  readonly user: ModelUser;
  readonly history: History;
  readonly anyId: () => string;
  readonly anyDeletedId: () => string | undefined;
  /** Selects a user who is not an administrator. */
  readonly anyUser: () => ModelUser;
  readonly groupId: string;
  /** Returns a number from 0 up to 1. */
  readonly random: () => number;
  readonly newText: () => string;
  readonly onCreated: (id: string) => void;
  readonly onDeleted: (id: string) => void;
}

type Attempt = (changer: Changer) => Promise<void>;

interface FolderPayload {
  readonly cursor: string;
  readonly folder: ExpectedFolder;
}

export const create: Attempt = async (changer) => {
  const input = { parentId: changer.anyId(), name: changer.newText(), description: changer.newText() };
  const done = await attempt<FolderPayload>(
    changer,
    'createFolder',
    input,
    `cursor folder{${descendantsSelection}}`,
  );
  if (!done) return;
  changer.onCreated(done.folder.id);
  record(changer, done.cursor, `createFolder ${JSON.stringify(input)}`, (model) => {
    createFolder(model, changer.user, input).id = done.folder.id;
  });
  await observePayload(changer, done);
};

const update: Attempt = async (changer) => {
  const input = { id: changer.anyId(), title: changer.newText(), description: changer.newText() };
  const done = await attempt<FolderPayload>(
    changer,
    'updateFolder',
    input,
    `cursor folder{${descendantsSelection}}`,
  );
  if (!done) return;
  record(changer, done.cursor, `updateFolder ${JSON.stringify(input)}`, (model) => {
    updateFolder(model, changer.user, input);
  });
  await observePayload(changer, done);
};

const move: Attempt = async (changer) => {
  const input = { id: changer.anyId(), parentId: changer.anyId() };
  const done = await attempt<FolderPayload>(
    changer,
    'moveFolder',
    input,
    `cursor folder{${descendantsSelection}}`,
  );
  if (!done) return;
  record(changer, done.cursor, `moveFolder ${JSON.stringify(input)}`, (model) => {
    moveFolder(model, changer.user, { ...input, dryRun: false });
  });
  await observePayload(changer, done);
};

const remove: Attempt = async (changer) => {
  const input = { id: changer.anyId(), recursive: true };
  const done = await attempt<{ cursor: string }>(changer, 'deleteFolder', input, 'cursor folderCount');
  if (!done) return;
  changer.onDeleted(input.id);
  record(changer, done.cursor, `deleteFolder ${JSON.stringify(input)}`, (model) => {
    deleteFolder(model, changer.user, input);
  });
};

const restore: Attempt = async (changer) => {
  const id = changer.anyDeletedId();
  if (id === undefined) return;
  const done = await attempt<FolderPayload>(
    changer,
    'restoreFolder',
    { id },
    `cursor folder{${descendantsSelection}}`,
  );
  if (!done) return;
  record(changer, done.cursor, `restoreFolder ${id}`, (model) => {
    restoreFolder(model, changer.user, { id });
  });
  await observePayload(changer, done);
};

type GrantInput = ({ userId: string } | { groupId: string }) & { folderId: string; level: Level };

const grant: Attempt = (changer) => {
  const level = Math.floor(changer.random() * 4) as Level;
  return grantTo(changer, { ...anySubject(changer), folderId: changer.anyId(), level });
};

export async function grantTo(changer: Changer, input: GrantInput): Promise<void> {
  const variables = { ...input, level: levelNames[input.level] };
  const done = await attempt<{ cursor: string }>(changer, 'grantAccess', variables, 'cursor');
  if (!done) return;
  record(changer, done.cursor, `grantAccess ${JSON.stringify(input)}`, (model) => {
    grantAccess(model, changer.user, input);
  });
}

const revoke: Attempt = async (changer) => {
  const input = { ...anySubject(changer), folderId: changer.anyId() };
  const done = await attempt<{ cursor: string }>(changer, 'revokeAccess', input, 'cursor');
  if (!done) return;
  record(changer, done.cursor, `revokeAccess ${JSON.stringify(input)}`, (model) => {
    revokeAccess(model, changer.user, input);
  });
};

export const folderChanges: readonly Attempt[] = [create, update, update, move];
export const administratorChanges: readonly Attempt[] = [
  create,
  create,
  update,
  move,
  remove,
  restore,
  grant,
  grant,
  grant,
  revoke,
  revoke,
];

/** The payload has no cursor, so `recordMemberships` takes the numbers from the journal. */
export async function changeMembership({ actor, groupId, anyUser, random }: Changer): Promise<void> {
  const name = random() < 0.5 ? 'addToGroup' : 'removeFromGroup';
  await actor.query(mutation(name, '__typename'), { input: { groupId, userIds: [anyUser().id] } });
}

interface JournalPage {
  readonly journal: {
    readonly items: readonly { readonly cursor: string; readonly kind: string; readonly userId: string }[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
  };
}

export async function recordMemberships({ actor, user, history, groupId }: Changer): Promise<void> {
  const query = `query($after: String, $groupId: ID!){journal(first: 500, after: $after,
    filter: {groupId: $groupId, kinds: [ADD_TO_GROUP, REMOVE_FROM_GROUP]}){
    items{cursor kind userId} pageInfo{hasNextPage endCursor}}}`;
  for (let after: string | null = null, isLast = false; !isLast;) {
    const page: JournalPage = (await actor.query<JournalPage>(query, { after, groupId }))!;
    const { items, pageInfo } = page.journal;
    for (const { cursor, kind, userId } of items) {
      record({ history }, cursor, `${kind} ${userId}`, (model) => {
        const group = model.groups.find(({ id }) => id === groupId)!;
        const member = model.users.find(({ id }) => id === userId)!;
        changeMembers(user, group, [member], kind === 'ADD_TO_GROUP' ? 'add' : 'delete');
      });
    }
    after = pageInfo.endCursor;
    isLast = !pageInfo.hasNextPage;
  }
}

function anySubject({ anyUser, random, groupId }: Changer): { userId: string } | { groupId: string } {
  return random() < 0.3 ? { groupId } : { userId: anyUser().id };
}

async function attempt<Payload>(
  { actor }: Changer,
  name: string,
  input: object,
  selection: string,
): Promise<Payload | undefined> {
  const data = await actor.query<Record<string, Payload>>(mutation(name, selection), { input });
  return data?.[name];
}

function record(
  { history }: Pick<Changer, 'history'>,
  cursor: string,
  title: string,
  apply: (model: TreeModel) => void,
): void {
  history.change({ number: readNumber(cursor), title, apply });
}

/** The server reads the result from a snapshot between the journal number of the mutation and the current head. */
async function observePayload(changer: Changer, { cursor, folder }: FolderPayload): Promise<void> {
  const { actor, user, history } = changer;
  let atLow: ExpectedFolder | undefined;
  history.observe({
    low: readNumber(cursor),
    high: await actor.head(),
    title: `the result of a mutation by ${user.username} at ${readNumber(cursor)}`,
    actual: folder,
    onLow: (model) => (atLow = expectFolder(model, user, model.find(folder.id)!)),
    expected: (model) => {
      const found = findSeen(model, user, folder.id);
      return [found ? expectWithDescendants(model, user, found) : hideDetails(atLow!)];
    },
  });
}

/** A folder that the user no longer sees shows only its name, which the user already has. */
function hideDetails({ id, name }: ExpectedFolder) {
  return {
    id,
    name,
    title: name,
    description: null,
    accessLevel: 'NONE',
    descendants: { totalCount: 0, items: [] },
  };
}
