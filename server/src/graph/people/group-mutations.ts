/** Changing groups, and who is in them. For administrators. */

import {
  addToGroup,
  createGroup,
  deleteGroup,
  removeFromGroup,
  updateGroup,
} from '../../accounts/change-groups.ts';
import { requireGroup, type Group as GroupRow } from '../../accounts/groups.ts';
import type { Builder } from '../builder.ts';
import { changeAsAdministrator, changeBy, noResult, type Memory } from '../change.ts';
import type { PeopleTypes } from './people-types.ts';

const nameDescription =
  '1 to 128 characters without control characters; unique, without regard to upper and lower case.';

/** Those of the users whom a change concerned, counted. */
interface Membership {
  readonly group: GroupRow;
  readonly count: number;
}

const aGroup: Memory<{ readonly group: GroupRow }, string> = {
  keep: ({ group }) => group.id,
  recall: async (id, { reader }) => ({ group: await requireGroup(reader, id) }),
};

const aMembership: Memory<Membership, { id: string; count: number }> = {
  keep: ({ group, count }) => ({ id: group.id, count }),
  recall: async ({ id, count }, { reader }) => ({ group: await requireGroup(reader, id), count }),
};

export function defineGroupMutations(builder: Builder, { Group }: Pick<PeopleTypes, 'Group'>): void {
  const CreateGroupInput = builder.inputType('CreateGroupInput', {
    fields: (t) => ({ name: t.string({ required: true, description: nameDescription }) }),
  });
  const UpdateGroupInput = builder.inputType('UpdateGroupInput', {
    description: 'What is not given stays as it is.',
    fields: (t) => ({ id: t.id({ required: true }), name: t.string({ description: nameDescription }) }),
  });
  const DeleteGroupInput = builder.inputType('DeleteGroupInput', {
    fields: (t) => ({ id: t.id({ required: true }) }),
  });
  const membershipInput = (name: string) =>
    builder.inputType(name, {
      fields: (t) => ({
        groupId: t.id({ required: true }),
        userIds: t.idList({ required: true, description: 'At most 1,000 at a time.' }),
      }),
    });
  const AddToGroupInput = membershipInput('AddToGroupInput');
  const RemoveFromGroupInput = membershipInput('RemoveFromGroupInput');

  const groupPayload = (name: string) =>
    builder.objectRef<{ readonly group: GroupRow }>(name).implement({
      fields: (t) => ({ group: t.field({ type: Group, resolve: ({ group }) => group }) }),
    });
  const CreateGroupPayload = groupPayload('CreateGroupPayload');
  const UpdateGroupPayload = groupPayload('UpdateGroupPayload');
  const DeleteGroupPayload = builder
    .objectRef<{ readonly deletedGroupId: string }>('DeleteGroupPayload')
    .implement({ fields: (t) => ({ deletedGroupId: t.exposeID('deletedGroupId') }) });
  const AddToGroupPayload = builder.objectRef<Membership>('AddToGroupPayload').implement({
    fields: (t) => ({
      group: t.field({ type: Group, resolve: ({ group }) => group }),
      added: t.exposeInt('count', { description: 'How many were not in the group before.' }),
    }),
  });
  const RemoveFromGroupPayload = builder.objectRef<Membership>('RemoveFromGroupPayload').implement({
    fields: (t) => ({
      group: t.field({ type: Group, resolve: ({ group }) => group }),
      removed: t.exposeInt('count', { description: 'How many were in the group.' }),
    }),
  });

  builder.mutationFields((t) => ({
    createGroup: t.field({
      type: CreateGroupPayload,
      nullable: true,
      description: 'For administrators. CONFLICT if the name is taken.',
      args: { input: t.arg({ type: CreateGroupInput, required: true }) },
      resolve: (_, { input }, context) =>
        changeAsAdministrator(context, aGroup, async (transaction) => {
          const id = await createGroup(transaction, input, changeBy(context));
          return { group: await requireGroup(transaction, id) };
        }),
    }),
    updateGroup: t.field({
      type: UpdateGroupPayload,
      nullable: true,
      description: 'For administrators. CONFLICT if the name is taken.',
      args: { input: t.arg({ type: UpdateGroupInput, required: true }) },
      resolve: (_, { input: { id, ...changes } }, context) =>
        changeAsAdministrator(context, aGroup, async (transaction) => {
          await updateGroup(transaction, id, changes, changeBy(context));
          return { group: await requireGroup(transaction, id) };
        }),
    }),
    deleteGroup: t.field({
      type: DeleteGroupPayload,
      nullable: true,
      description: "For administrators. Deletes the group's grants too; its members stay users.",
      args: { input: t.arg({ type: DeleteGroupInput, required: true }) },
      resolve: async (_, { input: { id } }, context) => {
        await changeAsAdministrator(context, noResult, (transaction) =>
          deleteGroup(transaction, id, changeBy(context)),
        );
        return { deletedGroupId: id };
      },
    }),
    addToGroup: t.field({
      type: AddToGroupPayload,
      nullable: true,
      description: 'For administrators. Adds all of the users, or none if one of them does not exist.',
      args: { input: t.arg({ type: AddToGroupInput, required: true }) },
      resolve: (_, { input }, context) =>
        changeAsAdministrator(context, aMembership, async (transaction) => ({
          count: await addToGroup(transaction, input, changeBy(context)),
          group: await requireGroup(transaction, input.groupId),
        })),
    }),
    removeFromGroup: t.field({
      type: RemoveFromGroupPayload,
      nullable: true,
      description: 'For administrators. Whoever is not in the group is passed over.',
      args: { input: t.arg({ type: RemoveFromGroupInput, required: true }) },
      resolve: (_, { input }, context) =>
        changeAsAdministrator(context, aMembership, async (transaction) => ({
          count: await removeFromGroup(transaction, input, changeBy(context)),
          group: await requireGroup(transaction, input.groupId),
        })),
    }),
  }));
}
