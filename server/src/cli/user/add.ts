/** `espalier user add`: creates a user. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { newPasswordOptions, readNewPassword, reportWithPassword } from '../terminal/new-password.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { userFields, withAllGroups, type ReadUser } from './user-details.ts';

interface Payload {
  readonly createUser: { readonly user: ReadUser };
}

const mutation = `mutation ($input: CreateUserInput!) { createUser(input: $input) { user { ${userFields} } } }`;

export const addUser = command({
  words: [{ name: 'name', about: '1 to 128 characters; unique without regard to case' }],
  options: {
    administrator: { about: 'Make the user an administrator with full access' },
    ...newPasswordOptions,
    json,
  },
  settings: connectionSettings,
  details: `For administrators. Asks for the password twice, unless an option provides it.
A password must have 8 to 128 characters and must not be the user name or a common password.`,
  async run({ words: [username], options, flags }) {
    await withConnection({ flags }, async (connection) => {
      const { client, signal } = connection;
      const { password, generated } = await readNewPassword(
        options,
        `Password of ${escapeControls(username!)}`,
      );
      const input = { username, password, isAdministrator: options.administrator };
      const { createUser } = await client.mutate<Payload>(mutation, { input }, { signal });
      const user = await withAllGroups(connection, createUser.user);
      const role = user.isAdministrator ? ', an administrator' : '';
      const sentence = `Added ${escapeControls(user.username)}${role}.`;
      await reportWithPassword({ isJson: options.json, generated }, user, sentence);
    });
  },
});
