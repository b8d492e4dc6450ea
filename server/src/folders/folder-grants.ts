/** Grants, revokes and explains access to a folder. */

import { isDeepStrictEqual } from 'node:util';
import { accessLevelName, accessLevels, type Access, type AccessLevel } from '../access/access.ts';
import {
  putGrant,
  readUserAccess,
  removeGrant,
  requireSubject,
  toSubject,
  type Grant,
  type RequestedSubject,
  type UserAccess,
} from '../access/grants.ts';
import type { Transaction } from '../database/database.ts';
import { voidCodec, type Caller, type Changed, type ChangeRunner } from '../journal/change-runner.ts';
import type { ChangeOrigin } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import type { MovedPaths } from './folder-writes.ts';
import { quoteFolder, requireLevel } from './change-rules.ts';
import { readJournalPath } from './journal-paths.ts';
import { requireFolder, viewTree, type Folder, type TreeView } from './tree-view.ts';

const { MANAGE } = accessLevels;

interface GrantInput extends RequestedSubject {
  readonly folderId: string;
}

export class Grants {
  readonly #changes: ChangeRunner<Access>;

  constructor(changes: ChangeRunner<Access>) {
    this.#changes = changes;
  }

  /** Replaces the grant that the user or group has on the folder, if any. */
  set(caller: Caller, input: GrantInput & { readonly level: AccessLevel }): Promise<Changed<void>> {
    return this.#run(caller, input.folderId, async (transaction, by) => {
      const { folderId, level } = input;
      const subject = await requireSubject(transaction, input);
      await putGrant(transaction, { folderId, ...subject, level }, by);
    });
  }

  remove(caller: Caller, input: GrantInput): Promise<Changed<void>> {
    return this.#run(caller, input.folderId, async (transaction, by) => {
      const grant = { folderId: input.folderId, ...toSubject(input) };
      if (await removeGrant(transaction, grant, by)) return;
      throw new Refusal('NOT_FOUND', 'The user or group has no grant on this folder.');
    });
  }

  /** Runs a change that needs MANAGE on the folder. */
  #run(
    caller: Caller,
    folderId: string,
    work: (transaction: Transaction, by: ChangeOrigin & { readonly path: string }) => Promise<void>,
  ): Promise<Changed<void>> {
    return this.#changes.run(caller, {
      codec: voidCodec,
      work: async (transaction, access, by) => {
        const view = viewTree(transaction, access);
        const folder = await requireFolder(view, folderId);
        requireLevel(folder, MANAGE);
        const path = await readJournalPath(view, view.ancestry.pathTo(folderId)!, folder.name);
        await work(transaction, { ...by, path });
      },
    });
  }
}

interface DecidingGrant extends Pick<UserAccess, 'group'> {
  readonly grant: Grant;
  readonly folder: Folder;
}

interface AccessExplanation extends Omit<UserAccess, 'grant' | 'group'> {
  readonly folder: Folder;
  /** Undefined if no grant decides. */
  readonly decidingGrant: DecidingGrant | undefined;
  /** A sentence for people. */
  readonly reason: string;
}

/** Explains which level a user has on a folder. Needs MANAGE on the folder, except for the viewer's own access. */
export async function explainAccess(
  view: TreeView,
  userId: string,
  folderId: string,
): Promise<AccessExplanation> {
  const { reader, access, ancestry } = view;
  const folder = await requireFolder(view, folderId);
  if (!access.isSelf(userId)) requireLevel(folder, MANAGE);
  const found = await readUserAccess(reader, access, userId, ancestry.pathTo(folderId)!);
  const { user, level, grant, group, isPassage } = found;
  const decidingGrant = grant && { grant, group, folder: await requireFolder(view, grant.folderId) };
  const grantReason = user.isAdministrator
    ? `${user.username} is an administrator, and administrators have MANAGE on every folder.`
    : describeGrant(user.username, folder, decidingGrant);
  const reason =
    grantReason +
    (isPassage ? ' The user sees its name, because a folder inside it is visible to the user.' : '');
  return { user, level, isPassage, folder, decidingGrant, reason };
}

function describeGrant(username: string, folder: Folder, decidingGrant: DecidingGrant | undefined): string {
  if (!decidingGrant)
    return `Neither ${username} nor a group of this user has a grant on ${quoteFolder(folder)} or on a folder above it.`;
  const { grant, group, folder: grantFolder } = decidingGrant;
  const to = group ? `the group "${group.name}", which includes ${username},` : username;
  const isHere = grantFolder.id === folder.id;
  const where = isHere
    ? 'this folder'
    : `${quoteFolder(grantFolder)}, the nearest folder above with a grant,`;
  return `A grant to ${to} on ${where} gives ${accessLevelName(grant.level)}.`;
}

/**
 * Whether the viewer may read the access changes of a move. This needs MANAGE on the folder and on both parents. Also false if an
 * ancestor has moved since, because the viewer may not be allowed to read the access at the new location.
 */
export async function mayReadAccessChanges(
  { access, ancestry }: TreeView,
  { before, after }: MovedPaths,
  isDryRun: boolean,
): Promise<boolean> {
  const parents = [before.slice(0, -1), after.slice(0, -1)];
  if (![before, ...parents].every((path) => access.levelAt(path) >= MANAGE)) return false;
  const paths = [...parents, isDryRun ? before : after];
  await ancestry.load(paths.map((path) => path.at(-1)!));
  return paths.every((path) => isDeepStrictEqual(ancestry.pathTo(path.at(-1)!), path));
}
