/** Giving and taking access to a folder. Needs MANAGE on it. */

import { accessLevels, type AccessLevel } from '../access/access-level.ts';
import type { Access } from '../access/access.ts';
import { putGrant, removeGrant, requireSubject, toSubject, type RequestedSubject } from '../access/grants.ts';
import type { Transaction } from '../database/database.ts';
import { nothing, type Caller, type Changed, type Changes } from '../journal/changes.ts';
import { Refusal } from '../refusal.ts';
import { requireLevel } from './change-folders.ts';
import { requireFolder, viewTree } from './folders.ts';

export interface GrantInput extends RequestedSubject {
  readonly folderId: string;
}

export interface Grants {
  /** Replaces the grant that the user or group has on the folder, if any. */
  set(caller: Caller, input: GrantInput & { readonly level: AccessLevel }): Promise<Changed<void>>;
  remove(caller: Caller, input: GrantInput): Promise<Changed<void>>;
}

export function manageGrants(changes: Changes<Access>): Grants {
  return {
    set: (caller, input) =>
      changes.run(caller, {
        memory: nothing,
        work: async (transaction, access, by) => {
          const { folderId, level } = input;
          await requireManaged(transaction, access, folderId);
          const subject = await requireSubject(transaction, input);
          await putGrant(transaction, { folderId, subject, level }, by);
        },
      }),
    remove: (caller, input) =>
      changes.run(caller, {
        memory: nothing,
        work: async (transaction, access, by) => {
          const { folderId } = input;
          await requireManaged(transaction, access, folderId);
          if (!(await removeGrant(transaction, { folderId, subject: toSubject(input) }, by))) {
            throw new Refusal('NOT_FOUND', 'There is no such grant on this folder.');
          }
        },
      }),
  };
}

async function requireManaged(transaction: Transaction, access: Access, folderId: string): Promise<void> {
  requireLevel(await requireFolder(viewTree(transaction, access), folderId), accessLevels.MANAGE);
}
