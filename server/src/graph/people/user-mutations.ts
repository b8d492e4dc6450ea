/** Creating, changing and deleting users. For administrators. */

import { requireAccountName } from '../../accounts/account-name.ts';
import { createUser, deleteUser, updateUser, type UserChanges } from '../../accounts/change-users.ts';
import { hashingFor } from '../../accounts/passwords.ts';
import { requireGoodPassword } from '../../accounts/password-rules.ts';
import { requireUser } from '../../accounts/users.ts';
import type { Transaction } from '../../database/database.ts';
import { revokeSessionsOf } from '../../sessions/revocation.ts';
import type { Builder, GraphContext } from '../builder.ts';
import {
  changeAsAdministrator,
  changeBy,
  noResult,
  requireAdministrator,
  unlessDone,
  type Memory,
} from '../change.ts';
import { passwordDescription } from './password-mutations.ts';
import { levelOfOneUser, type UserNode } from './people-level.ts';
import type { PeopleTypes } from './people-types.ts';

const usernameDescription =
  '1 to 128 characters without control characters; unique, without regard to upper and lower case.';

const aUser: Memory<UserNode, string> = {
  keep: ({ user }) => user.id,
  recall: async (id, { reader }) => levelOfOneUser(await requireUser(reader, id)),
};

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
      resolve: async (_, { input }, context) => ({ user: await create(context, input) }),
    }),
    updateUser: t.field({
      type: UpdateUserPayload,
      nullable: true,
      description:
        'For administrators. CONFLICT if the name is taken, and for disabling or demoting oneself: so there is always an administrator left.',
      args: { input: t.arg({ type: UpdateUserInput, required: true }) },
      resolve: async (_, { input }, context) => ({ user: await update(context, input) }),
    }),
    deleteUser: t.field({
      type: DeleteUserPayload,
      nullable: true,
      description:
        "For administrators. Deletes the user's sessions, memberships and grants too. CONFLICT for oneself.",
      args: { input: t.arg({ type: DeleteUserInput, required: true }) },
      resolve: async (_, { input: { id } }, context) => {
        await changeAsAdministrator(context, noResult, (transaction) =>
          deleteUser(transaction, id, changeBy(context)),
        );
        return { deletedUserId: id };
      },
    }),
  }));
}

async function create(
  context: GraphContext,
  given: { username: string; password: string; isAdministrator: boolean },
): Promise<UserNode> {
  requireAdministrator(context.access);
  return unlessDone(context, aUser, async () => {
    const username = requireAccountName(given.username, 'user name');
    await requireGoodPassword(given.password, username);
    // Before the transaction: nobody waits in line for a hash.
    const passwordHash = await context.passwords.hash(given.password, hashingFor(context.viewer));
    const { isAdministrator } = given;
    return changeAsAdministrator(context, aUser, async (transaction) => {
      const id = await createUser(
        transaction,
        { username, passwordHash, isAdministrator },
        changeBy(context),
      );
      return nodeOf(transaction, id);
    });
  });
}

async function update(
  context: GraphContext,
  { id, ...changes }: UserChanges & { id: string },
): Promise<UserNode> {
  return changeAsAdministrator(context, aUser, async (transaction) => {
    const by = changeBy(context);
    await updateUser(transaction, id, changes, by);
    if (changes.isDisabled) {
      await revokeSessionsOf(transaction, { userId: id }, { because: 'disabled', ...by });
    }
    return nodeOf(transaction, id);
  });
}

/** As the change left the user; what belongs to the user is read when it is committed. */
async function nodeOf(transaction: Transaction, id: string): Promise<UserNode> {
  return levelOfOneUser(await requireUser(transaction, id));
}
