/** Changing groups, and who is in them. For administrators. */

import { readGroup, requireGroup, type Group as GroupRow } from '../../accounts/groups.ts';
import type { ChangedGroup } from '../../accounts/manage-groups.ts';
import type { Builder, GraphContext } from '../builder.ts';
import { change } from '../run-mutation.ts';
import type { PeopleTypes } from './people-types.ts';

const nameDescription =
  '1 to 128 characters without control characters; unique, without regard to upper and lower case.';

/** Those of the users whom a change concerned, counted. */
interface Membership {
  readonly group: GroupRow;
  readonly count: number;
}

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
        change(context, ({ groups }, caller) => groups.create(caller, input), groupOf),
    }),
    updateGroup: t.field({
      type: UpdateGroupPayload,
      nullable: true,
      description: 'For administrators. CONFLICT if the name is taken.',
      args: { input: t.arg({ type: UpdateGroupInput, required: true }) },
      resolve: (_, { input }, context) =>
        change(context, ({ groups }, caller) => groups.update(caller, input), groupOf),
    }),
    deleteGroup: t.field({
      type: DeleteGroupPayload,
      nullable: true,
      description: "For administrators. Deletes the group's grants too; its members stay users.",
      args: { input: t.arg({ type: DeleteGroupInput, required: true }) },
      resolve: (_, { input: { id } }, context) =>
        change(
          context,
          ({ groups }, caller) => groups.delete(caller, id),
          () => ({ deletedGroupId: id }),
        ),
    }),
    addToGroup: t.field({
      type: AddToGroupPayload,
      nullable: true,
      description: 'For administrators. Adds all of the users, or none if one of them does not exist.',
      args: { input: t.arg({ type: AddToGroupInput, required: true }) },
      resolve: (_, { input }, context) =>
        change(context, ({ groups }, caller) => groups.addMembers(caller, input), groupOf),
    }),
    removeFromGroup: t.field({
      type: RemoveFromGroupPayload,
      nullable: true,
      description: 'For administrators. Whoever is not in the group is passed over.',
      args: { input: t.arg({ type: RemoveFromGroupInput, required: true }) },
      resolve: (_, { input }, context) =>
        change(context, ({ groups }, caller) => groups.removeMembers(caller, input), groupOf),
    }),
  }));
}

/** The group in the snapshot of the answer; as the change left it, if it was deleted since. */
async function groupOf<T extends ChangedGroup>(
  changed: T,
  { reader }: GraphContext,
): Promise<T & { readonly group: GroupRow }> {
  const { id, group } = changed;
  return {
    ...changed,
    group: (group && (await readGroup(reader, id))) ?? group ?? (await requireGroup(reader, id)),
  };
}
