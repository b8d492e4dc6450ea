/** The changes of groups that an administrator can request, each in its own transaction. */

import type { Transaction } from '../database/database.ts';
import { noResult, type Caller, type Changed, type Changes, type ResultCodec } from '../journal/changes.ts';
import { requireAdministrator, type ViewerRights } from './users.ts';
import {
  addToGroup,
  createGroup,
  deleteGroup,
  removeFromGroup,
  requireGroup,
  updateGroup,
  type Group,
  type Membership,
} from './groups.ts';

export interface ChangedGroup {
  readonly id: string;
  /** The group after the change. Missing if the change was made earlier, under the same idempotency key. */
  readonly group?: Group;
}

export interface ChangedMembers extends ChangedGroup {
  /** How many users were added or removed. */
  readonly count: number;
}

export interface Groups {
  create(caller: Caller, input: { name: string }): Promise<Changed<ChangedGroup>>;
  update(
    caller: Caller,
    input: { id: string; name?: string | null | undefined },
  ): Promise<Changed<ChangedGroup>>;
  /** Deletes the group's grants; its members stay. */
  delete(caller: Caller, id: string): Promise<Changed<void>>;
  addMembers(caller: Caller, input: Membership): Promise<Changed<ChangedMembers>>;
  removeMembers(caller: Caller, input: Membership): Promise<Changed<ChangedMembers>>;
}

const groupResult: ResultCodec<ChangedGroup, string> = {
  toStored: ({ id }) => id,
  fromStored: (id) => ({ id }),
};

const membersResult: ResultCodec<ChangedMembers, { id: string; count: number }> = {
  toStored: ({ id, count }) => ({ id, count }),
  fromStored: (stored) => stored,
};

export function manageGroups(changes: Changes<ViewerRights>): Groups {
  const check = requireAdministrator;
  return {
    create: (caller, input) =>
      changes.run(caller, {
        codec: groupResult,
        check,
        work: async (transaction, _, by) =>
          changedGroup(transaction, await createGroup(transaction, input, by)),
      }),
    update: (caller, { id, name }) =>
      changes.run(caller, {
        codec: groupResult,
        check,
        work: async (transaction, _, by) => {
          await updateGroup(transaction, id, { name }, by);
          return changedGroup(transaction, id);
        },
      }),
    delete: (caller, id) =>
      changes.run(caller, {
        codec: noResult,
        check,
        work: (transaction, _, by) => deleteGroup(transaction, id, by),
      }),
    addMembers: (caller, input) =>
      changes.run(caller, {
        codec: membersResult,
        check,
        work: async (transaction, _, by) => {
          const count = await addToGroup(transaction, input, by);
          return { ...(await changedGroup(transaction, input.groupId)), count };
        },
      }),
    removeMembers: (caller, input) =>
      changes.run(caller, {
        codec: membersResult,
        check,
        work: async (transaction, _, by) => {
          const count = await removeFromGroup(transaction, input, by);
          return { ...(await changedGroup(transaction, input.groupId)), count };
        },
      }),
  };
}

async function changedGroup(transaction: Transaction, id: string): Promise<ChangedGroup> {
  return { id, group: await requireGroup(transaction, id) };
}
