/** The commands that change one property of a user. */

import { command, json, type Command } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { findUser, userWord, type ApiConnection, type NamedUser } from '../api/resolve-names.ts';
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
  connection: ApiConnection,
  { id }: NamedUser,
  changes: UserChanges,
): Promise<UserDetails> {
  const { client, signal } = connection;
  const { updateUser } = await client.mutate<Payload>(mutation, { input: { id, ...changes } }, { signal });
  return withAllGroups(connection, updateUser.user);
}

export function userChange(
  changes: UserChanges,
  {
    formatResult,
    details = '',
  }: { readonly formatResult: (name: string) => string; readonly details?: string },
): Command {
  return command({
    words: [userWord],
    options: { json },
    settings: connectionSettings,
    details: `For administrators. ${details}`,
    async run({ words: [reference], options, flags }) {
      await withConnection({ flags }, async (connection) => {
        const user = await updateUser(connection, await findUser(connection, reference!), changes);
        await (options.json ? printJson(user) : print(formatResult(escapeControls(user.username))));
      });
    },
  });
}
