/** The type Group and the mutations of groups and their members. */

import { requireAdministrator } from '../../../accounts/users.ts';
import { readGroup, requireGroup, type Group as GroupRow } from '../../../accounts/groups.ts';
import type { ChangedGroup } from '../../../accounts/group-management.ts';
import { change } from '../../mutations.ts';
import {
  defineMutation,
  type Builder,
  type GraphContext,
  type NamedRefOf,
  type ObjectRefOf,
} from '../builder.ts';
import { KeysetConnection, pageArguments } from '../connections/keyset-connection.ts';
import type { UserNode } from './people-batch.ts';
import { userList } from './people-lists.ts';
import type { PeopleTypes } from './people.ts';

export function implementGroup(
  Group: NamedRefOf<GroupRow>,
  { UserConnection }: { readonly UserConnection: ObjectRefOf<KeysetConnection<UserNode>> },
): void {
  Group.implement({
    description: 'Users who are given access together.',
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name', {
        description: 'Unique among groups, without regard to upper and lower case.',
      }),
      createdAt: t.expose('createdAt', { type: 'DateTime' }),
      members: t.field({
        type: UserConnection,
        nullable: true,
        description:
          'Who is in the group, in the order of user names. Only for administrators: null otherwise, with the error FORBIDDEN.',
        args: pageArguments(t.arg),
        resolve: ({ id }, page, { access, reader }) => {
          requireAdministrator(access);
          return new KeysetConnection(userList(reader, { groupId: id }), page);
        },
      }),
    }),
  });
}

const nameDescription =
  '1 to 128 characters without control characters; unique, without regard to upper and lower case.';

/** For administrators. */
export function defineGroupMutations(builder: Builder, { Group }: Pick<PeopleTypes, 'Group'>): void {
  const groupPayload = (name: string) =>
    builder.objectRef<{ readonly group: GroupRow }>(name).implement({
      fields: (t) => ({ group: t.field({ type: Group, resolve: ({ group }) => group }) }),
    });

  defineMutation(builder, 'createGroup', {
    type: groupPayload('CreateGroupPayload'),
    description: 'For administrators. CONFLICT if the name is taken.',
    input: builder.inputType('CreateGroupInput', {
      fields: (t) => ({ name: t.string({ required: true, description: nameDescription }) }),
    }),
    resolve: (input, context) =>
      change(context, ({ groups }, caller) => groups.create(caller, input), withCurrentGroup),
  });

  defineMutation(builder, 'updateGroup', {
    type: groupPayload('UpdateGroupPayload'),
    description: 'For administrators. CONFLICT if the name is taken.',
    input: builder.inputType('UpdateGroupInput', {
      description: 'What is not given stays as it is.',
      fields: (t) => ({ id: t.id({ required: true }), name: t.string({ description: nameDescription }) }),
    }),
    resolve: (input, context) =>
      change(context, ({ groups }, caller) => groups.update(caller, input), withCurrentGroup),
  });

  defineMutation(builder, 'deleteGroup', {
    type: builder.objectRef<{ readonly deletedGroupId: string }>('DeleteGroupPayload').implement({
      fields: (t) => ({ deletedGroupId: t.exposeID('deletedGroupId') }),
    }),
    description: "For administrators. Deletes the group's grants too; its members stay users.",
    input: builder.inputType('DeleteGroupInput', { fields: (t) => ({ id: t.id({ required: true }) }) }),
    resolve: ({ id }, context) =>
      change(
        context,
        ({ groups }, caller) => groups.delete(caller, id),
        () => ({ deletedGroupId: id }),
      ),
  });
  defineMemberMutations(builder, { Group });
}

/** `count` is the number of users whose membership has changed. */
interface Membership {
  readonly group: GroupRow;
  readonly count: number;
}

function defineMemberMutations(builder: Builder, { Group }: Pick<PeopleTypes, 'Group'>): void {
  const membershipInput = (name: string) =>
    builder.inputType(name, {
      fields: (t) => ({
        groupId: t.id({ required: true }),
        userIds: t.idList({ required: true, description: 'At most 1,000 at a time.' }),
      }),
    });

  defineMutation(builder, 'addToGroup', {
    type: builder.objectRef<Membership>('AddToGroupPayload').implement({
      fields: (t) => ({
        group: t.field({ type: Group, resolve: ({ group }) => group }),
        added: t.exposeInt('count', { description: 'How many were not in the group before.' }),
      }),
    }),
    description: 'For administrators. Adds all of the users, or none if one of them does not exist.',
    input: membershipInput('AddToGroupInput'),
    resolve: (input, context) =>
      change(context, ({ groups }, caller) => groups.addMembers(caller, input), withCurrentGroup),
  });

  defineMutation(builder, 'removeFromGroup', {
    type: builder.objectRef<Membership>('RemoveFromGroupPayload').implement({
      fields: (t) => ({
        group: t.field({ type: Group, resolve: ({ group }) => group }),
        removed: t.exposeInt('count', { description: 'How many were in the group.' }),
      }),
    }),
    description: 'For administrators. Whoever is not in the group is passed over.',
    input: membershipInput('RemoveFromGroupInput'),
    resolve: (input, context) =>
      change(context, ({ groups }, caller) => groups.removeMembers(caller, input), withCurrentGroup),
  });
}

/** Reads the group from the snapshot of the response. Keeps the result of the change if the group was deleted since. */
async function withCurrentGroup<T extends ChangedGroup>(
  changed: T,
  { reader }: GraphContext,
): Promise<T & { readonly group: GroupRow }> {
  const { id, group } = changed;
  return {
    ...changed,
    group: (group && (await readGroup(reader, id))) ?? group ?? (await requireGroup(reader, id)),
  };
}
