/** The commands that change one property of a user. */

import { command, json, type Command } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson, escapeControls } from '../output.ts';
import { findUser, userWord, type Asking, type NamedUser } from '../resolve-names.ts';
import { userFields, withAllGroups, type ReadUser, type UserDetails } from './user-details.ts';

export interface UserChanges {
  readonly username?: string;
  readonly isAdministrator?: boolean;
  readonly isDisabled?: boolean;
}

interface Payload {
  readonly updateUser: { readonly user: ReadUser };
}

const mutation = `mutation ($input: UpdateUserInput!) { updateUser(input: $input) { user { ${userFields} } } }`;

export async function updateUser(
  asking: Asking,
  { id }: NamedUser,
  changes: UserChanges,
): Promise<UserDetails> {
  const { client, signal } = asking;
  const { updateUser } = await client.mutate<Payload>(mutation, { input: { id, ...changes } }, { signal });
  return withAllGroups(asking, updateUser.user);
}

export function userChange(
  changes: UserChanges,
  { tell, details = '' }: { readonly tell: (name: string) => string; readonly details?: string },
): Command {
  return command({
    words: [userWord],
    options: { json },
    settings: connectionSettings,
    details: `For administrators. ${details}`,
    async run({ words: [reference], options, flags }) {
      await withConnection({ flags }, async (asking) => {
        const user = await updateUser(asking, await findUser(asking, reference!), changes);
        await (options.json ? printJson(user) : print(tell(escapeControls(user.username))));
      });
    },
  });
}
