/** Creating, changing and deleting users. For administrators. */

import { readUser, requireUser } from '../../accounts/users.ts';
import type { ChangedUser } from '../../sessions/manage-users.ts';
import type { Builder, GraphContext } from '../builder.ts';
import { change } from '../run-mutation.ts';
import { passwordDescription } from './password-mutations.ts';
import { levelOfOneUser, type UserNode } from './people-level.ts';
import type { PeopleTypes } from './people-types.ts';

const usernameDescription =
  '1 to 128 characters without control characters; unique, without regard to upper and lower case.';

export function defineUserMutations(builder: Builder, { User }: Pick<PeopleTypes, 'User'>): void {
  const CreateUserInput = builder.inputType('CreateUserInput', {
    fields: (t) => ({
      username: t.string({ required: true, description: usernameDescription }),
      password: t.string({ required: true, description: passwordDescription }),
      isAdministrator: t.boolean({ required: true, defaultValue: false }),
    }),
  });
  const UpdateUserInput = builder.inputType('UpdateUserInput', {
    description: 'What is not given stays as it is.',
    fields: (t) => ({
      id: t.id({ required: true }),
      username: t.string({ description: usernameDescription }),
      isAdministrator: t.boolean(),
      isDisabled: t.boolean({ description: 'Disabling ends all sessions of the user.' }),
    }),
  });
  const DeleteUserInput = builder.inputType('DeleteUserInput', {
    fields: (t) => ({ id: t.id({ required: true }) }),
  });

  const userPayload = (name: string) =>
    builder.objectRef<{ readonly user: UserNode }>(name).implement({
      fields: (t) => ({ user: t.field({ type: User, resolve: ({ user }) => user }) }),
    });
  const CreateUserPayload = userPayload('CreateUserPayload');
  const UpdateUserPayload = userPayload('UpdateUserPayload');
  const DeleteUserPayload = builder
    .objectRef<{ readonly deletedUserId: string }>('DeleteUserPayload')
    .implement({ fields: (t) => ({ deletedUserId: t.exposeID('deletedUserId') }) });

  builder.mutationFields((t) => ({
    createUser: t.field({
      type: CreateUserPayload,
      nullable: true,
      description: 'For administrators. CONFLICT if the name is taken.',
      args: { input: t.arg({ type: CreateUserInput, required: true }) },
      resolve: (_, { input }, context) =>
        change(context, ({ users }, caller) => users.create(caller, input), payloadOf),
    }),
    updateUser: t.field({
      type: UpdateUserPayload,
      nullable: true,
      description:
        'For administrators. CONFLICT if the name is taken, and for disabling or demoting oneself: so there is always an administrator left.',
      args: { input: t.arg({ type: UpdateUserInput, required: true }) },
      resolve: (_, { input }, context) =>
        change(context, ({ users }, caller) => users.update(caller, input), payloadOf),
    }),
    deleteUser: t.field({
      type: DeleteUserPayload,
      nullable: true,
      description:
        "For administrators. Deletes the user's sessions, memberships and grants too. CONFLICT for oneself.",
      args: { input: t.arg({ type: DeleteUserInput, required: true }) },
      resolve: (_, { input: { id } }, context) =>
        change(
          context,
          ({ users }, caller) => users.delete(caller, id),
          () => ({ deletedUserId: id }),
        ),
    }),
  }));
}

/** The user in the snapshot of the answer; as the change left the user, if the user was deleted since. */
async function payloadOf(
  { id, user }: ChangedUser,
  { reader }: GraphContext,
): Promise<{ readonly user: UserNode }> {
  return {
    user: levelOfOneUser((user && (await readUser(reader, id))) ?? user ?? (await requireUser(reader, id))),
  };
}
